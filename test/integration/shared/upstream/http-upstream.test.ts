import { createServer as createHttpServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { ServiceError } from "../../../../shared/contract/errors.ts";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import type { Secret } from "../../../../shared/platform/secrets.ts";
import type { Clock } from "../../../../shared/platform/time.ts";
import { httpUpstream, upstreamReader } from "../../../../shared/upstream/http-upstream.ts";
import { upstreamKeyId } from "../../../../shared/upstream/key-pool.ts";
import type { LiveUpstream } from "../../../../shared/upstream/live-upstream.ts";
import { type ProfileChanges, profileOf, type UpstreamProfile } from "../../../../shared/upstream/profile.ts";
import type { IdentityCheck, UpstreamOrder } from "../../../../shared/upstream/upstream.ts";
import { freePort, listenOnLoopback } from "../../../../tools/local/loopback.ts";
import type { Fault } from "../../../../tools/simulator/faults.ts";
import { type Simulator, type SimulatorOptions, startSimulator } from "../../../../tools/simulator/server.ts";
import { type CapturedLog, captureLog } from "../../../builders/run/captured-log.ts";
import { PROFILE } from "../../../builders/upstream/upstream-simulator.ts";

const KEY = "live_upstream_0123456789abcdefghijklmnop";
const OLD_KEY = "live_upstream_before_the_rotation_abcdef";
const mtn1gb = { kind: "data", networkId: 1, planId: 101, phoneNumber: "08031234567" } satisfies UpstreamOrder;
const check = (idType: "nin" | "bvn", by: IdentityCheck["by"]): IdentityCheck => ({ kind: "identity", idType, by });
const verification = { number: "12345678901", mode: "basic" } as const;
const referenceOf = (order: number): string => `DATA_${String(order).padStart(26, "0")}`;
const REFERENCE = referenceOf(1);

/** A cached secret, and its value when it is fetched again. */
const aSecret = (cached: string | undefined, current: string | undefined = cached) => {
  const keyReads = { refetches: 0 };
  const secret: Secret = {
    value: async () => cached,
    refetch: async () => {
      keyReads.refetches += 1;
      return current;
    },
  };
  return { secret, keyReads };
};

type Setting = {
  readonly simulator?: Partial<SimulatorOptions>;
  readonly key?: string | undefined;
  readonly currentKey?: string | undefined;
  readonly clock?: Clock;
  readonly faults?: readonly Fault[];
};

/** A client of a simulator whose live key is KEY. */
const aClient = async (setting: Setting = {}) => {
  const simulator = await startSimulator({
    ...{ liveKey: KEY, stallMs: 60, delayedOutcomeMs: 60_000 },
    ...setting.simulator,
  });
  onTestFinished(() => simulator.stop());
  simulator.state.faults.add(...(setting.faults ?? []));
  const key = "key" in setting ? setting.key : KEY;
  const { secret, keyReads } = aSecret(key, "currentKey" in setting ? setting.currentKey : key);
  const { clock } = setting;
  let orders = 0;
  const upstream = httpUpstream({
    baseUrl: simulator.baseUrl,
    profile: PROFILE,
    liveKey: secret,
    ...(clock && { clock }),
  });
  return {
    upstream,
    state: simulator.state,
    keyReads,
    /** Places one order, under the next reference, with the usual 29 s. */
    buy: (changes: { readonly phoneNumber?: string } = {}, budgetMs = 29_000) => {
      orders += 1;
      return upstream.buy({ ...mtn1gb, ...changes }, referenceOf(orders), deadlineIn(budgetMs));
    },
    ready: (budgetMs = 29_000) => upstream.assertReady(mtn1gb, deadlineIn(budgetMs)),
    /** How many requests met a fault that was set for `times` of them. */
    requestsOf: (times: number): number => times - (simulator.state.faults.list()[0]?.times ?? 0),
  };
};

/** A client of a server that the test wrote. */
const clientOf = async (server: Server, profile: UpstreamProfile = PROFILE): Promise<LiveUpstream> => {
  onTestFinished(() => void server.close());
  const port = await listenOnLoopback(server);
  return httpUpstream({ baseUrl: `http://127.0.0.1:${port}/v1`, profile, liveKey: aSecret(KEY).secret });
};

/** The duration and the outcome of an order. */
const timed = async <Result>(work: () => Promise<Result>): Promise<{ result: Result; tookMs: number }> => {
  const startedMs = performance.now();
  const result = await work();
  return { result, tookMs: performance.now() - startedMs };
};

const refusalOf = async (work: Promise<unknown>): Promise<ServiceError> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ServiceError)) throw new Error("It was not refused");
  return error;
};

describe("orders", () => {
  test("an order arrives once, with the live key and our reference, and its outcome has the upstream's reference and price", async () => {
    const { buy, state } = await aClient();
    const outcome = await buy();
    expect(state.purchases).toMatchObject([
      { keyUsed: KEY, mode: "live", reference: REFERENCE, path: "/vtu/data/purchase", amountKobo: 500_00 },
    ]);
    expect(state.purchases[0]?.body).toEqual({
      network_id: 1,
      plan_id: 101,
      phone_number: "08031234567",
      reference: REFERENCE,
    });
    expect(outcome).toEqual({
      kind: "delivered",
      upstreamReference: state.purchases[0]?.upstreamReference,
      upstreamAmountKobo: 500_00,
    });
  });

  test("the time that requests to the upstream take is added up, and one that was not sent takes none", async () => {
    const { upstream } = await aClient();
    const deadline = deadlineIn(29_000);
    const spent = deadlineIn(0);
    await upstream.buy(mtn1gb, referenceOf(1), deadline);
    await upstream.buy(mtn1gb, referenceOf(2), spent);
    expect([deadline.upstreamMs, spent.upstreamMs]).toEqual([expect.any(Number), undefined]);
    deadline.upstreamMs = 10_000;
    await upstream.buy(mtn1gb, referenceOf(3), deadline);
    expect(deadline.upstreamMs).toBeGreaterThanOrEqual(10_000);
  });

  test("an order whose number the upstream refuses with 422 is refused on phone_number", async () => {
    const { buy } = await aClient();
    expect(await buy({ phoneNumber: "12345" })).toMatchObject({
      kind: "refused",
      fields: ["phone_number"],
      status: 422,
    });
  });
});

describe("unknown outcomes, which are not sent again", () => {
  const faults: readonly (readonly [string, Fault])[] = [
    ["its response is dropped", { kind: "drop_after_order" }],
    ["it is answered with 500", { kind: "status", status: 500 }],
    [
      "it is answered with 503 and Retry-After 0",
      { kind: "custom", status: 503, headers: { "Retry-After": "0" }, body: "" },
    ],
    [
      "it is answered with 401 and an open order",
      {
        kind: "custom",
        status: 401,
        body: JSON.stringify({ status: false, message: "", data: { transaction: { status: "processing" } } }),
      },
    ],
  ];
  test.for(faults)("an order is unknown, and with two keys not sent again, if %s", async ([, fault]) => {
    const { buy, requestsOf } = await aClient({
      key: `${KEY}\n${OLD_KEY}`,
      simulator: { liveKey: [KEY, OLD_KEY] },
      faults: [{ ...fault, times: 5 }],
    });
    expect((await buy()).kind).toBe("unknown");
    expect(requestsOf(5)).toBe(1);
  });

  test("an order with 7,500 ms left waits until 6 s are left for settling, and is then unknown, although the upstream has it", async () => {
    const { buy, state } = await aClient({ faults: [{ kind: "delay", delay_ms: 4_000 }] });
    const { result, tookMs } = await timed(() => buy({}, 7_500));
    expect(result).toEqual({ kind: "unknown", reason: "timeout" });
    expect(tookMs).toBeGreaterThan(900);
    expect(state.purchases).toHaveLength(1);
  });
});

const envelope = JSON.stringify({ status: false, message: "No" });
/** What stands in front of the upstream answers, although the order was carried out. */
const gateAnswers = [400, 401, 403, 404, 405, 413, 415, 422].flatMap((status) =>
  [
    ["a page", "<html><h1>Forbidden</h1></html>"],
    ["nothing", ""],
    ["JSON of its own", JSON.stringify({ message: "Forbidden" })],
    ["an envelope that is cut off", envelope.slice(0, -1)],
  ].map(([what = "", body = ""]) => [status, what, body] as const),
);

describe("an answer of something in front of the upstream, after the order", () => {
  test.for(gateAnswers)("a %i with %s is unknown, and with two keys not sent again", async ([status, , body]) => {
    const { buy, state, keyReads } = await aClient({
      key: `${KEY}\n${OLD_KEY}`,
      simulator: { liveKey: [KEY, OLD_KEY] },
      faults: [{ kind: "custom", status, body, takes_order: true }],
    });
    expect(await buy()).toEqual({ kind: "unknown", reason: `unrecognized_${status}` });
    expect(state.purchases).toHaveLength(1);
    expect(keyReads.refetches).toBe(0);
  });

  test("after three in a row purchases are not ready for a minute, then one order finds out; checks go on", async () => {
    let nowMs = Date.parse("2026-11-21T12:00:20.000Z");
    const { buy, ready, upstream, state } = await aClient({ clock: () => nowMs });
    expect((await buy()).kind).toBe("delivered");
    expect(upstream.requestsLeft("vtu")).toBeGreaterThan(1);
    state.faults.add({ kind: "custom", status: 404, body: "<html>", path: "/vtu", times: 4 });
    await buy();
    expect(upstream.requestsLeft("vtu")).toBe(1);
    for (const _answer of [2, 3]) {
      await expect(ready()).resolves.toBeUndefined();
      await buy();
    }
    expect((await refusalOf(ready())).details.retryAfterS).toBe(60);
    await expect(upstream.assertReady(mtn1gb, deadlineIn(29_000), { mayWait: true })).resolves.toBeUndefined();
    expect([upstream.waitS("vtu"), upstream.waitS("identity")]).toEqual([60, 0]);
    nowMs += 60_000;
    await expect(ready()).resolves.toBeUndefined();
    await buy();
    expect(upstream.waitS("vtu")).toBe(60);
    nowMs += 60_000;
    expect((await buy()).kind).toBe("delivered");
    expect(upstream.waitS("vtu")).toBe(0);
    expect(upstream.requestsLeft("vtu")).toBeGreaterThan(1);
  });
});

describe("without the key in time an order is not sent, or its 401 counts, and 6 s are left for settling", () => {
  const never = () => new Promise<never>(() => undefined);
  const fails = () => Promise.reject(new Error("Secrets Manager is away"));
  const value = async () => OLD_KEY;

  test.each<[string, Secret, string]>([
    ["hangs after a 401", { value, refetch: never }, "status_401"],
    ["fails after a 401", { value, refetch: fails }, "status_401"],
    ["hangs before the order", { value: never, refetch: never }, "no_upstream_key"],
    ["fails before the order", { value: fails, refetch: never }, "no_upstream_key"],
  ])("if Secrets Manager %s", async (_what, liveKey, reason) => {
    const simulator = await startSimulator({ liveKey: KEY });
    onTestFinished(() => simulator.stop());
    const upstream = httpUpstream({ baseUrl: simulator.baseUrl, profile: PROFILE, liveKey });
    const deadline = deadlineIn(7_500);
    expect(await upstream.buy(mtn1gb, REFERENCE, deadline)).toEqual({ kind: "account_error", reason });
    expect(deadline.remainingMs()).toBeGreaterThan(6_000);
    expect(simulator.state.purchases).toEqual([]);
  });
});

describe("an order that was certainly not carried out", () => {
  const unauthorized: Fault = { kind: "status", status: 401, times: 5 };
  const limited = (retry_after_s: number): Fault => ({ kind: "rate_limited", retry_after_s, times: 5 });
  const custom429 = (headers: Record<string, string>, body = ""): Fault => ({
    ...{ kind: "custom", status: 429, headers, body, times: 5 },
  });
  const inEnvelope = JSON.stringify({ status: false, message: "Too many requests." });
  type Row = { readonly leftMs?: number; readonly requests: number; readonly refetches?: number } & Setting;

  test.each<[string, string, Row]>([
    ["a 401 with an unchanged key", "status_401", { faults: [unauthorized], requests: 1, refetches: 1 }],
    [
      "a 401 with the new key too",
      "status_401",
      { faults: [unauthorized], currentKey: OLD_KEY, requests: 2, refetches: 1 },
    ],
    [
      "a 401 while the secret is empty",
      "status_401",
      { faults: [unauthorized], currentKey: undefined, requests: 1, refetches: 1 },
    ],
    ["a 429 with Retry-After 3 and time for it", "rate_limited", { faults: [limited(3)], leftMs: 10_200, requests: 2 }],
    ["a 429 with Retry-After 3 and no time", "rate_limited", { faults: [limited(3)], leftMs: 9_900, requests: 1 }],
    ["a 429 with Retry-After 4", "rate_limited", { faults: [limited(4)], requests: 1 }],
    ["a 429 in the envelope without a header", "rate_limited", { faults: [custom429({}, inEnvelope)], requests: 1 }],
    ["no key", "no_upstream_key", { faults: [limited(1)], key: undefined, requests: 0 }],
    ["no time", "no_time", { faults: [limited(1)], leftMs: 6_900, requests: 0 }],
  ])("for %s is an account_error, %s, and leaves the time for settling", async (_what, reason, row) => {
    const { leftMs = 29_000, requests, refetches = 0, ...setting } = row;
    const { upstream, keyReads, requestsOf } = await aClient(setting);
    const deadline = deadlineIn(leftMs);
    const { result, tookMs } = await timed(() => upstream.buy(mtn1gb, REFERENCE, deadline));
    expect(result).toEqual({ kind: "account_error", reason });
    expect([requestsOf(5), keyReads.refetches]).toEqual([requests, refetches]);
    expect(deadline.remainingMs()).toBeGreaterThan(6_000);
    expect(tookMs).toBeLessThan(10_000);
  });

  test("is one to an unreachable upstream: it was never sent", async () => {
    const baseUrl = `http://127.0.0.1:${await freePort()}/v1`;
    const upstream = httpUpstream({ baseUrl, profile: PROFILE, liveKey: aSecret(KEY).secret });
    const outcome = await upstream.buy(mtn1gb, REFERENCE, deadlineIn(29_000));
    expect(outcome).toEqual({ kind: "account_error", reason: "ECONNREFUSED" });
  });
});

describe("a 429", () => {
  test("after a 429 with Retry-After 1 the order is sent again 1 s later, under the same reference", async () => {
    const { buy, state } = await aClient({ faults: [{ kind: "rate_limited", retry_after_s: 1, times: 1 }] });
    const { result, tookMs } = await timed(() => buy());
    expect(result.kind).toBe("delivered");
    expect(tookMs).toBeGreaterThan(990);
    expect(state.purchases).toMatchObject([{ reference: REFERENCE }]);
  });

  test("an order whose account's next ones follow it is not sent again with the same key after a 429", async () => {
    const { upstream, requestsOf } = await aClient({ faults: [{ kind: "rate_limited", retry_after_s: 0, times: 5 }] });
    const beginning = { mayBegin: () => true, begun: () => {} };
    const outcome = await upstream.buy(mtn1gb, REFERENCE, deadlineIn(29_000), beginning);
    expect(outcome).toEqual({ kind: "account_error", reason: "rate_limited" });
    expect(requestsOf(5)).toBe(1);
  });

  test("a 429 with neither the envelope nor a header is unknown after 1 request, and the next order waits", async () => {
    const { buy, upstream, requestsOf } = await aClient({
      faults: [{ kind: "custom", status: 429, body: "slow down", times: 5 }],
    });
    expect(await buy()).toEqual({ kind: "unknown", reason: "unrecognized_429" });
    expect(requestsOf(5)).toBe(1);
    expect(upstream.waitS("vtu")).toBeGreaterThan(0);
  });
});

describe("assertReady", () => {
  test("an exhausted limit is 503 until the upstream's minute is over, with the seconds in Retry-After", async () => {
    let nowMs = Date.parse("2026-11-21T12:00:20.000Z");
    const { buy, ready } = await aClient({ clock: () => nowMs, simulator: { limits: { vtu: 1 } } });
    expect((await buy()).kind).toBe("delivered");
    const refusal = await refusalOf(ready());
    expect([refusal.code, refusal.details.retryAfterS]).toEqual(["provider_unavailable", 40]);
    nowMs += 39_999;
    expect((await refusalOf(ready())).details.retryAfterS).toBe(1);
    nowMs += 1;
    await expect(ready()).resolves.toBeUndefined();
  });

  test("an absent key is 503 with Retry-After 60, and raises the alarm on sales", async () => {
    const log = captureLog();
    const { ready } = await aClient({ key: undefined });
    const refusal = await refusalOf(ready());
    expect([refusal.code, refusal.details.retryAfterS]).toEqual(["provider_unavailable", 60]);
    expect(log.lines("upstream.account_error")).toEqual([
      expect.objectContaining({ reason: "no_upstream_key", Alarms: 1 }),
    ]);
  });

  test("less than 1 s for the upstream is 503 with Retry-After 1, and exactly 1 s is enough", async () => {
    const { upstream } = await aClient();
    const refusal = await refusalOf(upstream.assertReady(mtn1gb, { remainingMs: () => 6_999 }));
    expect([refusal.code, refusal.details.retryAfterS]).toEqual(["provider_unavailable", 1]);
    await expect(upstream.assertReady(mtn1gb, { remainingMs: () => 7_000 })).resolves.toBeUndefined();
  });
});

describe("the catalog", () => {
  test.each<[string, Fault]>([
    ["two 429 with Retry-After 1", { kind: "rate_limited", retry_after_s: 1, times: 2 }],
    [
      "a 429 about one request, although the key is not spent",
      {
        ...{ kind: "custom", status: 429, body: "", times: 1 },
        headers: { "Retry-After": "2", "X-RateLimit-Remaining": "50" },
      },
    ],
  ])("the catalog is read after %s, 2 s later", async (_what, fault) => {
    const { upstream } = await aClient({ faults: [fault] });
    const { result, tookMs } = await timed(() => upstream.fetchCatalog(deadlineIn(29_000)));
    expect(result).toMatchObject({ kind: "answered", status: 200 });
    expect(tookMs).toBeGreaterThan(1_900);
  });

  test("a 429 of the catalog whose wait exceeds the deadline is returned at once, after 1 request", async () => {
    const { upstream, requestsOf } = await aClient({
      faults: [{ kind: "rate_limited", retry_after_s: 30, times: 5 }],
    });
    const { result, tookMs } = await timed(() => upstream.fetchCatalog(deadlineIn(29_000)));
    expect(result).toMatchObject({ kind: "answered", status: 429 });
    expect(tookMs).toBeLessThan(29_000);
    expect(requestsOf(5)).toBe(1);
  });

  test("a 429 of the catalog stays if its repetition cannot be sent", async () => {
    const server = createHttpServer((_request, response) => {
      response.writeHead(429, { "Retry-After": "0", Connection: "close" }).end();
      server.close();
    });
    const upstream = await clientOf(server);
    expect(await upstream.fetchCatalog(deadlineIn(29_000))).toMatchObject({ kind: "answered", status: 429 });
  });

  test("with a 429 and Retry-After 0 for ever the catalog is requested at most 10 times in 1 s", async () => {
    const { upstream, requestsOf } = await aClient({
      faults: [{ kind: "rate_limited", retry_after_s: 0, times: 100_000 }],
    });
    const result = await upstream.fetchCatalog(deadlineIn(8_000));
    expect(result).toMatchObject({ kind: "answered", status: 429 });
    expect(requestsOf(100_000)).toBeLessThanOrEqual(10);
  });

  test("without a key the catalog is not requested", async () => {
    const { upstream } = await aClient({ key: undefined });
    expect(await upstream.fetchCatalog(deadlineIn(29_000))).toEqual({ kind: "never_sent", reason: "no_upstream_key" });
  });

  test("a catalog of more than 8 MB is not read to its end", async () => {
    const { upstream } = await aClient({ faults: [{ kind: "huge", bytes: 20_000_000 }] });
    expect(await upstream.fetchCatalog(deadlineIn(29_000))).toEqual({ kind: "no_answer", reason: "answer_too_large" });
  });
});

test("an answer to an order of more than 1 MiB, and one to a check of more than 5.5 MiB, is not read to its end", async () => {
  const { upstream, buy } = await aClient({
    faults: [
      { kind: "huge", bytes: 2_000_000, times: 1 },
      { kind: "huge", bytes: 7_000_000, times: 1 },
    ],
  });
  const tooLarge = { kind: "unknown", reason: "answer_too_large" };
  expect(await buy()).toMatchObject(tooLarge);
  expect(await upstream.check(check("nin", verification), REFERENCE, deadlineIn(29_000))).toMatchObject(tooLarge);
});

test("an answer about an order that was asked for, of more than 256 KB, is not read to its end", async () => {
  const server = createHttpServer((_request, response) => void response.end("x".repeat(300_000)));
  onTestFinished(() => void server.close());
  const { lookUp } = upstreamReader({
    baseUrl: `http://127.0.0.1:${await listenOnLoopback(server)}/v1`,
    profile: profileOf({ reference: "all", lookup: { path: "/transactions/{reference}" } }),
    liveKey: aSecret(KEY).secret,
  });
  expect(await lookUp?.(REFERENCE, deadlineIn(29_000))).toEqual({ kind: "unclear", reason: "answer_too_large" });
});

test("an upstream that compresses whatever a client does not refuse to read is understood", async () => {
  const answer = JSON.stringify({
    status: true,
    data: { transaction: { reference: "U1", status: "success", amount: 500 } },
  });
  const server = createHttpServer((request, response) => {
    const isPlain = request.headers["accept-encoding"] === "identity";
    response.writeHead(200, isPlain ? {} : { "content-encoding": "gzip" }).end(isPlain ? answer : gzipSync(answer));
  });
  const upstream = await clientOf(server);
  expect(await upstream.buy(mtn1gb, REFERENCE, deadlineIn(29_000))).toMatchObject({ kind: "delivered" });
});

describe("the profile", () => {
  const orders = {
    data: mtn1gb,
    airtime: { kind: "airtime", network: "mtn", amountKobo: koboFromNaira(100), phoneNumber: "08031234567" },
  } as const;
  const retrieval = { phoneNumber: "08031234567" };

  /** The requests for one order of each kind and the catalog: method, path, header of the key, and body. */
  const sentWith = async (changes: ProfileChanges) => {
    const sent: Record<string, unknown> = {};
    const server = createHttpServer(async (request, response) => {
      const { authorization, "x-key": key = authorization } = request.headers;
      sent[`${request.method} ${request.url}`] = [key, await text(request)].filter((part) => part !== "");
      response.end(JSON.stringify({ status: false, message: "No" }));
    });
    const upstream = await clientOf(server, profileOf(changes));
    for (const order of Object.values(orders)) await upstream.buy(order, REFERENCE, deadlineIn(29_000));
    for (const idType of ["nin", "bvn"] as const) {
      for (const by of [verification, retrieval]) {
        await upstream.check(check(idType, by), REFERENCE, deadlineIn(29_000));
      }
    }
    await upstream.fetchCatalog(deadlineIn(29_000));
    return sent;
  };

  test("an order is sent as the document shows it, with our reference for data purchases only", async () => {
    const key = `Bearer ${KEY}`;
    expect(await sentWith({ reference: "documented" })).toEqual({
      "POST /v1/vtu/data/purchase": [
        key,
        `{"network_id":1,"plan_id":101,"phone_number":"${mtn1gb.phoneNumber}","reference":"${REFERENCE}"}`,
      ],
      "POST /v1/vtu/airtime/purchase": [key, '{"network":"mtn","amount":100,"phone_number":"08031234567"}'],
      "POST /v1/identity/nin/verify": [key, '{"nin":"12345678901","mode":"basic","is_consent":true}'],
      "POST /v1/identity/nin/retrieve": [key, '{"phone_number":"08031234567","is_consent":true}'],
      "POST /v1/identity/bvn/verify": [key, '{"bvn":"12345678901","mode":"basic","is_consent":true}'],
      "POST /v1/identity/bvn/retrieve": [key, '{"phone_number":"08031234567","is_consent":true}'],
      "GET /v1/vtu/data": [key],
    });
  });

  test("an order is sent with the paths, the header, the names and the networks of the profile, and our reference in every kind", async () => {
    const sent = await sentWith({
      reference: "all",
      paths: {
        catalog: "/plans",
        data: "/bundles",
        airtime: "/topup",
        nin_verification: "/nin",
        bvn_retrieval: "/who",
      },
      key: { header: "X-Key", prefix: "" },
      fields: { phone_number: "msisdn", reference: "request_id", amount: "naira", nin: "number" },
      networks: { mtn: "MTN-NG" },
    });
    expect(sent).toMatchObject({
      "POST /v1/bundles": [
        KEY,
        `{"network_id":1,"plan_id":101,"msisdn":"${mtn1gb.phoneNumber}","request_id":"${REFERENCE}"}`,
      ],
      "POST /v1/topup": [KEY, `{"network":"MTN-NG","naira":100,"msisdn":"08031234567","request_id":"${REFERENCE}"}`],
      "POST /v1/nin": [KEY, `{"number":"12345678901","mode":"basic","is_consent":true,"request_id":"${REFERENCE}"}`],
      "POST /v1/who": [KEY, `{"msisdn":"08031234567","is_consent":true,"request_id":"${REFERENCE}"}`],
      "GET /v1/plans": [KEY],
    });
    expect(Object.keys(sent)).toHaveLength(7);
  });
});

describe("with three keys", () => {
  const KEYS = ["live_key_one_of_three", "live_key_two_of_three", "live_key_three_of_three"] as const;
  const [ONE, TWO, THREE] = KEYS;
  const nin = check("nin", verification);
  let log: CapturedLog;
  beforeEach(() => {
    log = captureLog();
  });
  const rejections = () => log.lines("upstream.key_rejected");

  /** A client of a simulator that accepts all of them, unless the test says otherwise. */
  const aClientOfThree = ({ simulator, ...setting }: Setting = {}) =>
    aClient({ key: KEYS.join("\n"), ...setting, simulator: { liveKey: KEYS, ...simulator } });
  const keysUsed = (state: Simulator["state"]) => state.purchases.map(({ keyUsed }) => keyUsed);

  const countsOf = (values: readonly string[]): Readonly<Record<string, number>> =>
    Object.fromEntries([...new Set(values)].map((value) => [value, values.filter((other) => other === value).length]));

  describe("an order that is refused because of its key", () => {
    test.each<[string, Fault, number]>([
      ["a 401", { kind: "status", status: 401, times: 1 }, 1],
      ["a 429 with Retry-After 60", { kind: "rate_limited", retry_after_s: 60, times: 1 }, 0],
    ])(
      "after %s an order is sent again at once with another key, under the same reference",
      async (_name, fault, refetches) => {
        const { buy, state, keyReads } = await aClientOfThree({ faults: [fault] });
        // After a wait of 60 s there would be no time left.
        const outcome = await buy();
        const [{ upstreamReference } = { upstreamReference: undefined }] = state.purchases;
        expect(outcome).toEqual({ kind: "delivered", upstreamReference, upstreamAmountKobo: 500_00 });
        expect(state.purchases).toMatchObject([{ reference: REFERENCE }]);
        expect(keyReads.refetches).toBe(refetches);
      },
    );

    test("an account that is restricted upstream costs one order and loses its turn, and the other keys deliver", async () => {
      const { buy, state } = await aClientOfThree();
      state.restrictedKeys.add(TWO);
      const outcomes: string[] = [];
      for (let order = 0; order < 6; order += 1) outcomes.push((await buy()).kind);
      expect(countsOf(outcomes)).toEqual({ account_error: 1, delivered: 5 });
      expect(keysUsed(state)).not.toContain(TWO);
      expect(rejections()).toMatchObject([{ upstream_key: upstreamKeyId(TWO), status: 403, group: "vtu" }]);
    });

    test("a rotation of all keys reads the secret once, and the order is sent again with a new one", async () => {
      const { buy, state, keyReads } = await aClientOfThree({
        key: "live_old_a\nlive_old_b",
        currentKey: `${ONE}\n${TWO}`,
      });
      expect((await buy()).kind).toBe("delivered");
      expect([keyReads.refetches, keysUsed(state).length, rejections()]).toEqual([1, 1, []]);
    });

    test.each<[string, Fault, string, number]>([
      ["401", { kind: "status", status: 401, times: 9 }, "status_401", 2],
      ["429 with Retry-After 1", { kind: "rate_limited", retry_after_s: 1, times: 9 }, "rate_limited", 2],
      ["403 in the envelope", { kind: "status", status: 403, times: 9 }, "status_403", 1],
    ])("with a %s for every key an order is an account_error, %s", async (_name, fault, reason, requests) => {
      const { buy, requestsOf } = await aClientOfThree({ faults: [fault] });
      expect(await buy()).toEqual({ kind: "account_error", reason });
      expect(requestsOf(9)).toBe(requests);
    });

    test("after a 429 about the order it is not sent under another key, and no key is spent", async () => {
      const { buy, upstream, state } = await aClientOfThree();
      state.limitedRecipients.add(mtn1gb.phoneNumber);
      expect(await buy()).toEqual({ kind: "account_error", reason: "order_limited" });
      expect(state.requests).toHaveLength(1);
      expect(upstream.waitS("vtu")).toBe(0);
      state.limitedRecipients.clear();
      for (let order = 0; order < 3; order += 1) expect((await buy()).kind).toBe("delivered");
      expect(countsOf(keysUsed(state))).toEqual({ [ONE]: 1, [TWO]: 1, [THREE]: 1 });
    });

    test("two keys that one order found rejected are both set aside", async () => {
      const { buy, state } = await aClientOfThree({ faults: [{ kind: "status", status: 401, times: 2 }] });
      expect((await buy()).kind).toBe("account_error");
      for (let order = 0; order < 3; order += 1) await buy();
      expect(Object.values(countsOf(keysUsed(state)))).toEqual([3]);
      expect(rejections()).toHaveLength(2);
    });

    test("an empty balance upstream is an account_error and not sent under another key", async () => {
      const { buy, state } = await aClientOfThree({ simulator: { balanceKobo: 0 } });
      expect(await buy()).toEqual({ kind: "account_error", reason: "upstream_balance" });
      expect(state.requests).toHaveLength(1);
    });
  });

  describe("identity checks and the catalog", () => {
    test("identity checks use the keys in turn, each with the upstream's limit of its own", async () => {
      const { upstream, state } = await aClientOfThree({ simulator: { limits: { identity: 2 } } });
      for (let check = 0; check < 6; check += 1) {
        expect((await upstream.check(nin, `VERIFY_${check}`, deadlineIn(29_000))).kind).toBe("found");
      }
      expect(countsOf(keysUsed(state))).toEqual({ [ONE]: 2, [TWO]: 2, [THREE]: 2 });
      await expect(upstream.assertReady(nin, deadlineIn(29_000))).rejects.toThrow(ServiceError);
      await expect(upstream.assertReady(mtn1gb, deadlineIn(29_000))).resolves.toBeUndefined();
    });

    test("the catalog is read with a key that is accepted, also when the upstream rejects another", async () => {
      const { upstream } = await aClientOfThree({ simulator: { liveKey: [ONE, THREE] } });
      for (let read = 0; read < 3; read += 1) {
        expect(await upstream.fetchCatalog(deadlineIn(29_000))).toMatchObject({ kind: "answered", status: 200 });
      }
      expect(rejections()).toMatchObject([{ upstream_key: upstreamKeyId(TWO), group: "catalog" }]);
    });

    test.each<[string, Fault]>([
      ["a 403, because reading it again changes nothing", { kind: "status", status: 403, times: 1 }],
      ["a 429 with Retry-After 30", { kind: "rate_limited", retry_after_s: 30, times: 1 }],
    ])("the catalog is read at once with another key after %s", async (_what, fault) => {
      const { upstream } = await aClientOfThree({ faults: [fault] });
      expect(await upstream.fetchCatalog(deadlineIn(29_000))).toMatchObject({ kind: "answered", status: 200 });
    });
  });
});
