import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createAccount } from "../../../../shared/access/accounts.ts";
import { DAY_MS } from "../../../../shared/contract/values/durations.ts";
import { consentSchema } from "../../../../shared/identity/consent.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { getItem } from "../../../../shared/ledger/get-item.ts";
import { listTransactions } from "../../../../shared/ledger/list-transactions.ts";
import { withMaskedPhone } from "../../../../shared/ledger/masked-transaction.ts";
import { consentPk, phoneRetentionPk, transactionPk } from "../../../../shared/ledger/schema.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { outcomeMessage } from "../../../../shared/orders/outcome-message.ts";
import { openSqs } from "../../../../shared/platform/aws/sdk.ts";
import { type Deadline, deadlineIn } from "../../../../shared/platform/deadline.ts";
import { parseIpRanges } from "../../../../shared/platform/ip-range.ts";
import { EPOCH, isoTime, systemClock } from "../../../../shared/platform/time.ts";
import { maskOldPhones } from "../../../../shared/reconciliation/phone-retention.ts";
import { reconcileWallet } from "../../../../shared/reconciliation/reconcile-wallet.ts";
import { applyOutcomeMessage } from "../../../../shared/upstream-events/apply-outcome-message.ts";
import { findEvent, recordEvent } from "../../../../shared/upstream-events/stored-event.ts";
import { systemResolve } from "../../../../shared/webhooks/address-guard.ts";
import { newDelivery, readDelivery } from "../../../../shared/webhooks/delivery.ts";
import { deliveryQueue } from "../../../../shared/webhooks/delivery-queue.ts";
import { setEndpoint } from "../../../../shared/webhooks/endpoint.ts";
import { enqueueRange } from "../../../../tools/admin/enqueue-range.ts";
import { beforeNext } from "../../../builders/dynamodb/another-process.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { proxyForTests } from "../../../builders/dynamodb/proxy-for-tests.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { type LedgerAtNoon, openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { keyedHashes } from "../../../builders/ledger/secrets.ts";
import { readStatement } from "../../../builders/ledger/statement.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { eventually } from "../../../builders/run/eventually.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { anOrder, BUY_DATA, startTestService, transactionOf } from "../../../builders/service/service.ts";
import { FACE_VALUES } from "../../../builders/upstream/upstream-costs.ts";
import { startReceiver } from "../../../builders/webhooks/receiver.ts";

/**
 * Goal: a phone number is masked once its retention is over, whatever happens on the way, and nothing else is changed
 * by it.
 */
const RETENTION_DAYS = 400;
const RETENTION = { phones: RETENTION_DAYS, consents: 2_190 };
const OLD_MS = NOON_MS - (RETENTION_DAYS + 5) * DAY_MS;
const PHONE = "08031234567";
const MASKED = "*********67";

const proxy = await proxyForTests();
let ledger: LedgerAtNoon;
beforeEach(async () => {
  ledger = await openLedgerAtNoon(proxy.endpoint);
});
afterEach(() => void vi.restoreAllMocks());

const anAccount = async (): Promise<string> =>
  (await createAccount(ledger.tables, { name: "test", whitelist: [] })).account_id;

const oldTransaction = (accountId: string, changes: Partial<Transaction> = {}): Transaction => {
  const { open: _open, ...transaction } = aTransaction();
  const at = isoTime(OLD_MS);
  return {
    ...transaction,
    pk: transactionPk(`1234567890${randomBytes(8).toString("hex").toUpperCase()}`),
    list_key: `${accountId}#${changes.mode ?? "live"}`,
    account_id: accountId,
    status: "success",
    created_at: at,
    updated_at: at,
    ...changes,
  };
};
const keep = (transactions: readonly Transaction[]) => putItems(ledger.tables.db, ledger.table, transactions);
/** Of one account, each a millisecond younger than the one before. */
const keepOld = async (count: number): Promise<readonly Transaction[]> => {
  const accountId = await anAccount();
  const old = Array.from({ length: count }, (_, age) =>
    oldTransaction(accountId, { created_at: isoTime(OLD_MS + age) }),
  );
  await keep(old);
  return old;
};
const stored = ({ pk }: Transaction) => readTransaction({ ...ledger, db: ledger.tables.db }, pk);
const phonesOf = (transactions: readonly Transaction[]) =>
  Promise.all(transactions.map(async (transaction) => (await stored(transaction))?.phone_number));

const enough = (): Deadline => deadlineIn(300_000);
const mask = (deadline = enough()) => maskOldPhones(ledger, RETENTION, deadline);
/** The calls of one run. */
const callsOf = async (run: () => Promise<unknown>): Promise<readonly string[]> => {
  proxy.calls.length = 0;
  await run();
  return proxy.calls.map(({ operation }) => operation);
};

describe("maskOldPhones", () => {
  test("the number of a settled transaction, and of any in test mode, is masked after the retention, what finds it by its number goes, and nothing else changes", async () => {
    const accountId = await anAccount();
    const failed = { status: "failed", failure: { code: "delivery_failed" } } as const;
    const old = [
      oldTransaction(accountId, { phone_key: "of the number" }),
      oldTransaction(accountId, failed),
      oldTransaction(accountId, { mode: "test" }),
      oldTransaction(accountId, { mode: "test", status: "processing" }),
    ];
    const young = oldTransaction(accountId, { created_at: isoTime(NOON_MS - (RETENTION_DAYS - 1) * DAY_MS) });
    const asCheck = { type: "nin_verification", description: "NIN" } as const;
    const { phone_number: _phone, ...check } = oldTransaction(accountId, asCheck);
    await keep([...old, young, check]);
    expect(await mask()).toBe(4);
    for (const { phone_key: _key, ...transaction } of old) {
      expect(await stored(transaction)).toEqual({
        ...transaction,
        phone_number: MASKED,
        description: `MTN 1GB data for ${MASKED}`,
      });
    }
    for (const other of [young, check]) expect(await stored(other)).toEqual(other);
  });

  test("a number is masked at most a day after its retention", async () => {
    const accountId = await anAccount();
    const transaction = oldTransaction(accountId, { created_at: isoTime(NOON_MS) });
    await keep([transaction]);
    ledger.nowMs = NOON_MS + RETENTION_DAYS * DAY_MS;
    expect(await mask()).toBe(0);
    ledger.nowMs += DAY_MS;
    expect(await mask()).toBe(1);
  });

  test("the number of an open live transaction is kept until the first pass after its settlement, and delays no other", async () => {
    const accountId = await anAccount();
    const open = oldTransaction(accountId, { status: "processing" });
    const later = oldTransaction(accountId, { created_at: isoTime(OLD_MS + 1) });
    await keep([open, later]);
    expect(await mask()).toBe(1);
    expect(await phonesOf([open, later])).toEqual([PHONE, MASKED]);
    ledger.nowMs += DAY_MS;
    expect(await mask()).toBe(0);
    const { open: _open, ...ended } = { ...open, status: "success" as const };
    await keep([ended]);
    ledger.nowMs += DAY_MS;
    expect(await mask()).toBe(1);
    expect(await stored(open)).toMatchObject({ status: "success", phone_number: MASKED });
    ledger.nowMs += DAY_MS;
    expect(await mask()).toBe(0);
  });

  test("what an endpoint answered is removed from an old delivery, and nothing else of it", async () => {
    const accountId = await anAccount();
    const headers = { response_headers: { location: "/orders/ada-obi" } };
    const whole = { ...headers, response_body: "Ada Obi is unknown" };
    const deliveries = [
      { webhookId: "old", createdAtMs: OLD_MS, answer: whole, left: {} },
      { webhookId: "old-cut-off", createdAtMs: OLD_MS, answer: headers, left: {} },
      { webhookId: "young", createdAtMs: NOON_MS, answer: whole, left: whole },
    ].map(({ webhookId, createdAtMs, answer, left }) => {
      const message = { event: "wallet.low", account_id: accountId, occurrence: webhookId, body: "{}" } as const;
      const delivery = newDelivery({ ...message, endpoint: "1" }, { accountId, webhookId }, createdAtMs);
      const attempt = { number: 1, at: isoTime(OLD_MS), outcome: "status", http_status: 500, duration_ms: 10 };
      const withAttempt = (kept: object) => ({ ...delivery, attempts: [{ ...attempt, ...kept }] });
      return { stored: withAttempt(answer), left: withAttempt(left) };
    });
    for (const { stored: Item } of deliveries) await ledger.tables.db.put({ TableName: ledger.table, Item });
    expect(await mask()).toBe(2);
    for (const { left } of deliveries) expect(await readDelivery(ledger, left.pk)).toEqual(left);
  });

  test("the number of a stored event keeps its last two digits", async () => {
    const { db } = ledger;
    const event = { kind: "event", mode: "live", status: "success", type: "data" } as const;
    const about = { received_at: isoTime(OLD_MS), reference: "U-1", phone: { key: "h", masked: "0803****567" } };
    await recordEvent({ db, table: ledger.table, clock: () => OLD_MS }, { ...event, ...about }, "no_candidate");
    expect(await mask()).toBe(1);
    const { Items = [] } = await ledger.tables.db.scan({ TableName: ledger.table });
    const [kept] = Items.filter(({ list_key }) => list_key === "events");
    expect(await findEvent(ledger, String(kept?.pk).replace("#", "_"))).toMatchObject({ phone_masked: MASKED });
  });
});

describe("a masking pass", () => {
  test("a pass is made once a day; for the rest of the day a run makes one call", async () => {
    await keepOld(1);
    await mask();
    ledger.nowMs += 60_000;
    expect(await callsOf(mask)).toEqual(["GetItem"]);
    ledger.nowMs = NOON_MS + DAY_MS;
    expect(await callsOf(mask)).toContain("Query");
  });

  test("a pass reads by list and time, never the whole table, and nothing a second time", async () => {
    await keepOld(130);
    const calls = await callsOf(async () => expect(await mask()).toBe(130));
    expect(new Set(calls)).toEqual(new Set(["GetItem", "Query", "BatchGetItem", "UpdateItem", "PutItem"]));
    expect(calls.filter((call) => call === "BatchGetItem")).toHaveLength(2);
    ledger.nowMs += DAY_MS;
    expect(await callsOf(mask)).not.toContain("BatchGetItem");
  });

  test("a pass costs one write unit for each transaction, and one of the index that has its description", async () => {
    const accountId = await anAccount();
    const withReference = { upstream_reference: "U-1", upstream_amount_kobo: oldTransaction(accountId).amount_kobo };
    await keep([oldTransaction(accountId, withReference), oldTransaction(accountId)]);
    await callsOf(mask);
    const updates = proxy.calls.filter(({ operation }) => operation === "UpdateItem");
    expect(updates.map(({ tableUnits, indexUnits }) => [tableUnits, indexUnits])).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });

  test("a pass goes on in the next run when the time of one is up", async () => {
    const transactions = await keepOld(130);
    // Time is asked for before each list and each batch: enough for one of each.
    const answersMs = [20_000, 20_000];
    expect(await mask({ remainingMs: () => answersMs.shift() ?? 10_000 })).toBe(100);
    expect(new Set(await phonesOf(transactions.slice(0, 100)))).toEqual(new Set([MASKED]));
    expect(new Set(await phonesOf(transactions.slice(100)))).toEqual(new Set([PHONE]));
    // The pass of the day before ends, and that of this day begins.
    ledger.nowMs += DAY_MS;
    expect(await mask()).toBe(30);
    expect(await callsOf(mask)).toContain("Query");
    expect(await callsOf(mask)).toEqual(["GetItem"]);
  });

  test("a pass begins with the first list if the one with which it goes on is none any more", async () => {
    await keepOld(1);
    const [day, under] = [isoTime(NOON_MS - (NOON_MS % DAY_MS)), "a list of another release"];
    const begun = { position: EPOCH, finished_before: EPOCH, under_way: { day, part: under } };
    await ledger.tables.db.put({ TableName: ledger.table, Item: { pk: phoneRetentionPk(""), ...begun } });
    expect(await mask()).toBe(1);
  });

  test("no batch begins once 30 seconds of a run are over", async () => {
    await keepOld(230);
    proxy.fault = ({ operation }) => {
      if (operation === "BatchGetItem") ledger.nowMs += 20_000;
      return undefined;
    };
    expect(await mask()).toBe(200);
  });

  /** A pass over 3 orders of one account writes each of them, the owner's progress twice and the pass's end. */
  const WRITES = 6;
  const isWrite = (operation: string): boolean => ["UpdateItem", "PutItem"].includes(operation);
  test("a pass over 3 transactions of one account makes 6 writes", async () => {
    await keepOld(3);
    expect((await callsOf(mask)).filter(isWrite)).toHaveLength(WRITES);
  });

  describe.each(["never_arrives", "answer_lost", "throttled", "conflict"] as const)("a fault: %s", (fault) => {
    test.each(Array.from({ length: WRITES }, (_, index) => index + 1))(
      "a pass that meets a fault at write %i masks everything by the end of the next run",
      async (position) => {
        const transactions = await keepOld(3);
        let writes = 0;
        let faulty: string | undefined;
        proxy.fault = ({ operation, body }) => {
          if (!isWrite(operation)) return undefined;
          // The client retries the same call, and meets the same fault.
          if (body === faulty) return fault;
          writes += 1;
          if (writes !== position) return undefined;
          faulty = body;
          return fault;
        };
        await mask();
        expect(faulty).toBeDefined();
        proxy.fault = () => undefined;
        ledger.nowMs += 60_000;
        await mask();
        expect(await phonesOf(transactions)).toEqual([MASKED, MASKED, MASKED]);
        expect(await callsOf(mask)).toEqual(["GetItem"]);
      },
    );
  });

  test("two simultaneous runs mask each number once", async () => {
    await keepOld(60);
    const counts = await Promise.all([mask(), mask()]);
    expect(counts[0] + counts[1]).toBe(60);
  });

  test("an item that changes while it is masked is masked by the pass of the next day", async () => {
    const [changing, other] = await keepOld(2);
    if (changing === undefined || other === undefined) throw new Error("There is no order");
    beforeNext(ledger.db, "update", () =>
      changeItem({ db: ledger.tables.db, table: ledger.table }, changing.pk, {
        description: `Repaired: 2GB for ${PHONE}`,
      }),
    );
    expect(await mask()).toBe(1);
    expect(await phonesOf([changing, other])).toEqual([PHONE, MASKED]);
    ledger.nowMs += DAY_MS;
    expect(await mask()).toBe(1);
    expect(await stored(changing)).toMatchObject({ phone_number: MASKED, description: `Repaired: 2GB for ${MASKED}` });
  });

  test("an unreadable item raises an alarm, stops no other of its list, and is read again by the pass of the next day", async () => {
    const [bad, ...good] = await keepOld(150);
    const open = good.pop();
    if (bad === undefined || open === undefined) throw new Error("There is no order");
    // It is masked later too, and the pass of the next day begins with the older one of both.
    await keep([{ ...open, status: "processing" }]);
    const change = { UpdateExpression: "REMOVE description", Key: { pk: bad.pk }, TableName: ledger.table };
    await ledger.tables.db.update(change);
    const log = captureLog();
    expect(await mask()).toBe(good.length);
    expect(log.lines("phone_numbers.not_masked")).toMatchObject([{ list: bad.list_key, record: bad.pk }]);
    expect(log.text()).not.toContain(PHONE);
    await ledger.tables.db.put({ TableName: ledger.table, Item: bad });
    ledger.nowMs += DAY_MS;
    expect(await mask()).toBe(1);
  });
});

test("a transaction whose number is masked is replayed, found, listed, in the statement, reconciled and sent as a webhook as before", async () => {
  const service = await startTestService({ announces: true });
  const receiver = await startReceiver();
  const log = captureLog();
  try {
    const caller = await service.newCaller();
    const rules = { allowed: parseIpRanges("127.0.0.0/8"), refusedHosts: [], resolve: systemResolve };
    await setEndpoint(service.endpoints, rules, caller.accountId, receiver.url);
    const order = { key: caller.key, body: anOrder({ reference: "order-1" }) };
    const { reference } = transactionOf(await service.call("POST", BUY_DATA, order));
    await eventually(() => expect(receiver.received).toHaveLength(1));

    const { db, table } = service.ledger;
    const inTime = { db, table, clock: () => Date.now() + (RETENTION_DAYS + 1) * DAY_MS };
    expect(await maskOldPhones(inTime, RETENTION, enough())).toBe(1);

    const again = await service.call("POST", BUY_DATA, order);
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect(transactionOf(again)).toMatchObject({
      reference,
      status: "success",
      description: `MTN 1GB data for ${MASKED}`,
    });
    const another = { key: caller.key, body: anOrder({ reference: "order-1", phone_number: "08031234560" }) };
    expect((await service.call("POST", BUY_DATA, another)).status).toBe(422);
    for (const path of [reference, "order-1"]) {
      const found = await service.call("GET", `/transactions/${path}`, { key: caller.key });
      expect(found.body.data?.transaction).toMatchObject({ reference, phone_number: MASKED });
    }
    const listed = await service.call("GET", "/transactions", { key: caller.key });
    expect(listed.body.data?.transactions).toMatchObject([{ reference, phone_number: MASKED }]);
    const owner = { accountId: caller.accountId, mode: "live" } as const;
    const everything = { from: "0000", to: "9999" };
    expect((await listTransactions(service.ledger, owner, {}, everything, undefined)).transactions).toHaveLength(1);
    const { lines } = await readStatement(service.ledger, caller.accountId, everything);
    expect(lines.at(-1)).toMatchObject({ id: reference, description: `MTN 1GB data for ${MASKED}` });
    expect(await reconcileWallet(service.ledger, caller.accountId)).toMatchObject({ difference_kobo: 0 });

    // The masking of an item sends no webhook; one that the operator sends again has the masked number.
    const queue = deliveryQueue(openSqs(), process.env.DELIVERY_QUEUE_URL ?? "");
    const range = { fromMs: systemClock() - 60_000, toMs: systemClock(), resendId: "again" };
    await enqueueRange({ ledger: service.ledger, queue }, range);
    await eventually(() => expect(receiver.received).toHaveLength(2));
    const [first, second] = receiver.received;
    expect(second?.headers.id).toBe(first?.headers.id);
    expect(first?.body).toContain(PHONE);
    expect(second?.body).toBe(first?.body.replace(PHONE, MASKED));
    expect(log.lines("change.handled")).toHaveLength(1);
  } finally {
    await Promise.all([service.stop(), receiver.stop()]);
  }
});

test("a voided order, which a queue stored with a masked number, does not keep the others from being masked", async () => {
  const log = captureLog();
  const accountId = await anAccount();
  const order = oldTransaction(accountId, {
    ...{ status: "processing", phone_number: PHONE, phone_key: (await keyedHashes()).phoneKey(PHONE) },
  });
  // As enqueueVoid sends it after a debit and a void without an answer.
  const message = outcomeMessage.parse(JSON.parse(JSON.stringify({ kind: "void", item: withMaskedPhone(order) })));
  const applied = await applyOutcomeMessage({ ledger, keyedHashes, costs: FACE_VALUES })(message, deadlineIn(20_000));
  expect(applied).toEqual({ kind: "done", outcome: "void" });
  const other = oldTransaction(accountId, { created_at: isoTime(OLD_MS + 1_000) });
  await keep([other]);
  await mask();
  expect(log.lines("phone_numbers.not_masked")).toEqual([]);
  expect((await stored(other))?.phone_number).toBe(MASKED);
  expect((await stored(order))?.phone_key).toBeUndefined();
});

test("a consent past its own retention loses the person, purpose and evidence, and a younger one keeps them", async () => {
  const accountId = await anAccount();
  const consentOf = (ageDays: number) => {
    const order = oldTransaction(accountId, { created_at: isoTime(NOON_MS - ageDays * DAY_MS) });
    const { pk, account_id, key_id, created_at } = order;
    const kept = { pk: consentPk({ pk }), account_id, key_id, mode: "live", created_at, request_id: "r" } as const;
    const check = { operation: "nin_verification", extent: "basic" } as const;
    const evidence = { method: "otp", id: "otp-1", obtained_at: created_at, of_a_later_release: "ada" } as const;
    return { order, kept: { ...kept, ...check }, gone: { subject: "s", subject_key: "k", purpose: "loan", evidence } };
  };
  const [old, young] = [consentOf(RETENTION.consents + 1), consentOf(RETENTION.consents - 1)];
  await keep([old.order, young.order]);
  const { db } = ledger.tables;
  for (const { kept, gone } of [old, young]) await db.put({ TableName: ledger.table, Item: { ...kept, ...gone } });
  await mask();
  const { table } = ledger;
  expect(await getItem({ db, table }, old.kept.pk, consentSchema)).toEqual(old.kept);
  expect(await getItem({ db, table }, young.kept.pk, consentSchema)).toEqual({ ...young.kept, ...young.gone });
  // A longer retention of phone numbers does not keep consents.
  ledger.nowMs += 2 * DAY_MS;
  await maskOldPhones(ledger, { ...RETENTION, phones: RETENTION_DAYS + 100 }, enough());
  expect(await getItem({ db, table }, young.kept.pk, consentSchema)).toEqual(young.kept);
});

test("a call that AWS throttles delays a pass without an alarm, unless no pass was complete for days", async () => {
  const accountId = await anAccount();
  const order = oldTransaction(accountId);
  await mask();
  await keep([order]);
  const log = captureLog();
  proxy.fault = ({ operation }) => (operation === "BatchGetItem" ? "throttled" : undefined);
  ledger.nowMs += DAY_MS;
  expect(await mask()).toBe(0);
  expect(log.lines("phone_numbers.not_masked")).toEqual([]);
  expect(log.lines("phone_numbers.masking_delayed")).toMatchObject([{ level: "warn", list: `${accountId}#live` }]);
  ledger.nowMs += 3 * DAY_MS;
  expect(await mask()).toBe(0);
  expect(log.lines("phone_numbers.not_masked")).toMatchObject([{ list: `${accountId}#live` }]);
  proxy.fault = () => undefined;
  expect(await mask()).toBe(1);
  // Another error does not pass by itself.
  await keep([oldTransaction(accountId, { created_at: isoTime(ledger.nowMs - RETENTION_DAYS * DAY_MS) })]);
  const denied = vi.spyOn(ledger.db, "batchGet").mockRejectedValueOnce(new Error("No access"));
  ledger.nowMs += DAY_MS;
  expect(await mask()).toBe(0);
  denied.mockRestore();
  expect(log.lines("phone_numbers.not_masked")).toHaveLength(2);
  // Nothing says which list it is about if the lists themselves cannot be read.
  const unread = vi.spyOn(ledger.db, "query").mockRejectedValueOnce(new Error("No access"));
  expect(await mask()).toBe(0);
  unread.mockRestore();
  expect(log.lines("phone_numbers.not_masked")).toHaveLength(3);
});

test("a pass over more lists than one run can read goes on where the run before ended, also past a list that cannot be read", async () => {
  const accountIds = [await anAccount(), await anAccount(), await anAccount(), await anAccount()];
  const [bad, ...good] = accountIds.map((accountId) => oldTransaction(accountId));
  if (bad === undefined) throw new Error("There is no account");
  await keep([bad, ...good]);
  const progressPk = phoneRetentionPk(bad.list_key);
  await changeItem({ ...ledger, db: ledger.tables.db }, progressPk, { position: "no time" });
  proxy.fault = () => {
    ledger.nowMs += 3_000;
    return undefined;
  };
  const runs = async (count: number): Promise<void> => {
    for (let run = 0; run < count; run += 1) await mask();
  };
  await runs(10);
  expect(await phonesOf(good)).toEqual([MASKED, MASKED, MASKED]);
  await ledger.tables.db.delete({ TableName: ledger.table, Key: { pk: progressPk } });
  await runs(10);
  expect(await phonesOf([bad])).toEqual([MASKED]);
  expect(await callsOf(mask)).toEqual(["GetItem"]);
});

test("a first pass that is not complete goes on without an alarm where a longer retention was set in between", async () => {
  const log = captureLog();
  await keepOld(150);
  let asked = 0;
  const short: Deadline = {
    ...enough(),
    remainingMs: () => {
      asked += 1;
      return asked <= 2 ? 300_000 : 0;
    },
  };
  expect(await maskOldPhones(ledger, RETENTION, short)).toBe(100);
  await maskOldPhones(ledger, { ...RETENTION, phones: RETENTION_DAYS + 100 }, enough());
  expect(log.lines("phone_numbers.not_masked")).toEqual([]);
});
