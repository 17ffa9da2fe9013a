import { expect, test, vi } from "vitest";
import { streamConsumers } from "../../../../infra/streams.ts";
import { DAY_MS, HOUR_MS } from "../../../../shared/contract/values/durations.ts";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { streamBatchHandler } from "../../../../shared/lambda/stream-handler.ts";
import { fundWallet } from "../../../../shared/ledger/ledger-entry.ts";
import { walletPk } from "../../../../shared/ledger/schema.ts";
import { type Settlement, settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { voidDebit } from "../../../../shared/ledger/void-debit.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { countTransactions } from "../../../../shared/statistics/count-transactions.ts";
import { readDailyBalances, setDailyBalances } from "../../../../shared/statistics/daily-balances.ts";
import {
  addToAccountDays,
  addToHours,
  readAccountDays,
  readHours,
} from "../../../../shared/statistics/hourly-counts.ts";
import { matchEvent, resolveTransaction } from "../../../../shared/upstream-events/operator-resolution.ts";
import { listEvents, recordEvent } from "../../../../shared/upstream-events/stored-event.ts";
import { consumeStream } from "../../../../tools/local/stream-consumer.ts";
import { beforeEachCall } from "../../../builders/dynamodb/before-each-call.ts";
import { dynamodbEndpoint } from "../../../builders/dynamodb/emulator.ts";
import { addStream, freshTables } from "../../../builders/dynamodb/tables.ts";
import { openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { decision } from "../../../builders/ledger/operator-ledger.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";
import { cleanups, temporaryFolder } from "../../../builders/run/cleanups.ts";
import { eventually } from "../../../builders/run/eventually.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { FACE_VALUES } from "../../../builders/upstream/upstream-costs.ts";

/** A day before all balances. */
const SINCE = "2026-11-01";

const cacheIn = ({ db, cacheTable: table }: Awaited<ReturnType<typeof freshTables>>) => ({
  ...{ db, table, timeZone: "Africa/Lagos" },
});
const aCache = async () => cacheIn(await freshTables());

/** A ledger whose stream is counted as in the service. */
const aCountedLedger = async () => {
  const ledger = await openLedgerAtNoon();
  await addStream(ledger.db, ledger.table);
  const cache = cacheIn(ledger.tables);
  const handler = streamBatchHandler("changes.counted", countTransactions(cache));
  /** As a stage with a console does: its mapping is a new one each time. */
  const addConsole = async () => {
    const { consumer: functionName, ...spec } = streamConsumers.statistics;
    const consumer = consumeStream({
      ...{ ...spec, endpoint: dynamodbEndpoint, table: ledger.table, functionName, pollMs: 100 },
      invoke: (_name, event) => handler(event),
      checkpointPath: `${temporaryFolder()}/checkpoint.json`,
    });
    cleanups.push(consumer.stop);
    await consumer.ready;
    return consumer;
  };
  const console = await addConsole();
  /** Ends an order of the account after this long. */
  const order = async (
    accountId: string,
    status: "success" | "failed",
    latencyMs: number,
    changes: Partial<Transaction> = {},
  ): Promise<void> => {
    const transaction = await ledger.anOpenTransaction(accountId, changes);
    ledger.nowMs += latencyMs;
    const settlement: Settlement = status === "success" ? { status } : { status, failure: { code: "delivery_failed" } };
    const result = await settleTransaction(ledger, transaction, settlement, deadlineIn(10_000));
    expect(result.kind).toBe("applied");
  };
  const hours = () => readHours(cache, NOON_MS, NOON_MS + HOUR_MS);
  return { ledger, cache, order, hours, console, addConsole };
};

test("live orders are counted in the hour of their end, by type, network and status, with the latency of successful ones", async () => {
  const { ledger, cache, order, hours } = await aCountedLedger();
  const accountId = await ledger.anAccount(10_000);
  await order(accountId, "success", 800);
  await order(accountId, "success", 7_000);
  await order(accountId, "success", 400_000);
  await order(accountId, "failed", 1_500, { type: "airtime", network: "Glo" });
  ledger.nowMs = NOON_MS + HOUR_MS;
  await order(accountId, "success", 900, {
    type: "nin_verification",
    network: undefined,
    amount_kobo: koboFromNaira(70),
  });
  await eventually(async () => {
    const [noon, one] = await hours();
    expect(noon).toEqual({
      hourMs: NOON_MS,
      counts: expect.arrayContaining([
        {
          ...{ type: "data", network: "MTN", status: "success", count: 3, kobo: 150_000 },
          ...{ latency: [1, 0, 0, 1, 0, 0, 0, 1], quarters: [3, 0, 0, 0] },
        },
        {
          ...{ type: "airtime", network: "Glo", status: "failed", count: 1, kobo: 50_000 },
          ...{ latency: [0, 0, 0, 0, 0, 0, 0, 0], quarters: [1, 0, 0, 0] },
        },
      ]),
    });
    const [day] = await readAccountDays(cache, accountId, 1, NOON_MS);
    expect(day).toMatchObject({
      day: "2026-11-21",
      counts: expect.arrayContaining([
        expect.objectContaining({ network: "MTN", count: 3, kobo: 150_000, latency: [1, 0, 0, 1, 0, 0, 0, 1] }),
        expect.objectContaining({ network: "Glo", status: "failed", count: 1 }),
      ]),
      failures: [{ type: "airtime", network: "Glo", code: "delivery_failed", count: 1 }],
    });
    expect(one?.counts).toEqual([
      {
        ...{ type: "nin_verification", network: null, status: "success", count: 1, kobo: 7_000 },
        ...{ latency: [1, 0, 0, 0, 0, 0, 0, 0], quarters: [0, 0, 0, 0] },
      },
    ]);
  });
});

test("a console that is removed and added again counts nothing twice, and not what ended while there was none", async () => {
  const { ledger, order, hours, console, addConsole } = await aCountedLedger();
  const accountId = await ledger.anAccount(10_000);
  await order(accountId, "success", 800);
  await order(accountId, "success", 800);
  await eventually(async () => expect((await hours())[0]?.counts).toMatchObject([{ count: 2 }]));
  await console.stop();
  await order(accountId, "success", 800, { network: "Glo" });
  await addConsole();
  await order(accountId, "success", 800, { network: "Airtel" });
  await eventually(async () => {
    const [noon] = await hours();
    const counts = Object.fromEntries(noon?.counts.map(({ network, count }) => [network, count]) ?? []);
    expect(counts).toEqual({ MTN: 2, Airtel: 1 });
  });
});

test("an order whose debit is void is counted as failed, with its network and without a latency", async () => {
  const { ledger, cache, hours } = await aCountedLedger();
  const unmade = aTransaction({ pk: "transaction#VOID", created_at: isoTime(NOON_MS), network: "Glo" });
  for (const changes of [{}, { pk: "transaction#VOID-TEST", mode: "test" as const, list_key: "acc_1#test" }]) {
    const result = await voidDebit(ledger, { ...unmade, ...changes }, deadlineIn(10_000));
    expect(result.kind).toBe("void");
  }
  await eventually(async () => {
    const [noon] = await hours();
    const latency = [0, 0, 0, 0, 0, 0, 0, 0];
    const counted = { type: "data", network: "Glo", status: "failed", count: 1, kobo: 50_000 };
    expect(noon?.counts).toMatchObject([{ ...counted, latency }]);
  });
  expect(await readDailyBalances(cache, "acc_1", 1, NOON_MS, SINCE)).toMatchObject([{ balanceKobo: undefined }]);
});

test("an order that waited is counted with the time since it was sent, and one with a test key is not counted", async () => {
  const { ledger, order, hours } = await aCountedLedger();
  const accountId = await ledger.anAccount(1_000);
  await order(accountId, "success", 0, { mode: "test", list_key: `${accountId}#test`, network: "Airtel" });
  await order(accountId, "success", 600_000, { sent_at: isoTime(NOON_MS + 598_500) });
  await eventually(async () => {
    const [noon] = await hours();
    expect(noon?.counts).toMatchObject([{ count: 1, latency: [0, 1, 0, 0, 0, 0, 0, 0] }]);
  });
});

test("an order that an operator resolved or matched is counted without a latency: its end says nothing of the upstream", async () => {
  const { ledger, order, hours } = await aCountedLedger();
  const accountId = await ledger.anAccount(3_000);
  await order(accountId, "success", 1_500);
  const old = { created_at: isoTime(NOON_MS - HOUR_MS), updated_at: isoTime(NOON_MS - HOUR_MS) };
  await resolveTransaction(ledger, await ledger.anOpenTransaction(accountId, old), "success", decision);
  const received = { kind: "event", mode: "live", received_at: isoTime(NOON_MS), reference: "U-1" } as const;
  await recordEvent(ledger, { ...received, status: "success", type: "data" }, "no_candidate");
  const [event] = await listEvents(ledger, "0000");
  if (event === undefined) throw new Error("The event was not stored");
  await matchEvent({ ledger, costs: FACE_VALUES }, event, await ledger.anOpenTransaction(accountId, old), decision);
  await eventually(async () => {
    const [noon] = await hours();
    expect(noon?.counts).toMatchObject([{ status: "success", count: 3, latency: [0, 1, 0, 0, 0, 0, 0, 0] }]);
  });
});

test("an order that an operator resolved as failed is counted as resolved, not by the code that its caller gets", async () => {
  const { ledger, cache, order } = await aCountedLedger();
  const accountId = await ledger.anAccount(2_000);
  await order(accountId, "failed", 1_000);
  const old = { created_at: isoTime(NOON_MS - HOUR_MS), updated_at: isoTime(NOON_MS - HOUR_MS) };
  await resolveTransaction(ledger, await ledger.anOpenTransaction(accountId, old), "failed", decision);
  await eventually(async () => {
    const [today] = await readAccountDays(cache, accountId, 1, NOON_MS);
    expect(today?.failures.map(({ code, count }) => [code, count]).toSorted()).toEqual([
      ["delivery_failed", 1],
      ["resolved", 1],
    ]);
  });
});

test("the last balance of each day is kept, and a day without a change has that of the day before", async () => {
  const { ledger, cache, order } = await aCountedLedger();
  const accountId = await ledger.anAccount(2_000);
  await order(accountId, "success", 1_000);
  ledger.nowMs = NOON_MS + 2 * 24 * HOUR_MS;
  await order(accountId, "failed", 1_000);
  await fundWallet(ledger, { accountId, fundingId: "second", amountKobo: koboFromNaira(300) });
  await eventually(async () => {
    const days = await readDailyBalances(cache, accountId, 4, ledger.nowMs, SINCE);
    expect(days).toEqual([
      { day: "2026-11-20", balanceKobo: undefined },
      { day: "2026-11-21", balanceKobo: 150_000 },
      { day: "2026-11-22", balanceKobo: 150_000 },
      { day: "2026-11-23", balanceKobo: 180_000 },
    ]);
  });
});

test("days have the last balance of the account that is known, also one of a day before them, but none of a day before the account's first", async () => {
  const cache = await aCache();
  const balance = (accountId: string, version: number, daysAgo: number) => ({
    ...{ accountId, balanceKobo: version, version, changedAtMs: NOON_MS - daysAgo * DAY_MS },
  });
  await setDailyBalances(cache, [balance("acc_1", 1, 399), balance("acc_1", 2, 250), balance("acc_1", 3, 1)]);
  const read = async (accountId: string, days: number, since: string) =>
    (await readDailyBalances(cache, accountId, days, NOON_MS, since)).map(({ balanceKobo }) => balanceKobo);
  expect(await read("acc_1", 3, "2025-01-01")).toEqual([2, 3, 3]);
  expect((await read("acc_1", 252, "2025-01-01")).slice(0, 3)).toEqual([1, 2, 2]);
  expect(await read("acc_1", 3, "2026-11-19")).toEqual([undefined, 3, 3]);
  expect(await read("acc_2", 2, "2025-01-01")).toEqual([undefined, undefined]);
  // The days before are read only where the first one has none.
  let reads = 0;
  beforeEachCall(cache.db, "batchGet", () => {
    reads += 1;
  });
  expect(await read("acc_1", 2, "2025-01-01")).toEqual([3, 3]);
  expect(reads).toBe(1);
});

test("a balance or an order's end after midnight in the zone is of the new day, although the day in UTC is still the old one", async () => {
  const cache = await aCache();
  const balance = (version: number, at: string) => ({
    ...{ accountId: "acc_1", balanceKobo: version, version, changedAtMs: Date.parse(at) },
  });
  await setDailyBalances(cache, [balance(1, "2026-11-20T22:59:59.999Z"), balance(2, "2026-11-20T23:00:00.000Z")]);
  expect(await readDailyBalances(cache, "acc_1", 2, Date.parse("2026-11-20T23:30:00.000Z"), SINCE)).toEqual([
    { day: "2026-11-20", balanceKobo: 1 },
    { day: "2026-11-21", balanceKobo: 2 },
  ]);
  const ended = { accountId: "acc_1", type: "airtime", network: "MTN", status: "success", latencyMs: 1 } as const;
  const endedAt = (at: string) => ({ ...ended, amountKobo: 1, endedAtMs: Date.parse(at) });
  await addToAccountDays(cache, [endedAt("2026-11-20T22:59:59.999Z"), endedAt("2026-11-20T23:00:00.000Z")]);
  expect(await readAccountDays(cache, "acc_1", 2, Date.parse("2026-11-20T23:30:00.000Z"))).toMatchObject([
    { day: "2026-11-20", counts: [{ count: 1 }] },
    { day: "2026-11-21", counts: [{ count: 1 }] },
  ]);
});

test("a batch that is handled again leaves the newest balance, and its items end after 400 and 90 days", async () => {
  const cache = await aCache();
  const balance = (version: number) => ({ accountId: "acc_1", balanceKobo: version, version, changedAtMs: NOON_MS });
  await setDailyBalances(cache, [balance(1), balance(3), balance(2)]);
  await setDailyBalances(cache, [balance(1)]);
  expect(await readDailyBalances(cache, "acc_1", 1, NOON_MS, SINCE)).toEqual([{ day: "2026-11-21", balanceKobo: 3 }]);
  const ended = { type: "airtime", network: "MTN", status: "success", amountKobo: 1, latencyMs: 1 } as const;
  await addToHours(cache, [{ ...ended, endedAtMs: NOON_MS }]);
  const expiryOf = async (pk: string) =>
    (await cache.db.get({ TableName: cache.table, Key: { pk } })).Item?.expires_at_s;
  expect(await expiryOf("balances#acc_1#2026-11-21")).toBe(NOON_MS / 1_000 + 400 * 86_400);
  expect(await expiryOf("statistics#2026-11-21T12")).toBe(NOON_MS / 1_000 + 90 * 86_400);
});

test("the balances of a batch with many accounts are kept", async () => {
  const cache = await aCache();
  const changed = Array.from({ length: 250 }, (_, index) => ({
    ...{ accountId: `acc_${index}`, balanceKobo: index, version: 1, changedAtMs: NOON_MS },
  }));
  await setDailyBalances(cache, changed);
  expect(await readDailyBalances(cache, "acc_249", 1, NOON_MS, SINCE)).toEqual([
    { day: "2026-11-21", balanceKobo: 249 },
  ]);
});

test("writes that DynamoDB throttles are repeated, and counted once", async () => {
  const cache = await aCache();
  const throttled = Object.assign(new Error("throttled"), { name: "ThrottlingException" });
  vi.spyOn(cache.db, "send").mockRejectedValueOnce(throttled);
  await setDailyBalances(cache, [{ accountId: "acc_1", balanceKobo: 1, version: 1, changedAtMs: NOON_MS }]);
  vi.spyOn(cache.db, "send").mockRejectedValueOnce(throttled);
  const ended = { type: "airtime", network: "MTN", status: "success", amountKobo: 1, latencyMs: 1 } as const;
  await addToHours(cache, [{ ...ended, endedAtMs: NOON_MS }]);
  expect(await readDailyBalances(cache, "acc_1", 1, NOON_MS, SINCE)).toEqual([{ day: "2026-11-21", balanceKobo: 1 }]);
  expect(await readHours(cache, NOON_MS, NOON_MS)).toMatchObject([{ counts: [{ count: 1 }] }]);
});

test("a batch of more networks than one update can hold is counted whole", async () => {
  const cache = await aCache();
  const ended = Array.from({ length: 150 }, (_, index) => {
    const network = `Network | ${index} ${"x".repeat(40)}`;
    const order = { type: "data", network, status: "success" } as const;
    return { ...order, amountKobo: 100, endedAtMs: NOON_MS, latencyMs: 1_000 };
  });
  await addToHours(cache, ended);
  const [hour] = await readHours(cache, NOON_MS, NOON_MS);
  expect(new Set(hour?.counts.map(({ network }) => network))).toEqual(new Set(ended.map(({ network }) => network)));
  expect(hour?.counts.every(({ count, kobo, latency }) => count === 1 && kobo === 100 && latency[0] === 1)).toBe(true);
});

test("changes that are no order's end and no balance's change are left out, whatever they hold", async () => {
  const count = countTransactions(await aCache());
  const wallet = { pk: "wallet#acc_1", account_id: "acc_1", balance_kobo: { value: "1" }, version: { value: "4" } };
  const masked = { ...aTransaction({ status: "success" }), amount_kobo: { value: "50000" } };
  const changes = [
    { before: masked, after: { ...masked, phone_number: "*********67" } },
    { before: { ...masked, status: "processing" }, after: { ...masked, mode: "test" } },
    { before: undefined, after: undefined },
    { before: { pk: "transaction#1", status: "processing" }, after: { pk: "transaction#1", status: "success" } },
    { before: undefined, after: { ...masked, status: "failed" } },
    { before: { ...wallet, updated_at: isoTime(0) }, after: { ...wallet, updated_at: isoTime(0) } },
    { before: undefined, after: { ...wallet, pk: "wallet#acc_2", updated_at: isoTime(0) } },
    { before: undefined, after: { ...wallet, version: { value: "1e999" }, updated_at: isoTime(0) } },
  ];
  expect(await count(changes)).toEqual({ changes: 8, ended: 0, balances: 0 });
});

test.each([
  ["balances", 1],
  ["hours", 2],
  ["days of accounts", 3],
])("a batch whose %s cannot be written rejects, so that the stream repeats it", async (_what, failing) => {
  const cache = await aCache();
  let writes = 0;
  beforeEachCall(cache.db, "update", () => {
    writes += 1;
    if (writes === failing) throw new Error("No answer");
  });
  const number = (value: number) => ({ value: String(value) });
  const { account_id, ...ended } = aTransaction({ status: "success" });
  const wallet = { pk: walletPk(account_id), account_id, updated_at: isoTime(NOON_MS) };
  const changes = [
    { before: undefined, after: { ...wallet, balance_kobo: number(100), version: number(1) } },
    { before: { status: "processing" }, after: { ...ended, account_id, amount_kobo: number(50_000) } },
  ];
  await expect(countTransactions(cache)(changes)).rejects.toThrow("No answer");
  expect(writes).toBe(failing);
});
