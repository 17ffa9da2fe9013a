import { expect } from "vitest";
import * as z from "zod";
import { referenceOf, type Transaction } from "../../shared/ledger/transaction.ts";
import { koboFromNaira } from "../../shared/platform/money.ts";
import type { Order, SimulatorState } from "../../tools/simulator/state.ts";
import type { Received } from "../builders/receiver.ts";
import { type Answer, mayBeInDoubt, type Placed } from "./apps.ts";

/** The transactions by the reference that callers and the upstream know. */
export const byReference = (transactions: readonly Transaction[]): ReadonlyMap<string, Transaction> =>
  new Map(transactions.map((transaction) => [referenceOf(transaction), transaction]));

type TransactionAnswer = Extract<Answer, { kind: "transaction" }>;
const isAboutTransaction = (answer: Answer): answer is TransactionAnswer => answer.kind === "transaction";

/** Nothing that an app was told is untrue, then or now. */
export const expectAnswersAreTrue = (placed: readonly Placed[], rows: ReadonlyMap<string, Transaction>): void => {
  const standing = new Map(
    [...rows.values()].map((transaction) => [`${transaction.account_id} ${transaction.caller_reference}`, transaction]),
  );
  expect(standing.size, "One transaction for each caller's reference").toBe(rows.size);
  for (const { account, body, amountNaira, answers } of placed) {
    const row = standing.get(`${account.accountId} ${body.reference}`);
    const told = answers.filter(isAboutTransaction);
    const place = `${body.reference}: ${JSON.stringify(answers)}`;
    if (told.length === 0) {
      // An error without a transaction left nothing behind. No answer at all may have.
      if (answers.every(({ kind }) => kind === "refused")) expect(row, place).toBeUndefined();
      continue;
    }
    if (row === undefined && told.every(mayBeInDoubt)) continue;
    expect(row?.amount_kobo, place).toBe(koboFromNaira(amountNaira));
    expect([...new Set(told.map(({ reference }) => reference))], place).toEqual([row && referenceOf(row)]);
    // An error that had left something open would make even the first answer a replay.
    const firsts = told.filter(({ replayed }) => !replayed).length;
    expect(firsts, place).toBe(answers.some(({ kind }) => kind === "none") ? Math.min(firsts, 1) : 1);
    const ends = new Set(told.map(({ status }) => status).filter((status) => status !== "processing"));
    if (ends.size > 0) expect([...ends], place).toEqual([row?.status]);
  }
};

/** The upstream was asked at most once for each transaction, and what it did is what the ledger says of all that has ended. */
export const expectUpstreamAgrees = (
  { purchases, requests }: SimulatorState,
  rows: ReadonlyMap<string, Transaction>,
): void => {
  expect(requests.filter(({ outcome }) => outcome === "duplicate_reference")).toEqual([]);
  const orders = new Map<string, Order>();
  for (const order of purchases) {
    const reference = order.reference ?? "";
    expect(orders.has(reference), `A second order for ${reference}`).toBe(false);
    orders.set(reference, order);
    const transaction = rows.get(reference);
    expect(transaction?.amount_kobo, reference).toBe(order.amountKobo);
    if (transaction?.status !== "processing") expect(transaction?.status, reference).toBe(order.status);
  }
  for (const [reference, { status }] of rows) {
    if (status === "success") expect(orders.get(reference)?.status, reference).toBe("success");
    if (status === "failed") expect(orders.get(reference)?.status ?? "failed", reference).toBe("failed");
  }
};

const event = z.object({ data: z.object({ reference: z.string(), status: z.string() }) });

/** Which transactions were announced as what, with the ids of their events. */
export const announcements = (received: readonly Received[]) => {
  const ids = new Map<string, Set<string>>();
  const statuses = new Map<string, string>();
  for (const { body, headers } of received) {
    const { reference, status } = event.parse(JSON.parse(body)).data;
    ids.set(reference, (ids.get(reference) ?? new Set()).add(headers.id));
    statuses.set(reference, status);
  }
  return { ids, statuses };
};

/** Every end was announced, as what it is, under one id; and nothing else was. */
export const expectEndsAreAnnounced = (received: readonly Received[], rows: ReadonlyMap<string, Transaction>): void => {
  const { ids, statuses } = announcements(received);
  const ended = [...rows].filter(([, { status }]) => status !== "processing");
  expect(statuses.size).toBe(ended.length);
  for (const [reference, { status }] of ended) {
    expect(statuses.get(reference), reference).toBe(status);
    expect(ids.get(reference)?.size, reference).toBe(1);
  }
};
