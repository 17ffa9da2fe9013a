import { expect } from "vitest";
import * as z from "zod";
import { koboFromNaira } from "../../shared/contract/values/money.ts";
import { referenceOf, type Transaction } from "../../shared/ledger/transaction.ts";
import type { Received } from "../../test/builders/webhooks/receiver.ts";
import type { Order, SimulatorState } from "../../tools/simulator/state.ts";
import { type Answer, mayBeUnknown, type PlacedOrder } from "./callers.ts";

/** The transactions by their reference, which callers and the upstream know. */
export const byReference = (transactions: readonly Transaction[]): ReadonlyMap<string, Transaction> =>
  new Map(transactions.map((transaction) => [referenceOf(transaction), transaction]));

type TransactionAnswer = Extract<Answer, { kind: "transaction" }>;
const isAboutTransaction = (answer: Answer): answer is TransactionAnswer => answer.kind === "transaction";

/** Every response to a caller agrees with the ledger. */
export const expectResponsesMatch = (
  placed: readonly PlacedOrder[],
  transactionsByReference: ReadonlyMap<string, Transaction>,
): void => {
  const byCallerReference = new Map(
    [...transactionsByReference.values()].map((transaction) => [
      `${transaction.account_id} ${transaction.caller_reference}`,
      transaction,
    ]),
  );
  expect(byCallerReference.size, "One transaction for each caller's reference").toBe(transactionsByReference.size);
  for (const { account, body, amountNaira, answers } of placed) {
    const transaction = byCallerReference.get(`${account.accountId} ${body.reference}`);
    const reported = answers.filter(isAboutTransaction);
    const place = `${body.reference}: ${JSON.stringify(answers)}`;
    if (reported.length === 0) {
      // An error without a transaction leaves none behind. Without a response there may be one.
      if (answers.every(({ kind }) => kind === "refused")) expect(transaction, place).toBeUndefined();
      continue;
    }
    if (transaction === undefined && reported.every(mayBeUnknown)) continue;
    expect(transaction?.amount_kobo, place).toBe(koboFromNaira(amountNaira));
    expect([...new Set(reported.map(({ reference }) => reference))], place).toEqual([
      transaction && referenceOf(transaction),
    ]);
    // An error that had left a transaction would make even the first response a replay.
    const originals = reported.filter(({ replayed }) => !replayed).length;
    expect(originals, place).toBe(answers.some(({ kind }) => kind === "none") ? Math.min(originals, 1) : 1);
    const finalStatuses = new Set(reported.map(({ status }) => status).filter((status) => status !== "processing"));
    if (finalStatuses.size > 0) expect([...finalStatuses], place).toEqual([transaction?.status]);
  }
};

/** The upstream got at most one order for each transaction, and its status is that of every settled transaction. */
export const expectUpstreamAgrees = (
  { purchases, requests }: SimulatorState,
  transactionsByReference: ReadonlyMap<string, Transaction>,
): void => {
  expect(requests.filter(({ outcome }) => outcome === "duplicate_reference")).toEqual([]);
  const orders = new Map<string, Order>();
  for (const order of purchases) {
    const reference = order.reference ?? "";
    expect(orders.has(reference), `A second order for ${reference}`).toBe(false);
    orders.set(reference, order);
    const transaction = transactionsByReference.get(reference);
    expect(transaction?.amount_kobo, reference).toBe(order.amountKobo);
    if (transaction?.status !== "processing") expect(transaction?.status, reference).toBe(order.status);
  }
  for (const [reference, { status }] of transactionsByReference) {
    if (status === "success") expect(orders.get(reference)?.status, reference).toBe("success");
    if (status === "failed") expect(orders.get(reference)?.status ?? "failed", reference).toBe("failed");
  }
};

const event = z.object({ data: z.object({ reference: z.string(), status: z.string() }) });

/** The webhook ids and the last status of each transaction in the received webhooks. */
export const webhooksOf = (received: readonly Received[]) => {
  const ids = new Map<string, Set<string>>();
  const statuses = new Map<string, string>();
  for (const { body, headers } of received) {
    const { reference, status } = event.parse(JSON.parse(body)).data;
    ids.set(reference, (ids.get(reference) ?? new Set()).add(headers.id));
    statuses.set(reference, status);
  }
  return { ids, statuses };
};

/** Every final status was delivered under one webhook id, and nothing else was delivered. */
export const expectFinalStatusesAreDelivered = (
  received: readonly Received[],
  transactionsByReference: ReadonlyMap<string, Transaction>,
): void => {
  const { ids, statuses } = webhooksOf(received);
  const settled = [...transactionsByReference].filter(([, { status }]) => status !== "processing");
  expect(statuses.size).toBe(settled.length);
  for (const [reference, { status }] of settled) {
    expect(statuses.get(reference), reference).toBe(status);
    expect(ids.get(reference)?.size, reference).toBe(1);
  }
};
