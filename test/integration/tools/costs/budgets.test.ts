import { marshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { docsPageForBundle } from "../../../../functions/serve-docs/docs-page.ts";
import { consoleFiles } from "../../../../infra/bundle/bundles.ts";
import { type FunctionName, functionNames } from "../../../../infra/functions.ts";
import { commonSchedules, scheduledFunctions, scheduleOf } from "../../../../infra/schedules.ts";
import { requireAccount } from "../../../../shared/access/account-store.ts";
import { createAccount, setAccountLimits, setDuplicateWindow } from "../../../../shared/access/accounts.ts";
import { setKeyLimits } from "../../../../shared/access/keys.ts";
import { builtInSnapshot } from "../../../../shared/catalog/built-in-catalog.ts";
import { catalogStore } from "../../../../shared/catalog/catalog-store.ts";
import { transactionType } from "../../../../shared/contract/transaction.ts";
import { sum } from "../../../../shared/platform/sum.ts";
import { isoTime, sleep, systemClock } from "../../../../shared/platform/time.ts";
import { GATE_CACHE_MS } from "../../../../shared/queued-orders/order-gate.ts";
import {
  addToAccountDays,
  addToHours,
  type EndedTransaction,
  LATENCY_BOUNDS_MS,
  QUARTER_MS,
} from "../../../../shared/statistics/hourly-counts.ts";
import {
  type Budget,
  budgets,
  bundleBudget,
  largerBundles,
  publicFileBytes,
  purchaseBundleBudget,
} from "../../../../tools/costs/budgets.ts";
import { bundleSize } from "../../../../tools/docs/bundle-sizes.ts";
import { loadFunctions, untilNoneRuns } from "../../../../tools/local/functions.ts";
import { waiting } from "../../../../tools/scale/usage.ts";
import { isGateRead, startDynamoDbProxy } from "../../../builders/dynamodb/dynamodb-proxy.ts";
import { dynamodbEndpoint } from "../../../builders/dynamodb/emulator.ts";
import { expectWithin } from "../../../builders/dynamodb/measure.ts";
import { type WeighedAnswer, weigh } from "../../../builders/dynamodb/observe.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";
import { anOrder, BUY_DATA, startTestService, type TestService } from "../../../builders/service/service.ts";
import { aNinCheck } from "../../../builders/upstream/identity.ts";
import { anUpstreamEvent } from "../../../builders/upstream/upstream-event.ts";
import { startReceiver } from "../../../builders/webhooks/receiver.ts";
import { aWebhookChange } from "../../../builders/webhooks/webhook-message.ts";

/** Goal: every kind of request is within its budget. Method: calls and capacity units are counted on the wire. */
let service: TestService;
beforeAll(async () => {
  // The service's schedules begin and never run again: a run a minute later would be counted with a test's request.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  service = await startTestService();
  vi.useRealTimers();
  // A start waits 10 s for their first runs.
  await Promise.all(scheduledFunctions.map(untilNoneRuns));
  // The first request reads the catalog and the secrets into memory.
  const { key } = await service.newCaller();
  await service.call("POST", BUY_DATA, { key, body: anOrder() });
  await service.call("GET", "/vtu/data", { key });
});
afterAll(() => service.stop());

const FUNCTIONS = new URL("../../../../functions/", import.meta.url);

/** Until the test ends no window, no limit and no day is over. */
const stopClock = (): void => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
};

/** The service's functions on tables of their own, and the proxy before these. */
const onFreshTables = async (names: readonly FunctionName[]) => {
  const tables = await freshTables();
  const proxy = await startDynamoDbProxy(dynamodbEndpoint);
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", proxy.endpoint);
  vi.stubEnv("LEDGER_TABLE", tables.ledgerTable);
  vi.stubEnv("CACHE_TABLE", tables.cacheTable);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    return proxy.stop();
  });
  return { invoke: await loadFunctions(names, FUNCTIONS), proxy, tables };
};

const VERIFY_NIN = "/identity/nin/verify";

/** Fields of the greatest length: a reference of 100 characters and 20 whitelisted addresses. */
const longest = {
  reference: "r".repeat(100),
  whitelist: [
    "127.0.0.1",
    ...Array.from({ length: 19 }, (_, index) => `2001:db8:1111:2222:3333:4444:5555:${1000 + index}`),
  ],
};

/** A caller's request. */
const send = (
  method: "GET" | "POST",
  path: string,
  { key, body, etag = "" }: { readonly key: string; readonly body?: unknown; readonly etag?: string },
): Promise<WeighedAnswer> => {
  const headers = { authorization: `Bearer ${key}`, "accept-encoding": "gzip", "if-none-match": etag };
  return weigh(method, `${service.baseUrl}${path}`, headers, body === undefined ? "" : JSON.stringify(body));
};

/** Expects a request to be answered within its budget, the size of the response included. */
const expectAnswered = async (budget: Budget, status: number, request: () => Promise<WeighedAnswer>) => {
  const { result: response, lines } = await expectWithin(service.proxy, budget, request);
  expect(response.status).toBe(status);
  expect(response.bytes).toBeLessThanOrEqual(budget.responseBytes ?? 0);
  return { ...response, lines };
};

describe("budgets", () => {
  test("the budget holds for a live purchase with the longest fields, whose log contains neither the phone number nor the key", async () => {
    const { key } = await service.newCaller({ whitelist: longest.whitelist });
    const body = anOrder({ reference: longest.reference });
    const { lines } = await expectAnswered(budgets.purchase, 200, () => send("POST", BUY_DATA, { key, body }));
    expect(lines.join()).not.toMatch(/08031234567|live_/);
  });

  test("the budget holds for a live purchase that the upstream refuses, with its refund", async () => {
    const { key } = await service.newCaller({ whitelist: longest.whitelist });
    const body = anOrder({ reference: longest.reference });
    const refusal = JSON.stringify({ status: false, message: "No" });
    service.simulator.state.faults.add({ kind: "custom", path: "/vtu/", times: 1, status: 400, body: refusal });
    await expectAnswered(budgets.refundedPurchase, 502, () => send("POST", BUY_DATA, { key, body }));
  });

  test("the budget holds for a live purchase of an account with a window, and for the next one like it", async () => {
    const { key, accountId } = await service.newCaller({ whitelist: longest.whitelist });
    await setDuplicateWindow(service.accounts, accountId, 60);
    stopClock();
    const buy = (reference: string) => send("POST", BUY_DATA, { key, body: anOrder({ reference }) });
    await expectAnswered(budgets.windowedPurchase, 200, () => buy(longest.reference));
    await expectAnswered(budgets.possibleDuplicate, 422, () => buy(longest.reference.replace("r", "s")));
  });

  test("the budget holds for live purchases of an account and a key with limits, and for one beyond them", async () => {
    const { key, accountId } = await service.newCaller({ whitelist: longest.whitelist });
    const keyId = (await requireAccount(service.accounts, accountId)).keys[0]?.key_id ?? "";
    stopClock();
    const limits = { day_naira: 1_000_000, month_naira: 9_000_000, day_orders: 100, month_orders: 1_000 };
    await setAccountLimits(service.accounts, accountId, limits);
    const buy = (number: number) =>
      send("POST", BUY_DATA, { key, body: anOrder({ reference: longest.reference.replace(/^./, String(number)) }) });
    await expectAnswered(budgets.limitedPurchase, 200, () => buy(1));
    await expectAnswered(budgets.limitedPurchase, 200, () => buy(2));
    await setKeyLimits(service.accounts, accountId, keyId, { ...limits, order_naira: 5_000 });
    await expectAnswered(budgets.keyLimitedPurchase, 200, () => buy(3));
    await expectAnswered(budgets.keyLimitedPurchase, 200, () => buy(4));
    await setAccountLimits(service.accounts, accountId, { ...limits, day_orders: 4 });
    await expectAnswered(budgets.limitReached, 422, () => buy(5));
  });

  test("the purchases switch is read once in 10 seconds, and not once a purchase", async () => {
    const { key } = await service.newCaller();
    const startedMs = performance.now();
    let reads = 0;
    service.proxy.fault = ({ operation, body }) => {
      if (isGateRead(operation, body)) reads += 1;
      return undefined;
    };
    onTestFinished(() => {
      service.proxy.fault = () => undefined;
    });
    for (let count = 0; count < 10; count += 1) {
      expect((await send("POST", BUY_DATA, { key, body: anOrder() })).status).toBe(200);
    }
    await sleep(GATE_CACHE_MS);
    expect((await send("POST", BUY_DATA, { key, body: anOrder() })).status).toBe(200);
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThanOrEqual(1 + (performance.now() - startedMs) / GATE_CACHE_MS);
  });

  test("the budget holds for a live purchase that waits for the upstream's limit, and is sent by a run of its own", async () => {
    const invoke = await loadFunctions(["send-queued-orders"], FUNCTIONS);
    const sendWaiting = () => invoke("send-queued-orders", {});
    const buy = async () => {
      const { key } = await service.newCaller({ whitelist: longest.whitelist });
      return send("POST", BUY_DATA, { key, body: anOrder({ reference: longest.reference }) });
    };
    const { faults } = service.simulator.state;
    faults.add({ kind: "rate_limited", path: "/vtu/", times: 1, retry_after_s: 4 });
    expect((await buy()).headers).toHaveProperty("x-estimated-delivery");
    // It waits for the limit.
    await sendWaiting();
    const headersOfLast = { "x-ratelimit-remaining": "0", "retry-after": "4" };
    const body = JSON.stringify({ status: false, message: "No" });
    faults.add({ kind: "custom", path: "/vtu/", times: 1, status: 400, headers: headersOfLast, body });
    // The limit lasts until the next purchase meets it.
    stopClock();
    expect((await buy()).status).toBe(502);
    const { headers } = await expectAnswered(budgets.waitingPurchase, 200, async () => {
      const answer = await buy();
      vi.useRealTimers();
      await sendWaiting();
      return answer;
    });
    expect(headers).toHaveProperty("x-estimated-delivery");
    // The order leaves `live` and comes back; the account enters and leaves `waiting`; `waiting#` has two.
    const byOpen = sum(
      service.proxy.calls.map(({ operation, unitsByIndex }) =>
        operation === "Query" ? 0 : (unitsByIndex.by_open ?? 0),
      ),
    );
    expect(byOpen).toBe(2 * waiting.by_open);
    // The limit is free again.
    await sleep(4_000);
  });

  test("the budget holds for a cancellation with the longest reference, and for its replay", async () => {
    const { key } = await service.newCaller({ whitelist: longest.whitelist });
    const body = { reference: longest.reference, type: "nin_verification" };
    const cancel = () => send("POST", "/transactions/cancel", { key, body });
    await expectAnswered(budgets.cancellation, 200, cancel);
    // AWS charges for the put that is refused too, but does not report it.
    await expectAnswered({ ...budgets.cancellation, writeUnits: { tables: 1, indexes: 0 } }, 200, cancel);
  });

  test("the budget holds for a replay of a purchase", async () => {
    const { key } = await service.newCaller();
    const buy = () => send("POST", BUY_DATA, { key, body: anOrder({ reference: "replayed" }) });
    await buy();
    const { headers } = await expectAnswered(budgets.replay, 200, buy);
    expect(headers["idempotent-replayed"]).toBe("true");
  });

  test("the budget holds for a request over the rate limit", async () => {
    const { key } = await service.newCaller({ naira: 0 });
    const request = () => send("POST", BUY_DATA, { key, body: {} });
    const spend = () => Promise.all(Array.from({ length: 130 }, request));
    await spend();
    // Another minute, with a limit of its own, may have begun since.
    if ((await request()).status !== 429) await spend();
    await expectAnswered(budgets.overLimit, 429, request);
  });

  test("the budget holds for a request with a malformed key", async () => {
    const request = () => send("POST", BUY_DATA, { key: "live_garbage", body: anOrder() });
    await expectAnswered(budgets.malformedKey, 401, request);
  });

  test("the budget holds for an identity check with a stored result, whose log does not contain the NIN", async () => {
    const { key } = await service.newCaller({ whitelist: longest.whitelist });
    const body = aNinCheck({ reference: longest.reference, purpose: "p".repeat(100) });
    const { lines } = await expectAnswered(budgets.identityCheck, 200, () => send("POST", VERIFY_NIN, { key, body }));
    expect(lines.join()).not.toContain(body.nin);
  });

  test("the budget holds for the catalog, and an unchanged one (304), which has no body", async () => {
    const { key } = await service.newCaller();
    const { headers } = await expectAnswered(budgets.catalog, 200, () => send("GET", "/vtu/data", { key }));
    expect(headers["content-encoding"]).toBe("gzip");
    const { etag = "" } = headers;
    const unchanged = await expectAnswered(budgets.catalogUnchanged, 304, () =>
      send("GET", "/vtu/data", { key, etag }),
    );
    expect(unchanged.bodyBytes).toBe(0);
  });

  test("the budget holds for an upstream event and its duplicate", async () => {
    const { url, headers, body } = await anUpstreamEvent(service);
    const sendEvent = () => weigh("POST", url, headers, body);
    await expectAnswered(budgets.upstreamEvent, 200, sendEvent);
    await expectAnswered(budgets.duplicateEvent, 200, sendEvent);
  });

  test("the budget holds for a webhook", async () => {
    const receiver = await startReceiver();
    const enqueue = await aWebhookChange(service, receiver.url);
    await expectWithin(service.proxy, budgets.webhook, enqueue);
    expect(receiver.received).toHaveLength(1);
    await receiver.stop();
  });

  test("the budget holds for a batch of the statistics, of an hour that has every type of four networks", async () => {
    const { invoke, proxy, tables } = await onFreshTables(["count-transactions"]);
    const { db, cacheTable } = tables;
    const endedAtMs = Date.parse("2026-11-22T10:59:00.000Z");
    const orders = ["MTN", "Airtel", "Glo", "9mobile"].flatMap((network) => [
      { type: "data", network } as const,
      { type: "airtime", network } as const,
    ]);
    const checks = transactionType.options.filter((type) => type !== "data" && type !== "airtime");
    const kinds = [...orders, ...checks.map((type) => ({ type }))].map((kind) => ({ accountId: "acc_1", ...kind }));
    const ended = kinds.flatMap((kind): readonly EndedTransaction[] => [
      ...[...LATENCY_BOUNDS_MS, Number.POSITIVE_INFINITY].map(
        (latencyMs) => ({ ...kind, status: "success", amountKobo: 50_000, endedAtMs, latencyMs }) as const,
      ),
      { ...kind, status: "failed", amountKobo: 50_000, endedAtMs, latencyMs: 1 },
    ]);
    for (const quarterMs of [0, 1, 2, 3].map((quarter) => quarter * QUARTER_MS)) {
      const inQuarter = ended.map((order) => ({ ...order, endedAtMs: endedAtMs - quarterMs }));
      await addToHours({ db, table: cacheTable }, inQuarter);
      await addToAccountDays({ db, table: cacheTable, timeZone: "Africa/Lagos" }, inQuarter);
    }
    const opened = aTransaction({ created_at: isoTime(endedAtMs - 900) });
    const settled = { ...opened, status: "success", updated_at: isoTime(endedAtMs) };
    const wallet = (version: number, balance_kobo: number) => ({
      ...{ pk: "wallet#acc_1", account_id: "acc_1", balance_kobo, version, updated_at: isoTime(endedAtMs) },
    });
    const record = (OldImage: object, NewImage: object) => ({
      dynamodb: { SequenceNumber: "1", OldImage: marshall(OldImage), NewImage: marshall(NewImage) },
    });
    const Records = [record(wallet(3, 100_000), wallet(4, 50_000)), record(opened, settled)];
    await expectWithin(proxy, budgets.statistics, () => invoke("count-transactions", { Records }));
  });

  test("the budget holds for a minute of the scheduled functions without any request", async () => {
    const { invoke, proxy, tables } = await onFreshTables([...commonSchedules, "ask-upstream", "send-notifications"]);
    proxy.countsTimedReads = true;
    await createAccount({ ...tables, clock: systemClock }, { name: "test", whitelist: [] });
    const baseUrl = process.env.UPSTREAM_BASE_URL ?? "";
    await catalogStore(tables.db, tables.cacheTable).write({ ...builtInSnapshot, fetchedAtMs: systemClock(), baseUrl });
    const minute = async (): Promise<void> => {
      for (const name of commonSchedules) await invoke(name, {});
    };
    // The first run reconciles the wallet and masks old phone numbers, which happens once a day.
    await minute();
    await expectWithin(proxy, budgets.schedules, minute);
    // Only where the upstream can be asked. The first run reads our balance, which happens once an hour.
    await invoke("ask-upstream", {});
    proxy.calls.length = 0;
    await invoke("ask-upstream", {});
    expect(proxy.calls.map(({ operation }) => operation)).toEqual(scheduleOf("ask-upstream").idleRun.calls);
    // Only in a stage with a console.
    await expectWithin(proxy, budgets.notifications, () => invoke("send-notifications", {}));
  });
});

test("two of the three DynamoDB calls of a purchase come before the upstream request", async () => {
  const { key } = await service.newCaller();
  service.proxy.calls.length = 0;
  service.simulator.state.faults.add({ kind: "drop_before_reading", path: BUY_DATA, times: 1 });
  await service.call("POST", BUY_DATA, { key, body: anOrder() });
  expect(service.proxy.calls.map(({ operation }) => operation)).toEqual(["UpdateItem", "TransactWriteItems"]);
});

test("a purchase and a request for the catalog take it from the memory of their functions", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  onTestFinished(() => void vi.useRealTimers());
  const { key } = await service.newCaller();
  const buyAndList = async (): Promise<void> => {
    await service.call("POST", BUY_DATA, { key, body: anOrder() });
    await service.call("GET", "/vtu/data", { key });
  };
  await buyAndList();
  service.proxy.calls.length = 0;
  service.proxy.countsTimedReads = true;
  await buyAndList();
  service.proxy.countsTimedReads = false;
  const buy = ["UpdateItem", "TransactWriteItems", "UpdateItem"];
  expect(service.proxy.calls.map(({ operation }) => operation)).toEqual([...buy, "UpdateItem"]);
});

const bundles = functionNames.filter((name) => !Object.hasOwn(largerBundles, name));
test.each(bundles)("the bundle of %s is within the budget", (name) => {
  const { bytes, gzipBytes } = bundleSize(name);
  expect(bytes).toBeGreaterThan(30_000);
  const budget = name === "purchase" ? purchaseBundleBudget : bundleBudget;
  expect(bytes).toBeLessThanOrEqual(budget.bytes);
  expect(gzipBytes).toBeLessThanOrEqual(budget.gzipBytes);
});

test("no file that anybody can load is larger than the cost of a flood assumes", () => {
  const bytesOf = ({ gzip }: { readonly gzip: string }): number => Buffer.from(gzip, "base64").length;
  const largest = Math.max(...Object.values(consoleFiles()).map(bytesOf));
  expect(largest).toBeGreaterThan(100_000);
  expect(largest).toBeLessThanOrEqual(publicFileBytes["serve-console"]);
  expect(bytesOf(docsPageForBundle())).toBeLessThanOrEqual(publicFileBytes["serve-docs"]);
});
