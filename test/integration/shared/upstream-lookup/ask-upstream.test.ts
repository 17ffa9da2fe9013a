import { describe, expect, test } from "vitest";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { referenceOf, type Transaction } from "../../../../shared/ledger/transaction.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import type { OutcomeMessage } from "../../../../shared/orders/outcome-message.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { ASK_RESERVE_MS } from "../../../../shared/platform/time-budgets.ts";
import { upstreamReader } from "../../../../shared/upstream/http-upstream.ts";
import { type ProfileChanges, profileOf } from "../../../../shared/upstream/profile.ts";
import { applyOutcomeMessage } from "../../../../shared/upstream-events/apply-outcome-message.ts";
import { openEvents } from "../../../../shared/upstream-events/stored-event.ts";
import { askUpstream, QUESTIONS_MAX } from "../../../../shared/upstream-lookup/ask-upstream.ts";
import { askNow, intervalMs, readLookupRecord } from "../../../../shared/upstream-lookup/lookup-record.ts";
import { manners } from "../../../../tools/simulator/manner.ts";
import type { SimulatorOptions } from "../../../../tools/simulator/server.ts";
import { beforeEachCall } from "../../../builders/dynamodb/before-each-call.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { aSecret, keyedHashes } from "../../../builders/ledger/secrets.ts";
import { answers, startScriptedServer } from "../../../builders/network/scripted-server.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { FACE_VALUES } from "../../../builders/upstream/upstream-costs.ts";
import { aSimulator, LIVE_KEY } from "../../../builders/upstream/upstream-simulator.ts";

const LOOKUP = { path: "/transactions/{reference}", our_reference: "client_reference" };
const liveKey = aSecret(LIVE_KEY);

/** A ledger, an upstream that can be asked, and the function that asks, with its clock. */
const aService = async (changes: ProfileChanges = {}, options: Partial<SimulatorOptions> = {}) => {
  const ledger = await openLedgerAtNoon();
  const simulator = await aSimulator(options);
  const profile = profileOf({ reference: "all", lookup: LOOKUP, ...changes });
  const cache = { db: ledger.tables.db, table: ledger.tables.cacheTable };
  const sent: OutcomeMessage[] = [];
  let dies: string | undefined;
  let answerMs = 0;
  const readerOf = (baseUrl: string) => {
    const reader = upstreamReader({ baseUrl, profile, liveKey, clock: ledger.clock });
    const { lookUp } = reader;
    if (lookUp === undefined) return reader;
    const slowly = async (...question: Parameters<typeof lookUp>) => {
      ledger.nowMs += answerMs;
      return lookUp(...question);
    };
    return { ...reader, lookUp: slowly };
  };
  const run = (baseUrl = simulator.baseUrl, deadline = deadlineIn(MINUTE_MS)) =>
    askUpstream(
      {
        ledger,
        cache,
        outcomeQueue: {
          send: async (message) => {
            sent.push(message);
            if (dies !== undefined) throw new Error(dies);
          },
        },
        costs: FACE_VALUES,
        profile,
        reader: readerOf(baseUrl),
      },
      deadline,
    );
  const apply = async (message: OutcomeMessage) =>
    applyOutcomeMessage({ ledger, keyedHashes, costs: FACE_VALUES })(message, deadlineIn(20_000));
  return {
    ...{ ledger, simulator, cache, sent, run, apply },
    /** A run this many minutes later, whose messages are applied twice, as a queue may deliver them. */
    ask: async (minutes = 1) => {
      ledger.nowMs += minutes * MINUTE_MS;
      const counts = await run();
      for (const message of sent.splice(0)) for (const _ of [1, 2]) await apply(message);
      return counts;
    },
    dieAfterSending: (reason: string | undefined) => {
      dies = reason;
    },
    answerAfter: (ms: number) => {
      answerMs = ms;
    },
    /** An open order for 500 NGN, with what the upstream has of it. */
    anOrder: async (order: Partial<Transaction> = {}) => {
      const accountId = await ledger.anAccount(2_000);
      const transaction = await ledger.anOpenTransaction(accountId, order);
      return {
        transaction,
        reference: referenceOf(transaction),
        stored: async () => (await readTransaction(ledger, transaction.pk)) ?? transaction,
        balance: async () => (await readWallet(ledger, accountId)).balance_kobo / 100,
        lookup: () => readLookupRecord(cache, transaction),
        atUpstream: (
          status: "success" | "failed" | "processing",
          reference: string | null = referenceOf(transaction),
        ) => {
          const accepted = simulator.state.acceptOrder({
            ...{ path: "/vtu/data/purchase", type: "data", prefix: "DATA", amountKobo: 500_00, body: null },
            ...{ networkName: "MTN", phoneNumber: transaction.phone_number ?? null, mode: "live", keyUsed: LIVE_KEY },
            reference,
          });
          if (accepted === undefined) throw new Error("The order was not accepted");
          if (status !== "processing") simulator.state.settle(accepted, status);
          return accepted;
        },
      };
    },
    reasons: async () => (await openEvents(ledger)).map(({ reason }) => reason),
  };
};

test("an order of a later release's form is not asked for, and holds back no other", async () => {
  const service = await aService();
  const [later, order] = [await service.anOrder(), await service.anOrder()];
  order.atUpstream("success");
  await service.ledger.makeUnreadable(later.transaction.pk);
  expect(await service.ask()).toEqual({ open: 1, due: 1, asked: 1, ended: 1 });
  expect(await order.stored()).toMatchObject({ status: "success" });
});

test("of more open orders than a run can read, each run asks for some, and the next ones read all others", async () => {
  const service = await aService();
  const { ledger } = service;
  const orders = Array.from({ length: 1_000 }, () => ledger.aTransaction("acc_1"));
  await putItems(ledger.db, ledger.table, orders);
  // A hundred orders and what is known of them take 6 s: all of them the whole run.
  let callMs = 3_000;
  const read = new Set<unknown>();
  beforeEachCall(ledger.db, "batchGet", ({ RequestItems }) => {
    ledger.nowMs += callMs;
    for (const key of RequestItems?.[ledger.table]?.Keys ?? []) read.add(key.pk);
  });
  const log = captureLog();
  for (let minute = 1; minute <= 5; minute += 1) {
    ledger.nowMs = NOON_MS + minute * 2 * MINUTE_MS;
    const result = await service.run(service.simulator.baseUrl, deadlineIn(MINUTE_MS, ledger.clock));
    expect(result).toMatchObject({ asked: QUESTIONS_MAX });
    expect(result.open + (result.unread ?? 0)).toBe(orders.length);
    expect(result.unread).toBeGreaterThan(0);
  }
  const asked = log.lines("upstream.asked").map(({ reference }) => reference);
  expect(new Set(asked).size).toBe(5 * QUESTIONS_MAX);
  expect(read.size).toBe(orders.length);
  // With the time of one question and no more, the first hundred are read, however fast.
  callMs = 0;
  const late = await service.run(service.simulator.baseUrl, { remainingMs: () => ASK_RESERVE_MS });
  expect(late).toMatchObject({ open: 100, unread: 900 });
});

test("the order that has been due for the longest is asked for first, and none without the time for an answer", async () => {
  const service = await aService();
  const log = captureLog();
  const older = await service.anOrder();
  await service.ask();
  service.ledger.nowMs += MINUTE_MS / 2;
  const younger = await service.anOrder();
  service.ledger.nowMs += 2 * MINUTE_MS;
  const runWith = (ms: number) => service.run(service.simulator.baseUrl, { remainingMs: () => ms });
  expect(await runWith(ASK_RESERVE_MS - 1)).toMatchObject({ due: 2, asked: 0 });
  expect(await runWith(ASK_RESERVE_MS)).toMatchObject({ due: 2, asked: 2 });
  const asked = log.lines("upstream.asked").map(({ reference }) => reference);
  expect(asked).toEqual([older.reference, younger.reference, older.reference]);
});

test.each([
  ["has a finding of a later release", { finding: "of a later release", escalated: "of a later release" }],
  ["cannot be read", { next_at: "soon", asked: "often" }],
])("an order whose record %s is asked for anew, and holds back no other order", async (_what, unreadable) => {
  const service = await aService();
  const [bad, order] = [await service.anOrder(), await service.anOrder()];
  for (const { atUpstream } of [bad, order]) atUpstream("success");
  await askNow(service.cache, bad.transaction, service.ledger.nowMs);
  await changeItem(service.cache, (await bad.lookup())?.pk ?? "", unreadable);
  expect(await service.ask()).toEqual({ open: 2, due: 2, asked: 2, ended: 2 });
  expect(await bad.stored()).toMatchObject({ status: "success" });
  expect(await bad.lookup()).toMatchObject({ finding: "success", asked: 1 });
});

describe.each(manners)("with a %s upstream", (manner) => {
  test("an order without an outcome is settled as the upstream answers, and a failed one is refunded once", async () => {
    const service = await aService({}, { manner });
    const delivered = await service.anOrder();
    const failed = await service.anOrder();
    const { upstreamReference } = delivered.atUpstream("success");
    failed.atUpstream("failed");

    expect(await service.ask()).toEqual({ open: 2, due: 2, asked: 2, ended: 2 });

    expect(await delivered.stored()).toMatchObject({
      ...{ status: "success", reported_by: "lookup", upstream_reference: upstreamReference },
    });
    expect(await delivered.balance()).toBe(1_500);
    expect(await failed.stored()).toMatchObject({
      ...{ status: "failed", reported_by: "lookup", failure: { code: "delivery_failed" } },
    });
    expect(await failed.balance()).toBe(2_000);
    expect(await service.ask(10)).toEqual({ open: 0, due: 0, asked: 0, ended: 0 });
    expect(await service.reasons()).toEqual([]);
  });

  test("an order that the upstream does not know stays debited, and becomes one case for a person after 15 minutes", async () => {
    const service = await aService({}, { manner });
    const order = await service.anOrder();
    for (const minutes of [1, 2, 4, 7]) await service.ask(minutes);
    expect(await service.reasons()).toEqual([]);
    await service.ask(8);
    await service.ask(60);
    expect(await service.reasons()).toEqual(["not_found"]);
    expect(await order.stored()).toMatchObject({ status: "processing" });
    expect(await order.balance()).toBe(1_500);
    expect(await order.lookup()).toMatchObject({ finding: "not_found", asked: 5 });

    order.atUpstream("success");
    await service.ask(24 * 60);
    expect(await order.stored()).toMatchObject({ status: "success" });
  });
});

test("without our reference an order is asked for by the upstream's, and not at all while none is known", async () => {
  const service = await aService({ reference: "documented" });
  const unknown = await service.anOrder({ type: "airtime" });
  const known = await service.anOrder({ type: "airtime", upstream_reference: "AIRTIME_1" });
  service.simulator.state.lookupChanges.set("AIRTIME_1", { type: "airtime" });
  const accepted = known.atUpstream("success", null);
  service.simulator.state.purchases.splice(0, 1, { ...accepted, upstreamReference: "AIRTIME_1", type: "airtime" });

  expect(await service.ask()).toMatchObject({ open: 1, asked: 1, ended: 1 });
  expect(await known.stored()).toMatchObject({ status: "success" });
  expect(await unknown.stored()).toMatchObject({ status: "processing" });
});

test.each<[string, Record<string, unknown>]>([
  ["type", { type: "airtime" }],
  ["amount", { amount: 499 }],
  ["phone number", { phone_number: "08031234568" }],
])("an answer with another %s settles nothing and becomes a case for a person", async (_field, changes) => {
  const service = await aService();
  const order = await service.anOrder();
  order.atUpstream("failed");
  service.simulator.state.lookupChanges.set(order.reference, changes);
  await service.ask();
  await service.ask(5);
  expect(await order.stored()).toMatchObject({ status: "processing" });
  expect(await order.balance()).toBe(1_500);
  expect(await service.reasons()).toEqual(["another_order"]);
});

test("an answer that lacks a field, or whose status is open or unknown, settles nothing and is no case", async () => {
  const service = await aService();
  const order = await service.anOrder();
  order.atUpstream("success");
  const findings: unknown[] = [];
  for (const changes of [
    { phone_number: null },
    { amount: "much" },
    { type: 5 },
    { reference: null },
    { status: "odd" },
  ]) {
    service.simulator.state.lookupChanges.set(order.reference, changes);
    await askNow(service.cache, order.transaction, service.ledger.nowMs);
    await service.ask();
    const { finding, details } = (await order.lookup()) ?? {};
    findings.push([finding, details]);
  }
  expect(findings).toEqual([
    ...["phone_number", "amount", "type", "reference"].map((field) => ["incomplete", field]),
    ["open", undefined],
  ]);
  expect(await order.stored()).toMatchObject({ status: "processing" });
  expect(await service.reasons()).toEqual([]);
});

test("a number in the type of an answer is masked in what is sent", async () => {
  const service = await aService();
  const order = await service.anOrder();
  order.atUpstream("success");
  service.simulator.state.lookupChanges.set(order.reference, { type: "to 08031234567" });
  await askNow(service.cache, order.transaction, service.ledger.nowMs);
  service.ledger.nowMs += MINUTE_MS;
  await service.run();
  expect(service.sent).toMatchObject([{ event: { type: "to *********67" } }]);
});

test("a case is sent once, whatever is answered in between, and an outcome with each answer until it is applied", async () => {
  const service = await aService();
  const order = await service.anOrder();
  order.atUpstream("success");
  const another = { type: "airtime", amount: null, phone_number: null };
  for (const changes of [another, { ...another, status: "odd" }, { status: "odd" }, another, {}, {}]) {
    service.simulator.state.lookupChanges.set(order.reference, changes);
    await askNow(service.cache, order.transaction, service.ledger.nowMs);
    service.ledger.nowMs += MINUTE_MS;
    await service.run();
  }
  const { pk: transaction_pk, write_token } = order.transaction;
  const { upstreamReference: reference } = service.simulator.state.purchases[0] ?? {};
  const sent = { kind: "answer", mode: "live", transaction_pk, write_token, claim: undefined };
  const outcome = {
    ...{ ...sent, finding: "outcome" },
    event: { reference, status: "success", amount_kobo: 500_00, type: "data", phone: { masked: "0803****567" } },
  };
  expect(service.sent).toStrictEqual([
    { ...sent, finding: "another_order", event: { reference, status: "success", type: "airtime" } },
    ...[outcome, outcome],
  ]);
});

test("an order that is sent again is asked for like a new one, and is a case again if the upstream does not know it", async () => {
  const service = await aService();
  const { ledger } = service;
  const { transaction, lookup } = await service.anOrder({ claim: "first", sent_at: isoTime(NOON_MS) });
  ledger.nowMs += 15 * MINUTE_MS;
  await service.run();
  ledger.nowMs += 60 * MINUTE_MS;
  await changeItem(ledger, transaction.pk, { claim: "second", sent_at: isoTime(ledger.nowMs) });
  ledger.nowMs += MINUTE_MS;
  expect(await service.run()).toMatchObject({ due: 1, asked: 1 });
  expect(await lookup()).toMatchObject({ finding: "not_found", asked: 1 });
  ledger.nowMs += 15 * MINUTE_MS;
  await service.run();
  expect(service.sent).toMatchObject(["first", "second"].map((claim) => ({ claim, finding: "not_found" })));
});

test("an order that the upstream does not know is a case from the moment in which it is stuck", async () => {
  const service = await aService();
  await service.anOrder();
  service.ledger.nowMs += 15 * MINUTE_MS - 1;
  await service.run();
  expect(service.sent).toEqual([]);
  service.ledger.nowMs += 2 * MINUTE_MS;
  await service.run();
  expect(service.sent).toMatchObject([{ kind: "answer", finding: "not_found" }]);

  const other = await aService();
  await other.anOrder();
  other.ledger.nowMs += 15 * MINUTE_MS;
  await other.run();
  expect(other.sent).toHaveLength(1);
});

test.each([1, 30, 59])(
  "questions come 1, 3, 7 and 15 minutes after the order where a run begins %i s before it is a whole minute old, each with the next run",
  async (s) => {
    const service = await aService();
    const order = await service.anOrder();
    order.atUpstream("processing");
    service.answerAfter(2_000);
    const orderedMs = service.ledger.nowMs;
    const askedInRun: number[] = [];
    for (let run = 1; run < 20; run += 1) {
      service.ledger.nowMs = orderedMs - s * 1_000 + run * MINUTE_MS;
      if ((await service.run()).asked > 0) askedInRun.push(run);
    }
    expect(askedInRun).toEqual([2, 4, 8, 16]);
  },
);

test("questions come ever later, up to 6 hours", () => {
  expect([10, 100].map(intervalMs)).toEqual([6 * 60 * MINUTE_MS, 6 * 60 * MINUTE_MS]);
});

test("what is noted of an order is kept for 90 days from its last question, and the next one counts from when this one was due", async () => {
  const { ledger, cache, ...service } = await aService();
  const order = await service.anOrder();
  const expiresAt = async () => {
    const Key = { pk: (await order.lookup())?.pk };
    return (await cache.db.get({ TableName: cache.table, Key })).Item?.expires_at_s;
  };
  const in90Days = () => Math.floor(ledger.nowMs / 1_000) + 90 * 86_400;
  await askNow(cache, order.transaction, ledger.nowMs);
  expect(await expiresAt()).toBe(in90Days());
  await service.ask(2);
  expect(await expiresAt()).toBe(in90Days());
  expect(await order.lookup()).toMatchObject({ asked: 1, next_at: isoTime(NOON_MS + 3 * MINUTE_MS) });
});

test("an order whose question was long overdue is asked for again after an interval, not with the next run", async () => {
  const service = await aService();
  (await service.anOrder()).atUpstream("processing");
  expect(await service.ask(60)).toMatchObject({ asked: 1 });
  expect(await service.ask(1.5)).toMatchObject({ asked: 0 });
  expect(await service.ask(0.5)).toMatchObject({ asked: 1 });
});

test("a run that dies after it sent an answer, before it noted that, asks again and settles once", async () => {
  const service = await aService();
  const order = await service.anOrder();
  order.atUpstream("failed");
  service.ledger.nowMs += MINUTE_MS;
  service.dieAfterSending("the process died");
  await expect(service.run()).rejects.toThrow("the process died");
  service.dieAfterSending(undefined);
  expect(await order.lookup()).toBeUndefined();
  expect(await service.ask(0)).toMatchObject({ asked: 1 });
  expect(await order.balance()).toBe(2_000);
  expect(await service.reasons()).toEqual([]);
});

test("in an outage a run ends after three questions, and each order is asked for ever later", async () => {
  const service = await aService();
  for (let order = 0; order < 5; order += 1) await service.anOrder();
  service.simulator.state.faults.add({ kind: "status", status: 503 });
  expect(await service.ask()).toMatchObject({ due: 5, asked: 3 });
  expect(await service.ask()).toMatchObject({ due: 2, asked: 2 });
  expect(await service.ask()).toMatchObject({ due: 5, asked: 3 });
  expect(await service.ask()).toMatchObject({ due: 2, asked: 2 });
  expect(await service.ask()).toMatchObject({ due: 0, asked: 0 });
});

test("answers that say nothing end a run only in a row", async () => {
  const service = await aService();
  const references: string[] = [];
  for (let order = 0; order < 5; order += 1) {
    service.ledger.nowMs += 1;
    references.push((await service.anOrder()).reference);
  }
  const log = captureLog();
  const error = answers(500, { status: false, message: "Error" });
  const unknown = answers(404, { status: false, message: "Not found" });
  const { baseUrl } = await startScriptedServer(error, error, unknown, error);
  service.ledger.nowMs += MINUTE_MS;
  expect(await service.run(baseUrl)).toMatchObject({ due: 5, asked: 5 });
  const asked = log.lines("upstream.asked").map(({ reference, finding, details }) => [reference, finding, details]);
  expect(asked).toEqual(
    references.map((reference, index) =>
      index === 2 ? [reference, "not_found", undefined] : [reference, "unclear", "status_500"],
    ),
  );
});

test("a question that could not be sent ends the run and does not count: the order is asked for as soon as the upstream can be reached", async () => {
  const service = await aService();
  const [order] = [await service.anOrder(), await service.anOrder()];
  order.atUpstream("success");
  service.ledger.nowMs += MINUTE_MS;
  for (let runs = 0; runs < 3; runs += 1) {
    expect(await service.run("http://127.0.0.1:1/v1")).toEqual({ open: 2, due: 2, asked: 0, ended: 0 });
  }
  expect(await order.lookup()).toBeUndefined();
  expect(await service.ask(0)).toMatchObject({ asked: 2, ended: 1 });
  expect(await order.lookup()).toMatchObject({ asked: 1 });
});

test("questions stop at the upstream's limit, and a run has 20 at most", async () => {
  const limited = await aService({}, { limits: { catalog: 2 } });
  for (let order = 0; order < 3; order += 1) (await limited.anOrder()).atUpstream("processing");
  expect(await limited.ask()).toMatchObject({ due: 3, asked: 2 });
  expect(limited.simulator.state.rates.refused).toBe(0);

  const busy = await aService();
  for (let order = 0; order <= QUESTIONS_MAX; order += 1) (await busy.anOrder()).atUpstream("processing");
  expect(await busy.ask()).toMatchObject({ due: QUESTIONS_MAX + 1, asked: QUESTIONS_MAX });
});

test("neither a young order nor an identity check is asked for, and a young one is after 'ask now'", async () => {
  const service = await aService();
  await service.anOrder({ type: "nin_verification" });
  const order = await service.anOrder();
  order.atUpstream("processing");
  expect(await service.ask(0.5)).toMatchObject({ open: 0, asked: 0 });
  expect(await service.ask(0.5)).toMatchObject({ asked: 1 });
  expect(await service.ask(0.5)).toMatchObject({ asked: 0 });
  await askNow(service.cache, order.transaction, service.ledger.nowMs);
  expect(await service.ask(0)).toMatchObject({ asked: 1 });
});

describe("at the transport", () => {
  const order = { reference: "U-1", status: "success", amount: 500, type: "data", phone_number: "08031234567" };
  const found = answers(200, { status: true, message: "Found", data: { transaction: order } });
  const others = [
    found,
    answers(401, { status: false, message: "Unauthorized" }),
    answers(403, { status: false, message: "Forbidden" }),
    answers(404, { status: false, message: "Not found" }),
    answers(429, { status: false, message: "Too many requests" }, { "retry-after": "0" }),
    answers(500, { status: false, message: "Error" }),
    answers(302, "", { location: "/v1/vtu/data/purchase" }),
  ];

  test.each<[string, ProfileChanges["lookup"], string, (reference: string) => string, (reference: string) => string]>([
    ["path", LOOKUP, "GET", (reference) => `/v1/transactions/${reference}`, () => ""],
    ["query", { path: "/requery", field: "ref" }, "GET", (reference) => `/v1/requery?ref=${reference}`, () => ""],
    [
      "body",
      { method: "POST", path: "/requery", field: "ref" },
      "POST",
      () => "/v1/requery",
      (ref) => `{"ref":"${ref}"}`,
    ],
  ])("nothing but the lookup's method and path is sent, with the reference in the %s", async (...expected) => {
    const [, lookup, method, path, body] = expected;
    const service = await aService({ lookup });
    const orders = await Promise.all(others.map(() => service.anOrder()));
    const { baseUrl, received } = await startScriptedServer(...others);
    service.ledger.nowMs += MINUTE_MS;
    for (let runs = 0; runs < 4; runs += 1) {
      await service.run(baseUrl);
      service.ledger.nowMs += 2 * MINUTE_MS;
    }
    const references = orders.map(({ reference }) => reference);
    expect(received.length).toBeGreaterThan(others.length);
    for (const request of received) {
      expect(request.method).toBe(method);
      expect(references.map(path)).toContain(request.path);
      expect(references.map(body)).toContain(request.body);
    }
  });

  test("a reference of the upstream that would name another path is never sent", async () => {
    const service = await aService({ reference: "documented" });
    for (const upstream_reference of ["U-1", "..", ".", "../vtu/data/purchase", "a/b", "a?b", "a b", "é"]) {
      await service.anOrder({ type: "airtime", upstream_reference });
    }
    const { baseUrl, received } = await startScriptedServer(found);
    service.ledger.nowMs += MINUTE_MS;
    for (let runs = 0; runs < 3; runs += 1) expect(await service.run(baseUrl)).toMatchObject({ open: 1 });
    expect(received.map(({ path }) => path)).toEqual(["/v1/transactions/U-1"]);
  });
});

test("nothing is read or sent if the upstream cannot be asked", async () => {
  const service = await aService({ lookup: undefined });
  await service.anOrder();
  expect(await service.ask()).toEqual({ open: 0, due: 0, asked: 0, ended: 0 });
});

test("an answer with the number in its international form is about the order", async () => {
  const service = await aService();
  const order = await service.anOrder();
  const accepted = order.atUpstream("success");
  Object.assign(accepted, { phoneNumber: `234${String(order.transaction.phone_number).slice(1)}` });
  await service.ask();
  expect(await service.reasons()).toEqual([]);
});

test("our reference in small letters is ours, so a failed order is refunded, whichever field has it", async () => {
  for (const [lookup, field] of [
    [LOOKUP, "client_reference"],
    [{ path: LOOKUP.path }, "reference"],
  ] as const) {
    const service = await aService({ lookup });
    const order = await service.anOrder();
    order.atUpstream("failed");
    service.simulator.state.lookupChanges.set(order.reference, { [field]: order.reference.toLowerCase() });
    await service.ask();
    expect(await order.balance()).toBe(2_000);
    expect(await service.reasons()).toEqual([]);
  }
});

describe("a lookup that answers with another order like this one, whose reference nobody knows yet", () => {
  const ofAnother = async (lookup: NonNullable<ProfileChanges["lookup"]>) => {
    const service = await aService({ lookup });
    const delivered = await service.anOrder();
    service.ledger.nowMs += 1_000;
    const failed = await service.anOrder();
    delivered.atUpstream("success");
    const { upstreamReference } = failed.atUpstream("failed");
    const { reference: client_reference } = failed;
    // An upstream that ignores an unknown parameter answers with its newest order.
    const answered = { reference: upstreamReference, client_reference, status: "failed" };
    service.simulator.state.lookupChanges.set(delivered.reference, answered);
    await service.ask(2);
    expect(await delivered.balance()).toBe(1_500);
    return { service, delivered };
  };

  test("is a case for a person if the answer has our reference", async () => {
    const { service, delivered } = await ofAnother(LOOKUP);
    expect(await service.reasons()).toEqual(["another_order"]);
    expect(await delivered.lookup()).toMatchObject({ finding: "another_order", details: "our_reference" });
  });

  test("refunds nothing if the answer has it not, until the upstream's reference is known", async () => {
    const { delivered } = await ofAnother({ path: LOOKUP.path });
    expect(await delivered.lookup()).toMatchObject({ finding: "incomplete", details: "our_reference" });
  });
});

test("an answer without our reference refunds the order whose upstream reference it has, and no order that has another one", async () => {
  const service = await aService({ lookup: { path: LOOKUP.path } });
  const [same, other] = [
    await service.anOrder({ upstream_reference: "U-1" }),
    await service.anOrder({ upstream_reference: "U-2" }),
  ];
  for (const { reference, atUpstream } of [same, other]) {
    atUpstream("failed");
    service.simulator.state.lookupChanges.set(reference, { reference: "U-1" });
  }
  await service.ask();
  expect([await same.balance(), await other.balance()]).toEqual([2_000, 1_500]);
  expect(await other.lookup()).toMatchObject({ finding: "another_order", details: "reference" });
});

test("an answer without our reference settles a delivered order, which gets the upstream's", async () => {
  const service = await aService({ lookup: { path: LOOKUP.path } });
  const order = await service.anOrder();
  const { upstreamReference: upstream_reference } = order.atUpstream("success");
  await service.ask();
  expect(await order.stored()).toMatchObject({ status: "success", upstream_reference });
});
