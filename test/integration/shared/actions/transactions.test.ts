import { randomUUID } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { createKey } from "../../../../shared/access/keys.ts";
import { recordAudited } from "../../../../shared/actions/action-context.ts";
import { auditRuns } from "../../../../shared/actions/audit.ts";
import { transactionsRuns } from "../../../../shared/actions/transactions.ts";
import { walletRuns } from "../../../../shared/actions/wallet.ts";
import { LISTED_TRANSACTIONS_MAX } from "../../../../shared/contract/actions/transactions.ts";
import { correctedBy } from "../../../../shared/contract/corrections.ts";
import { koboSchema } from "../../../../shared/contract/values/money.ts";
import { readTransactionAudit } from "../../../../shared/ledger/audit.ts";
import { settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { referenceOf, STUCK_MS, type Transaction } from "../../../../shared/ledger/transaction.ts";
import { voidDebit } from "../../../../shared/ledger/void-debit.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { InFlightError, NotFoundError, OperatorError } from "../../../../shared/platform/operator-error.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { ORDER_GRACE_MS } from "../../../../shared/platform/time-budgets.ts";
import { enqueueOrder } from "../../../../shared/queued-orders/queue-store.ts";
import { profileOf } from "../../../../shared/upstream/profile.ts";
import { recordEvent } from "../../../../shared/upstream-events/stored-event.ts";
import { askNow, noteAnswer, readLookupRecord } from "../../../../shared/upstream-lookup/lookup-record.ts";
import { newDelivery } from "../../../../shared/webhooks/delivery.ts";
import { setEndpoint } from "../../../../shared/webhooks/endpoint.ts";
import { afterNext } from "../../../builders/dynamodb/another-process.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { copyTable } from "../../../builders/dynamodb/copy-table.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { anActionContext, anOwnersRequest } from "../../../builders/ledger/action-context.ts";
import { openOperatorLedger } from "../../../builders/ledger/operator-ledger.ts";
import { putTransactions } from "../../../builders/ledger/put-transactions.ts";
import { aTransaction, newTransactionPk } from "../../../builders/ledger/transaction.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { aTransactionPk } from "../../../builders/upstream/event-message.ts";

const operator = await openOperatorLedger();

const context = (by = "ada", nowMs = NOON_MS) =>
  anActionContext(operator.tables, {
    clock: () => nowMs,
    by: { by, person: { issuer: "https://login.example.com/", sub: by } },
  });
const owner = () => anActionContext(operator.tables, { clock: () => NOON_MS, ...anOwnersRequest() });

/** An open order of 500 NGN, with a reference as the service makes it. */
const anOrder = async (changes: Partial<Transaction> = {}) =>
  operator.anOrder({ pk: await aTransactionPk(), ...changes });

test("transactions list lists an account's transactions newest first, by status, type and date, and continues with its cursor", async () => {
  const { accountId: account } = await operator.anAccount();
  const timeOf = (index: number): string => isoTime(NOON_MS - 3_600_000 + index * 1_000);
  await putTransactions(operator.ledgerAt(), account, 120, timeOf);
  const list = (input: object) => transactionsRuns["transactions list"](owner(), { account, mode: "live", ...input });
  const first = await list({ limit: 100 });
  expect(first.transactions.map(({ created_at }) => created_at)).toEqual(
    Array.from({ length: 100 }, (_, index) => timeOf(119 - index)),
  );
  const second = await list({ limit: 100, cursor: first.next_cursor });
  expect(second.transactions).toHaveLength(20);
  expect(second.next_cursor).toBeNull();
  expect((await list({ from: timeOf(100), to: timeOf(109) })).transactions).toHaveLength(10);
  expect((await list({ status: "failed" })).transactions).toEqual([]);
  expect((await list({ type: "airtime" })).transactions).toEqual([]);
  await expect(list({ cursor: "x" })).rejects.toThrow("The cursor is not of this list");
  await expect(list({ cursor: first.next_cursor, to: timeOf(1) })).rejects.toThrow("not of this list");
});

describe("transactions ask", () => {
  const lookup = { path: "/status/{reference}" };
  const ask = (transaction: Transaction, profile = profileOf({ lookup })) => {
    const asking = context();
    const reference = referenceOf(transaction);
    return transactionsRuns["transactions ask"](
      { ...asking, probe: { ...asking.probe, profile } },
      { reference, why: "the customer waits" },
    );
  };

  test("is recorded, and has the next run ask the upstream", async () => {
    const { transaction } = await anOrder();
    expect(await ask(transaction)).toEqual({
      reference: referenceOf(transaction),
      account_id: transaction.account_id,
    });
    const cache = { db: operator.tables.db, table: operator.tables.cacheTable };
    expect(await readLookupRecord(cache, transaction)).toMatchObject({ next_at: isoTime(NOON_MS) });
    expect(await readTransactionAudit(operator.ledgerAt(), transaction)).toMatchObject([
      { action: "transactions ask", why: "the customer waits" },
    ]);
  });

  test("is refused with the reason where the upstream has no lookup, and for an order that has ended", async () => {
    const { transaction } = await anOrder();
    const noLookup = "The profile of the upstream has no lookup, so that it cannot be asked for an order";
    await expect(ask(transaction, profileOf({}))).rejects.toThrow(new OperatorError(noLookup));
    await settleTransaction(operator.ledgerAt(), transaction, { status: "success" }, deadlineIn(9_000));
    const ended = `${referenceOf(transaction)} has ended: it is success`;
    await expect(ask(transaction)).rejects.toThrow(new OperatorError(ended));
  });

  test.each<[string, Partial<Transaction>]>([
    ["a check", { type: "nin_verification" }],
    ["airtime that was sent without our reference", { type: "airtime" }],
    ["an order that waits", { queued: { order: { kind: "airtime", network: "mtn" }, table: "ledger", number: 1 } }],
  ])("is refused for %s, and leaves no audit entry", async (_name, changes) => {
    const { transaction } = await anOrder(changes);
    await expect(ask(transaction)).rejects.toThrow(
      `The upstream cannot be asked for ${referenceOf(transaction)}: it is`,
    );
    expect(await readTransactionAudit(operator.ledgerAt(), transaction)).toEqual([]);
  });
});

describe("transactions show", () => {
  test("finds a transaction of the account by our reference and the upstream's, with its history", async () => {
    const { accountId: account, transaction } = await anOrder();
    const upstream_reference = `U-${randomUUID()}`;
    const settlement = { status: "success", upstream_reference } as const;
    await settleTransaction(operator.ledgerAt(), transaction, settlement, deadlineIn(9_000));
    for (const reference of [referenceOf(transaction), upstream_reference]) {
      const shown = await transactionsRuns["transactions show"](owner(), { account, reference });
      expect(shown).toMatchObject({ account_id: account, status: "success", upstream_reference, wait: null });
      expect(shown.history.map(({ what }) => what)).toEqual(["Debited", "Succeeded"]);
    }
  });

  test("names the key that an order was placed with, and the endpoint that is to hear of it", async () => {
    const { accountId: account } = await operator.anAccount();
    const { accounts, endpoints, addressRules } = context();
    const { keyId } = await createKey(accounts, account, { mode: "live", name: "Till 4" });
    await setEndpoint(endpoints, addressRules, account, "https://app.example/hook", { name: "Bookkeeping" });
    const transaction = await operator.openFor(account, { pk: await aTransactionPk(), key_id: keyId });
    const ledger = operator.ledgerAt();
    await settleTransaction(ledger, transaction, { status: "success" }, deadlineIn(9_000));
    const about = { event: "transaction.updated", transaction_pk: transaction.pk, status: "success" } as const;
    const webhook = { accountId: account, webhookId: "evt_1" };
    await putItems(ledger.db, ledger.table, [newDelivery({ ...about, endpoint: "1" }, webhook, NOON_MS)]);
    const { history } = await transactionsRuns["transactions show"](context(), { reference: referenceOf(transaction) });
    expect(history).toMatchObject([
      { what: "Debited", details: `NGN 500.00, key "Till 4" (${keyId})` },
      { what: "Succeeded" },
      { what: "Webhook", details: expect.stringMatching(/^evt_1 to "Bookkeeping": /) },
    ]);
  });

  test.each([
    ["data", (reference: string) => `our reference ${reference} (`],
    ["airtime", () => "the order without our reference ("],
  ] as const)("names an open order of %s to the upstream as it was sent there", async (type, named) => {
    const { transaction } = await anOrder({ type });
    const reference = referenceOf(transaction);
    const { advice } = await transactionsRuns["transactions show"](context(), { reference });
    expect(advice.find(({ about }) => about === "upstream")?.text).toContain(named(reference));
  });

  test("says of an open purchase that it was sent and may have been delivered, until it is final", async () => {
    const { transaction } = await anOrder();
    const reference = referenceOf(transaction);
    const show = () => transactionsRuns["transactions show"](context(), { reference });
    const unknown = "sent at once, unless the service stopped before that: it may have been delivered";
    const open = await show();
    expect(open).toMatchObject({ status: "processing", sent_at: null, unknown_outcome: unknown });
    expect(open.wait_until).toBe(isoTime(Date.parse(transaction.created_at) + 15 * 60_000));
    expect(open.history.map(({ what, details }) => [what, details])).toEqual([
      ["Debited", "NGN 500.00, key key_1"],
      ["Sent", unknown],
    ]);
    await settleTransaction(operator.ledgerAt(), transaction, { status: "success" }, deadlineIn(9_000));
    const settled = await show();
    expect(settled).toMatchObject({ status: "success", unknown_outcome: null, wait_until: null });
    expect(settled.history.map(({ what }) => what)).toEqual(["Debited", "Succeeded"]);
    const ofTest = { reference: referenceOf((await anOrder({ mode: "test" })).transaction) };
    expect(await transactionsRuns["transactions show"](context(), ofTest)).toMatchObject({ wait_until: null });
  });

  test("says of an open purchase when the upstream is asked for it next, to people with a role alone, and that an operator is needed after the wait", async () => {
    const { accountId: account, transaction } = await anOrder();
    const reference = referenceOf(transaction);
    const placedMs = Date.parse(transaction.created_at);
    const profile = profileOf({ lookup: { path: "/status/{reference}" } });
    const show = (nowMs: number, request: object = { by: { by: "ada" } }) => {
      const shown = anActionContext(operator.tables, { clock: () => nowMs, ...request });
      return transactionsRuns["transactions show"](
        { ...shown, probe: { ...shown.probe, profile } },
        { account, reference },
      );
    };
    const waitText = ({ advice }: Awaited<ReturnType<typeof show>>) =>
      advice.find(({ about }) => about === "wait")?.text;
    const first = await show(placedMs + 1_000);
    expect([first.lookup, first.next_question_at]).toEqual([null, isoTime(placedMs + 60_000)]);
    expect(first).toMatchObject({ can_ask: true, in_flight_until: isoTime(placedMs + ORDER_GRACE_MS) });
    expect(waitText(first)).toMatch(/^Most orders end by themselves before then/);
    const cache = { db: operator.tables.db, table: operator.tables.cacheTable };
    await askNow(cache, transaction, placedMs + 2_000);
    expect((await show(placedMs + 3_000)).next_question_at).toBe(isoTime(placedMs + 60_000));
    await noteAnswer(cache, transaction, undefined, { finding: "open" }, placedMs + 61_000, placedMs + 60_000);
    const later = await show(placedMs + 15 * 60_000);
    expect(later.lookup).toMatchObject({ asked: 1, finding: "open", details: null });
    expect(later.in_flight_until).toBeNull();
    expect(later.next_question_at).toBe(isoTime(placedMs + 3 * 60_000));
    expect(waitText(later)).toMatch(/^That time is over/);
    expect(await show(placedMs, anOwnersRequest())).toMatchObject({
      lookup: null,
      next_question_at: null,
      can_ask: false,
    });
    const sentAgainMs = placedMs + 20 * 60_000;
    await changeItem(operator.ledgerAt(), transaction.pk, { claim: "2", sent_at: isoTime(sentAgainMs) });
    const again = await show(sentAgainMs);
    expect([again.lookup, again.next_question_at]).toEqual([null, isoTime(sentAgainMs + 60_000)]);
  });

  test("says when an open purchase was sent that waited, and that no open identity check may have been delivered", async () => {
    const sentAt = isoTime(NOON_MS + 60_000);
    const outcomeOf = async (changes: Partial<Transaction>) => {
      const reference = referenceOf((await anOrder(changes)).transaction);
      return (await transactionsRuns["transactions show"](context(), { reference })).unknown_outcome;
    };
    expect(await outcomeOf({ type: "nin_verification" })).toBeNull();
    expect(await outcomeOf({ sent_at: sentAt, upstream_reference: `U-${randomUUID()}` })).toBe(
      `sent at ${sentAt}: it may have been delivered`,
    );
  });

  test("says of one whose debit is void that nothing was debited", async () => {
    const { accountId: account } = await operator.anAccount();
    const pk = await aTransactionPk();
    const transaction = aTransaction({
      pk,
      account_id: account,
      list_key: `${account}#live`,
      created_at: isoTime(NOON_MS),
    });
    await voidDebit(operator.ledgerAt(NOON_MS + 60_000), transaction, deadlineIn(9_000));
    const shown = await transactionsRuns["transactions show"](owner(), {
      account,
      reference: referenceOf(transaction),
    });
    expect(shown).toMatchObject({ status: "failed", error_code: "delivery_failed" });
    expect(shown.history).toMatchObject([
      { what: "Not debited", details: "NGN 500.00, key key_1" },
      { what: "Failed", details: "error code delivery_failed" },
    ]);
  });

  test("tells an owner neither what the upstream charged nor the company's identity at AWS; a reader sees both", async () => {
    const { accountId: account, transaction } = await anOrder();
    const reference = referenceOf(transaction);
    const settlement = { status: "success", upstream_amount_kobo: koboSchema.parse(48_250) } as const;
    await settleTransaction(operator.ledgerAt(), transaction, settlement, deadlineIn(9_000));
    const arn = "arn:aws:sts::123456789012:assumed-role/operator/ada";
    const operatorOnAws = anActionContext(operator.tables, { by: { by: "ada", caller_arn: arn } });
    await recordAudited(operatorOnAws, account, { about: transaction.pk, action: "deliveries replay" });
    const historyFor = async (request: ReturnType<typeof anOwnersRequest>) => {
      const asked = anActionContext(operator.tables, { clock: () => NOON_MS, ...request });
      const { history } = await transactionsRuns["transactions show"](asked, { account, reference });
      return history.map(({ what, details }) => `${what} ${details}`).join("\n");
    };
    // The entry is in its index within moments.
    await expect.poll(() => historyFor(anOwnersRequest())).toContain("Command line (says: ada) sent the webhook");
    expect(await historyFor(anOwnersRequest({ roles: ["finance"] }))).not.toMatch(/482|arn:/);
    const reader = await historyFor({ ...anOwnersRequest({ roles: ["reader"] }), capacity: "reader" });
    expect(reader).toContain("upstream amount NGN 482.50");
    expect(reader).toMatch(new RegExp(`Command line \\(says: ada\\) sent .*, ${arn}$`, "m"));
  });

  test("does not find another account's transaction, by any reference; without an account an operator finds it", async () => {
    const { transaction } = await anOrder();
    const { accountId: other } = await operator.anAccount();
    const upstream_reference = `U-${randomUUID()}`;
    const settlement = { status: "success", upstream_reference } as const;
    await settleTransaction(operator.ledgerAt(), transaction, settlement, deadlineIn(9_000));
    for (const reference of [
      referenceOf(transaction),
      upstream_reference,
      "order-1",
      "DATA_00000000000000000000000000",
    ]) {
      const shown = transactionsRuns["transactions show"](owner(), { account: other, reference });
      await expect(shown).rejects.toThrow(NotFoundError);
    }
    const found = await transactionsRuns["transactions show"](context(), { reference: upstream_reference });
    expect(found.reference).toBe(referenceOf(transaction));
  });
});

describe("transactions open", () => {
  test("lists what is open in all accounts, which of it is stuck, and for how long its request may still settle it", async () => {
    const open = await anOrder();
    const at = isoTime(NOON_MS - STUCK_MS - 1_000);
    const stuck = await anOrder({ created_at: at, updated_at: at });
    const recent = isoTime(NOON_MS - 10_000);
    const waited = await anOrder({ created_at: at, sent_at: recent, updated_at: isoTime(NOON_MS - 5_000) });
    const inFlight = await anOrder({ created_at: recent, updated_at: recent });
    const listed = await transactionsRuns["transactions open"](context(), {});
    const flags = ({ transaction }: { readonly transaction: Transaction }) =>
      listed.transactions
        .filter(({ reference }) => reference === referenceOf(transaction))
        .map(({ stuck, in_flight_ms }) => [stuck, in_flight_ms]);
    expect(flags(open)).toEqual([[false, 0]]);
    expect(flags(stuck)).toEqual([[true, 0]]);
    expect(flags(waited)).toEqual([[false, 0]]);
    expect(flags(inFlight)).toEqual([[false, ORDER_GRACE_MS - 10_000]]);
    expect(listed.number).toBe(listed.transactions.length);
    expect(listed.stuck).toBe(listed.transactions.filter((order) => order.stuck).length);
    expect(listed.next_cursor).toBeNull();
  });

  test("lists the others behind a cursor, also of orders of the same moment", async () => {
    const orders = await Promise.all([anOrder(), anOrder(), anOrder()]);
    const read = async (cursor?: string) => {
      const { transactions } = await transactionsRuns["transactions open"](context(), { cursor });
      const made = orders.map(({ transaction }) => referenceOf(transaction));
      return transactions.filter(({ reference }) => made.includes(reference));
    };
    const [first, ...others] = await read();
    expect(others).toHaveLength(2);
    expect(await read(`${first?.created_at} ${first?.reference}`)).toEqual(others);
  });

  test("lists 500 at once, the oldest first, and the others with its cursor", async () => {
    const { tables } = await openOperatorLedger();
    const orders = Array.from({ length: LISTED_TRANSACTIONS_MAX + 1 }, (_, index) =>
      aTransaction({ pk: newTransactionPk(), created_at: isoTime(NOON_MS - 60_000 + index) }),
    );
    await putItems(tables.db, tables.ledgerTable, orders);
    const asked = anActionContext(tables);
    const list = (cursor?: string) => transactionsRuns["transactions open"](asked, { cursor });
    const references = orders.map(referenceOf);
    const first = await list();
    expect(first.number).toBe(orders.length);
    expect(first.transactions.map(({ reference }) => reference)).toEqual(references.slice(0, -1));
    const last = await list(first.next_cursor ?? "");
    expect(last.transactions.map(({ reference }) => reference)).toEqual(references.slice(-1));
    expect(last.next_cursor).toBeNull();
  });

  test("leaves out an order that ends while they are read", async () => {
    const others = await openOperatorLedger();
    const { transaction } = await others.anOrder();
    const success = { status: "success" } as const;
    const settle = () => settleTransaction(others.ledgerAt(), transaction, success, deadlineIn(9_000));
    afterNext(others.tables.db, "batchGet", settle);
    const listed = await transactionsRuns["transactions open"](anActionContext(others.tables), {});
    expect(listed).toMatchObject({ number: 1, transactions: [] });
  });

  test("reads the orders of its page in full, and of the others as much as it counts", async () => {
    await Promise.all([anOrder(), anOrder()]);
    const { transactions } = await transactionsRuns["transactions open"](context(), {});
    const before = transactions.at(-2);
    const asked = context();
    const batchGet = vi.spyOn(asked.ledger.db, "batchGet");
    await transactionsRuns["transactions open"](asked, { cursor: `${before?.created_at} ${before?.reference}` });
    const reads = batchGet.mock.calls.flatMap(([{ RequestItems = {} }]) => Object.values(RequestItems));
    batchGet.mockRestore();
    const inFull = reads.filter(({ ProjectionExpression }) => ProjectionExpression === undefined);
    expect(inFull.flatMap(({ Keys = [] }) => Keys)).toHaveLength(1);
  });
});

test("transactions take gives an open order to one of two operators at once for 30 minutes, changes nothing else of it, and is in its history", async () => {
  const { transaction, stored } = await anOrder();
  const reference = referenceOf(transaction);
  const take = (by: string, nowMs = NOON_MS) =>
    transactionsRuns["transactions take"](context(by, nowMs), { reference });
  const results = await Promise.allSettled([take("ada"), take("bola")]);
  const [taken] = results.filter(({ status }) => status === "fulfilled");
  const refused = results.filter((each) => each.status === "rejected");
  expect(taken).toBeDefined();
  expect(refused).toHaveLength(1);
  const { taken_by: first = "", taken_at, ...rest } = (await stored()) ?? {};
  expect(rest).toEqual(transaction);
  const other = first === "ada" ? "bola" : "ada";
  expect(refused[0]?.reason).toEqual(new OperatorError(`${first} has been on it since ${taken_at}`));
  expect(await transactionsRuns["transactions show"](context(), { reference })).toMatchObject({
    taken: { by: first, at: taken_at },
    history: [{ what: "Debited" }, { what: "Sent" }, { what: "Taken", details: expect.stringContaining(first) }],
  });
  const listed = await transactionsRuns["transactions open"](context(), {});
  expect(listed.transactions.find((order) => order.reference === reference)?.taken).toEqual({
    by: first,
    at: taken_at,
  });
  const { account_id: account } = transaction;
  expect((await transactionsRuns["transactions show"](owner(), { account, reference })).taken).toBeNull();
  expect((await take(other, NOON_MS + 30 * 60_000)).taken).toMatchObject({ by: other });
  await settleTransaction(operator.ledgerAt(), transaction, { status: "success" }, deadlineIn(9_000));
  await expect(take(other)).rejects.toThrow(`${reference} has ended: it is success`);
});

test("transactions note is in the history of the order", async () => {
  const { transaction } = await anOrder();
  const reference = referenceOf(transaction);
  const noted = { reference, note: "called back, ticket 88" };
  expect(await transactionsRuns["transactions note"](context(), noted)).toEqual({
    reference,
    account_id: transaction.account_id,
  });
  expect(await readTransactionAudit(operator.ledgerAt(), transaction)).toMatchObject([{ details: { reference } }]);
  const { history } = await transactionsRuns["transactions show"](context(), { reference });
  expect(history.at(-1)).toMatchObject({ what: "Note", details: expect.stringContaining('"called back, ticket 88"') });
});

test("transactions refund credits the price of a successful order once, links both records, and refuses every other order", async () => {
  const { accountId: account, transaction, balance, isReconciled } = await anOrder();
  const reference = referenceOf(transaction);
  const refund = () => transactionsRuns["transactions refund"](context(), { reference, why: "ticket 91" });
  const canRefund = async (shown = reference) =>
    (await transactionsRuns["transactions show"](context(), { reference: shown })).can_refund;
  await expect(refund()).rejects.toThrow(`${reference} is open`);
  expect(await canRefund()).toBe(false);
  await settleTransaction(operator.ledgerAt(), transaction, { status: "success" }, deadlineIn(9_000));
  expect(await canRefund()).toBe(true);
  const refunded = await Promise.all([refund(), refund()]);
  const entry = { account_id: account, id: `refund of ${reference}`, amount: 500, balance: 1_000 };
  expect(refunded).toMatchObject([entry, entry]);
  expect(refunded.map(({ repeated }) => repeated).toSorted()).toEqual([false, true]);
  expect(correctedBy(entry.id)).toEqual({ kind: "order", id: reference });
  expect([await balance(), await isReconciled()]).toEqual([1_000, true]);
  expect(await readTransactionAudit(operator.ledgerAt(), transaction)).toMatchObject([
    { action: "transactions refund", details: { reference, amount: 500 } },
  ]);
  const shown = await transactionsRuns["transactions show"](owner(), { account, reference });
  expect(shown).toMatchObject({ status: "success", can_refund: false });
  expect(shown.advice[0]?.text).toContain("an operator refunded it");
  expect(shown.history.at(-1)).toMatchObject({ what: "Refunded", details: expect.stringContaining('"ticket 91"') });

  const delivery_failed = { status: "failed", failure: { code: "delivery_failed" } } as const;
  for (const [mode, outcome, sentence] of [
    ["live", delivery_failed, "has failed: it was refunded, or never debited"],
    ["test", { status: "success" }, "is a test order: no wallet was debited"],
  ] as const) {
    const other = await anOrder({ mode });
    await settleTransaction(operator.ledgerAt(), other.transaction, outcome, deadlineIn(9_000));
    const input = { reference: referenceOf(other.transaction), why: "ticket 92" };
    await expect(transactionsRuns["transactions refund"](context(), input)).rejects.toThrow(sentence);
    expect(await canRefund(input.reference)).toBe(false);
    expect(await other.balance()).toBe(1_000);
  }
});

test("an order whose refund a restored ledger lacks can be refunded again, whatever the audit log has", async () => {
  const { transaction } = await anOrder();
  const reference = referenceOf(transaction);
  await settleTransaction(operator.ledgerAt(), transaction, { status: "success" }, deadlineIn(9_000));
  const ledgerTable = await copyTable(operator.tables.db, "ledger", operator.tables.ledgerTable);
  await transactionsRuns["transactions refund"](context(), { reference, why: "ticket 91" });
  const restored = anActionContext({ ...operator.tables, ledgerTable });
  const shown = await transactionsRuns["transactions show"](restored, { reference });
  expect(shown.can_refund).toBe(true);
  expect(shown.advice[0]?.text).toBe("The upstream says that it was delivered. The wallet paid for it.");
});

test("an order that waits in the ledger of which this one is a restored copy may have been sent: nobody is to resolve it as failed without asking", async () => {
  const { transaction } = await anOrder();
  const ledger = operator.ledgerAt();
  await enqueueOrder(ledger, transaction, { kind: "data", network_id: 1, plan_id: 101 }, deadlineIn(9_000));
  const reference = referenceOf(transaction);
  const shownIn = async (ledgerTable: string) => {
    const restored = anActionContext({ ...operator.tables, ledgerTable });
    const { advice, wait_until } = await transactionsRuns["transactions show"](restored, { reference });
    return { text: advice.map(({ text }) => text).join(" "), wait_until };
  };
  expect((await shownIn(ledger.table)).text).toMatch(/It is sent by itself, or refunded\./);
  const { text, wait_until } = await shownIn(await copyTable(ledger.db, "ledger", ledger.table));
  expect(text).toMatch(/may have been sent since\..* Ask how .* ended\./);
  expect(text).not.toMatch(/was not sent|sent by itself|run refunds it/);
  expect(wait_until).toBeNull();
});

test("a failed order that the upstream says was delivered is not said to be safe to order again while the event waits, and is delivered once its amount is taken again", async () => {
  const { accountId: account, transaction } = await anOrder();
  const reference = referenceOf(transaction);
  const failed = { status: "failed", failure: { code: "delivery_failed" } } as const;
  await settleTransaction(operator.ledgerAt(), transaction, failed, deadlineIn(9_000));
  const shown = () => transactionsRuns["transactions show"](context(), { reference });
  const said = async () => (await shown()).advice.map(({ text }) => text).join(" ");
  expect(await said()).toMatch(/You can try again/);

  const late = { reference: `U-${reference}`, status: "success" } as const;
  await recordEvent(operator.ledgerAt(), late, "contradiction", transaction.pk);
  expect(await said()).toMatch(/The upstream has reported the opposite since\./);
  expect(await said()).not.toMatch(/try again/i);

  const why = "delivered after all, ticket 90";
  const adjustment = { account, amount_kobo: -500_00, id: `delivered-${reference}`, why };
  await walletRuns["wallet adjust"](context(), adjustment);
  expect(await walletRuns["wallet adjust"](context(), adjustment)).toMatchObject({ repeated: true });
  expect(await said()).toMatch(/an adjustment has taken its amount again\./);
  expect((await shown()).history).toContainEqual(
    expect.objectContaining({ what: "Adjusted", details: `delivered-${reference}, -NGN 500.00, "${why}"` }),
  );
});

test("an adjustment that takes an order's amount again takes all of it, once, of the account to which it was given back", async () => {
  const { accountId: account, transaction } = await anOrder();
  const reference = referenceOf(transaction);
  const take = (changes: object = {}) =>
    walletRuns["wallet adjust"](context(), {
      ...{ account, amount_kobo: -500_00, id: `delivered-${reference}`, why: "ticket 97" },
      ...changes,
    });
  await expect(take()).rejects.toThrow(`${reference} is processing in mode live: it was not refunded`);
  const tested = await operator.openFor(account, { pk: await aTransactionPk(), mode: "test" });
  const failed = { status: "failed", failure: { code: "delivery_failed" } } as const;
  await settleTransaction(operator.ledgerAt(), tested, failed, deadlineIn(9_000));
  const ofTest = `delivered-${referenceOf(tested)}`;
  await expect(take({ id: ofTest })).rejects.toThrow("is failed in mode test: it was not refunded");
  await settleTransaction(operator.ledgerAt(), transaction, { status: "success" }, deadlineIn(9_000));
  await expect(take()).rejects.toThrow(`${reference} is success in mode live: it was not refunded`);
  await transactionsRuns["transactions refund"](context(), { reference, why: "no proof, ticket 97" });
  await expect(take({ amount_kobo: -50_00 })).rejects.toThrow("it is -NGN 500.00, not ");
  const { accountId: other } = await operator.anAccount();
  await expect(take({ account: other })).rejects.toThrow(`${reference} is an order of ${account}`);
  expect(await take()).toMatchObject({ repeated: false, amount: -500 });
  // The wallet has paid for it, whatever the order's status and the refund say.
  const { advice, history } = await transactionsRuns["transactions show"](context(), { reference });
  expect(advice[0]?.text).toMatch(/It was delivered after all: an adjustment has taken its amount again\.$/);
  expect(history).toContainEqual(expect.objectContaining({ what: "Adjusted" }));
});

test("an order that a restored ledger lacks, or has as cancelled since, is charged what the operator says", async () => {
  const { accountId: account } = await operator.anAccount();
  const order = { account_id: account, amount_kobo: koboSchema.parse(0), debit: "cancelled" } as const;
  const cancelled = aTransaction({ pk: await aTransactionPk(), ...order });
  expect(await voidDebit(operator.ledgerAt(), cancelled, deadlineIn(9_000))).toMatchObject({ kind: "void" });
  for (const reference of [`DATA_${randomUUID()}`, referenceOf(cancelled)]) {
    const charge = { account, amount_kobo: -1_00, id: `delivered-${reference}`, why: "ticket 98" };
    expect(await walletRuns["wallet adjust"](context(), charge)).toMatchObject({ repeated: false });
  }
});

describe("transactions resolve", () => {
  test("is in the audit log of the order's account, and in the history of this order alone", async () => {
    const { accountId: account, transaction } = await anOrder();
    const other = await operator.openFor(account, { pk: await aTransactionPk() });
    const reference = referenceOf(transaction);
    const input = { reference, status: "failed", why: "not in the list" } as const;
    await transactionsRuns["transactions resolve"](context("ada"), input);
    const entry = { by: "ada", action: "transactions resolve", why: "not in the list" };
    expect(await auditRuns["audit account"](context(), { account })).toMatchObject({
      entries: [{ ...entry, details: { reference, status: "failed" } }],
    });
    expect(await auditRuns["audit about"](context(), { subject: reference })).toMatchObject({ entries: [entry] });
    expect(await auditRuns["audit about"](context(), { subject: referenceOf(other) })).toEqual({ entries: [] });
    const historyOf = async (shown: Transaction) =>
      (await transactionsRuns["transactions show"](owner(), { account, reference: referenceOf(shown) })).history;
    expect((await historyOf(transaction)).at(-1)).toMatchObject({
      what: "Resolved",
      local_time: expect.stringMatching(/\+01:00$/),
    });
    expect((await historyOf(other)).map(({ what }) => what)).toEqual(["Debited", "Sent"]);
  });

  test("of two operators at once one resolves it, and the refusal of the other says who did, how and why", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { transaction, balance, stored } = await anOrder();
      const reference = referenceOf(transaction);
      const resolutions = [
        transactionsRuns["transactions resolve"](context("ada"), {
          reference,
          status: "failed",
          why: "not in the list",
        }),
        transactionsRuns["transactions resolve"](context("bola"), { reference, status: "success", why: "it is there" }),
      ];
      const [ada, bola] = await Promise.allSettled(resolutions);
      const isAdas = (await stored())?.status === "failed";
      const [winner, loser] = isAdas ? [ada, bola] : [bola, ada];
      expect(winner).toMatchObject({ status: "fulfilled", value: { reference, refunded: isAdas ? 500 : 0 } });
      const reason: unknown = loser?.status === "rejected" ? loser.reason : undefined;
      if (!(reason instanceof OperatorError)) throw new Error("Both resolved it");
      const [by, status, why] = isAdas ? ["ada", "failed", "not in the list"] : ["bola", "success", "it is there"];
      expect(reason.sentence).toMatch(
        new RegExp(`^${reference} was settled as ${status} at [^ ]+; that is final: ${by} resolved it \\("${why}"\\)$`),
      );
      expect(await balance()).toBe(isAdas ? 1_000 : 500);
      expect(await readTransactionAudit(operator.ledgerAt(), transaction)).toMatchObject([{ by }]);
    }
  });

  test("is answered again to the person who resolved the order so, who may have lost the answer, and to nobody else", async () => {
    const { transaction, balance } = await anOrder();
    const input = { reference: referenceOf(transaction), status: "failed", why: "ticket 88" } as const;
    const resolve = (by: string, status: "failed" | "success" = "failed") =>
      transactionsRuns["transactions resolve"](context(by), { ...input, status });
    const first = await resolve("ada");
    expect(await resolve("ada")).toEqual(first);
    await expect(resolve("ada", "success")).rejects.toThrow("that is final");
    await expect(resolve("bola")).rejects.toThrow("that is final");
    expect(await balance()).toBe(1_000);
    expect(await readTransactionAudit(operator.ledgerAt(), transaction)).toHaveLength(1);
  });

  test("of what its own request has settled is refused without a name", async () => {
    const { transaction } = await anOrder();
    await settleTransaction(operator.ledgerAt(), transaction, { status: "success" }, deadlineIn(9_000));
    const input = { reference: referenceOf(transaction), status: "failed", why: "ticket 88" } as const;
    const refused = transactionsRuns["transactions resolve"](context(), input);
    await expect(refused).rejects.toThrow(/that is final: transactions refund gives the amount back, once$/);
  });

  test("is refused while its own request may settle it, for as long as the error says", async () => {
    const at = isoTime(NOON_MS - 10_000);
    const { transaction } = await anOrder({ created_at: at, updated_at: at });
    const input = { reference: referenceOf(transaction), status: "failed", why: "ticket 88" } as const;
    const error: unknown = await transactionsRuns["transactions resolve"](context(), input).catch((each) => each);
    if (!(error instanceof InFlightError)) throw new Error("It was resolved");
    expect(error.retryAfterMs).toBe(ORDER_GRACE_MS - 10_000);
    const later = context("ada", NOON_MS + error.retryAfterMs);
    expect(await transactionsRuns["transactions resolve"](later, input)).toMatchObject({
      status: "failed",
      refunded: 500,
    });
  });
});
