import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { pkOfReference } from "../../../../shared/ledger/transaction.ts";
import { blocksOf, UPSTREAM_PACE_PK, upstreamPaceSchema } from "../../../../shared/queued-orders/upstream-pace.ts";
import { localTableNames } from "../../../../tools/local/tables.ts";
import type { Fault } from "../../../../tools/simulator/faults.ts";
import { captureLog } from "../../../builders/captured-log.ts";
import { queuedCount } from "../../../builders/queued-order.ts";
import {
  anOrder,
  BUY_DATA as path,
  startTestService,
  type TestCaller,
  type TestService,
} from "../../../builders/service.ts";

/**
 * Goal: caller, wallet and transaction agree on the outcome of an order, for each kind of answer of the upstream and
 * each way over the wire. test/unit/shared/upstream/classify.test.ts has every answer and what kind it is.
 */
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterEach(() => service.simulator.state.faults.clear());
afterAll(() => service.stop());

const answerOf = (status: number, type: string, body: string): Fault => ({
  kind: "custom",
  path,
  status,
  headers: { "content-type": type },
  body,
});
const json = (status: number, body: unknown): Fault => answerOf(status, "application/json", JSON.stringify(body));
const refusal = (status: number, message = "No", errors?: Record<string, string[]>): Fault =>
  json(status, { status: false, message, ...(errors && { errors }) });
const withTransaction = (status: number, isOk: boolean, transaction: unknown): Fault =>
  json(status, { status: isOk, message: "", data: { transaction } });
const requestCount = (): number => service.simulator.state.requests.length;

/**
 * Buys once for 500 NGN of 1,000 while the upstream answers so, and buys again with the same reference. An order before
 * it lets the service trust the upstream again.
 */
const buyUnder = async (fault: Fault) => {
  const caller = await service.newCaller({ naira: 1_500 });
  await service.call("POST", path, { key: caller.key, body: anOrder() });
  service.simulator.state.faults.add(fault);
  const body = anOrder({ reference: "under-fault" });
  const answer = await service.call("POST", path, { key: caller.key, body });
  service.simulator.state.faults.clear();
  const pk = pkOfReference(answer.headers.get("x-transaction-reference") ?? "") ?? "";
  const transaction = await readTransaction(service.ledger, pk);
  const requests = requestCount();
  const replay = await service.call("POST", path, { key: caller.key, body });
  expect(replay.status).toBe(answer.status);
  expect(replay.body).toEqual(answer.body);
  for (const name of ["x-error-code", "x-transaction-reference", "retry-after"]) {
    expect(replay.headers.get(name), name).toBe(answer.headers.get(name));
  }
  expect(replay.headers.get("idempotent-replayed")).toBe("true");
  expect(requestCount(), "orders of the replay").toBe(requests);
  return { caller, answer, transaction };
};

const page = "<html><body>Bad gateway</body></html>";
const unknown: readonly (readonly [string, Fault])[] = [
  ["drops the connection after it accepted the order", { kind: "drop_after_order", path }],
  ["drops the connection before it read the request", { kind: "drop_before_reading", path }],
  ["answers 503", { kind: "status", path, status: 503 }],
  ["redirects", { kind: "custom", path, status: 302, headers: { location: "/v1/elsewhere" }, body: "" }],
  ["answers 201 with a delivered transaction", withTransaction(201, true, { reference: "U1", status: "success" })],
  ["answers 200 with a page", { kind: "html", path }],
  ["answers 200 with an empty body", { kind: "empty", path }],
  ["answers 200 with 9 MB", { kind: "huge", path, bytes: 9_000_000 }],
  ["answers 200 with an undocumented status", withTransaction(200, true, { reference: "U2", status: "queued" })],
  ["answers 400 with an open transaction", withTransaction(400, false, { reference: "U3", status: "processing" })],
  ["answers 422 about the reference", refusal(422, "Invalid", { reference: ["Taken"], plan_id: ["Gone"] })],
  ["answers 400 with a page", answerOf(400, "text/html", page)],
  ["answers 400 without a body", { kind: "custom", path, status: 400, body: "" }],
  ["answers 403 with a page after the order", { kind: "custom", path, status: 403, body: page, takes_order: true }],
  ["answers 404 with a page", answerOf(404, "text/html", page)],
  ["answers 401 with JSON of its own", json(401, { message: "Unauthenticated." })],
];
test.each(unknown)(
  "a purchase whose upstream %s is answered processing, stays debited, and its replay sends nothing",
  async (_name, fault) => {
    const { caller, answer, transaction } = await buyUnder(fault);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({ transaction: { status: "processing", amount: 500 } });
    expect(answer.headers.get("x-error-code")).toBeNull();
    expect(transaction).toMatchObject({ status: "processing", open: expect.stringMatching(/^live#[0-9A-Z]$/) });
    expect(await caller.balance()).toBe(500);
  },
);

test("a success behind a byte order mark is a success", async () => {
  const upstreamTransaction = { reference: "UP-78", status: "success", amount: 500 };
  const body = `\uFEFF${JSON.stringify({ status: true, message: "", data: { transaction: upstreamTransaction } })}`;
  const { caller, answer, transaction } = await buyUnder({ kind: "custom", path, status: 200, body });
  expect(answer.body.data).toMatchObject({ transaction: { status: "success" } });
  expect(transaction).toMatchObject({ status: "success", upstream_reference: "UP-78" });
  expect(await caller.balance()).toBe(500);
});

test("a purchase that the upstream calls processing keeps the upstream's reference and price", async () => {
  const { transaction } = await buyUnder(
    withTransaction(200, true, { reference: "UP-77", status: "processing", amount: 480 }),
  );
  expect(transaction).toMatchObject({
    status: "processing",
    upstream_reference: "UP-77",
    upstream_amount_kobo: 48_000,
  });
});

const failed: readonly (readonly [string, Fault])[] = [
  ["answers 400", refusal(400)],
  ["answers 404", refusal(404)],
  ["answers 422 about a field that the order does not have", refusal(422, "Secret", { channel: ["Unknown"] })],
  ["answers 200 with status false", refusal(200, "The secret network refused")],
  ["answers 200 with a failed transaction", withTransaction(200, true, { reference: "U9", status: "failed" })],
  ["rejects our key", { kind: "unauthorized", path }],
  ["restricts our account", refusal(403, "Your secret account")],
  ["says that our balance there is insufficient", refusal(400, "Insufficient wallet balance")],
];
test.each(failed)(
  "a purchase whose upstream %s is refunded and answered 502 delivery_failed without the upstream's words",
  async (_name, fault) => {
    const { caller, answer, transaction } = await buyUnder(fault);
    expect(answer.status).toBe(502);
    expect(answer.headers.get("x-error-code")).toBe("delivery_failed");
    expect(answer.headers.get("x-transaction-reference")).not.toBeNull();
    expect(answer.headers.get("retry-after")).toBeNull();
    expect(JSON.stringify(answer.body)).not.toMatch(/secret|insufficient/i);
    expect(transaction).toMatchObject({ status: "failed", failure: { code: "delivery_failed" } });
    expect(transaction?.open).toBeUndefined();
    expect(await caller.balance()).toBe(1_000);
  },
);

test("a purchase whose phone number the upstream refuses is refunded and answered 422 in our words", async () => {
  const { caller, answer } = await buyUnder(
    refusal(422, "Secret words", { phone_number: ["Secret words"], channel: ["x"] }),
  );
  expect(answer.status).toBe(422);
  expect(answer.headers.get("x-error-code")).toBe("validation_failed");
  expect(Object.keys(answer.body.errors ?? {})).toEqual(["phone_number"]);
  expect(answer.body.message).toBe(
    "The upstream refused some fields; the amount was refunded. Another attempt needs a new reference",
  );
  expect(JSON.stringify(answer.body)).not.toContain("Secret");
  expect(await caller.balance()).toBe(1_000);
});

test("a purchase whose plan the upstream refuses is refunded and answered plan_unavailable", async () => {
  const { caller, answer } = await buyUnder(refusal(422, "Invalid", { plan_id: ["Gone"] }));
  expect(answer.headers.get("x-error-code")).toBe("plan_unavailable");
  expect(answer.body.message).toBe(
    "This data plan is not available; the amount was refunded. Another attempt needs a new reference",
  );
  expect(await caller.balance()).toBe(1_000);
});

test("a purchase whose upstream answers 429 with Retry-After 1 is sent once more, and delivered", async () => {
  const before = requestCount();
  const { caller, answer } = await buyUnder({ kind: "rate_limited", path, retry_after_s: 1, times: 1 });
  expect(answer.body.data).toMatchObject({ transaction: { status: "success" } });
  expect(await caller.balance()).toBe(500);
  // The order before it, and the second sending of this one: the simulator does not record what it refused.
  expect(requestCount()).toBe(before + 2);
});

/** Until when the other instances make orders wait, in seconds from now. */
const sharedWaitS = async ({ db }: TestService): Promise<number> => {
  const key = { pk: UPSTREAM_PACE_PK };
  const { Item } = await db.get({ TableName: localTableNames.cache, Key: key, ConsistentRead: true });
  const { limitUntilMs, unrecognizedUntilMs } = blocksOf(upstreamPaceSchema.parse(Item ?? {}), Date.now());
  return (Math.max(limitUntilMs, unrecognizedUntilMs) - Date.now()) / 1_000;
};

describe("an upstream that answers 429 with a long Retry-After", () => {
  // A service of its own, because its memory of the limit outlasts the test.
  let limited: TestService;
  let caller: TestCaller;
  beforeAll(async () => {
    limited = await startTestService();
    caller = await limited.newCaller({ naira: 1_500 });
    limited.simulator.state.faults.add({ kind: "rate_limited", path, retry_after_s: 86_400, times: 1 });
  });
  afterAll(() => limited.stop());

  test("a 429 with a long Retry-After makes its purchase and later ones wait, debited and processing, with an estimate", async () => {
    const first = await limited.call("POST", path, { key: caller.key, body: anOrder() });
    const requests = limited.simulator.state.requests.length;
    const later = await limited.call("POST", path, { key: caller.key, body: anOrder({ reference: "later" }) });
    const airtime = await limited.call("POST", "/vtu/airtime/purchase", {
      key: caller.key,
      body: { network: "mtn", amount: 500, phone_number: "08031234567", reference: "airtime" },
    });
    expect(limited.simulator.state.requests.length).toBe(requests);
    for (const { status, headers, body } of [first, later, airtime]) {
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { data: { transaction: { status: "processing" } } },
      });
      expect(Number(headers.get("x-estimated-delivery"))).toBeGreaterThan(50);
      expect(Number(headers.get("x-estimated-delivery"))).toBeLessThan(65);
      expect(headers.get("x-transaction-reference")).not.toBeNull();
      expect(headers.get("retry-after")).toBeNull();
    }
    expect(await caller.balance()).toBe(0);
    expect(await sharedWaitS(limited)).toBeGreaterThan(50);
    expect(await sharedWaitS(limited)).toBeLessThanOrEqual(60);
    expect((await limited.call("GET", "/transactions/later", { key: caller.key })).status).toBe(200);
  });
});

describe("an upstream that refuses the orders of one recipient with 429, while its limit is not spent", () => {
  const limitedNumber = "08099999999";
  const ORDERS_OF_OTHERS = 36;
  let refusing: TestService;
  let refused: TestCaller;
  let others: readonly TestCaller[];
  beforeAll(async () => {
    refusing = await startTestService();
    refused = await refusing.newCaller({ naira: 10_000 });
    others = await Promise.all([1, 2, 3].map(() => refusing.newCaller({ naira: 10_000 })));
    refusing.simulator.state.limits = { vtu: 60, identity: 30, catalog: 120 };
    refusing.simulator.state.limitedRecipients.add(limitedNumber);
  });
  afterAll(() => refusing.stop());

  test("the refused order waits with its refusal counted, and 36 orders of three other accounts leave at once", async () => {
    const buy = (caller: TestCaller, changes = {}) =>
      refusing.call("POST", path, { key: caller.key, body: anOrder(changes) });
    const delivered: unknown[] = [];
    for (let order = 0; order < ORDERS_OF_OTHERS; order += 1) {
      const caller = others[order % others.length];
      if (caller === undefined) expect.unreachable();
      if (order === 9) {
        const answer = await buy(refused, { phone_number: limitedNumber });
        expect(answer.body.data).toMatchObject({ transaction: { status: "processing", amount: 500 } });
        expect(answer.headers.get("x-estimated-delivery")).toBeNull();
        const pk = pkOfReference(answer.headers.get("x-transaction-reference") ?? "") ?? "";
        const waiting = { order: { kind: "data", network_id: 1, plan_id: 101 }, refusals: 1 };
        expect(await readTransaction(refusing.ledger, pk)).toMatchObject({ status: "processing", queued: waiting });
      }
      const { headers, body } = await buy(caller);
      expect(headers.get("x-estimated-delivery")).toBeNull();
      delivered.push(body.data);
    }
    expect(delivered).toHaveLength(ORDERS_OF_OTHERS);
    for (const data of delivered) expect(data).toMatchObject({ transaction: { status: "success" } });
    const { requests } = refusing.simulator.state;
    expect(requests.filter(({ outcome }) => outcome === "limited_recipient")).toHaveLength(1);
    expect(await sharedWaitS(refusing)).toBeLessThanOrEqual(0);
  });
});

describe("something that answers in the upstream's place", () => {
  let cut: TestService;
  let caller: TestCaller;
  beforeAll(async () => {
    cut = await startTestService();
    caller = await cut.newCaller({ naira: 5_000 });
    cut.simulator.state.faults.add(answerOf(404, "text/html", page));
  });
  afterAll(() => cut.stop());

  test("leaves three orders processing with an alarm each; later ones wait, debited and certainly not sent", async () => {
    const log = captureLog();
    const buy = async () => {
      const { body, headers } = await cut.call("POST", path, { key: caller.key, body: anOrder() });
      expect(body.data).toMatchObject({ transaction: { status: "processing" } });
      return headers.get("x-estimated-delivery");
    };
    for (const _order of [1, 2, 3]) expect(await buy()).toBeNull();
    expect(log.lines("upstream.answer_unrecognized")).toMatchObject(
      [1, 2, 3].map(() => ({ Alarms: 1, reason: "unrecognized_404", reference: expect.stringMatching(/^DATA_/) })),
    );
    cut.simulator.state.faults.clear();
    expect(Number(await buy())).toBeGreaterThan(50);
    expect(cut.simulator.state.requests).toEqual([]);
    expect(await caller.balance()).toBe(3_000);
    expect(await queuedCount(cut.ledger, caller.accountId)).toBe(1);
    expect(await sharedWaitS(cut)).toBeGreaterThan(50);
    expect(await sharedWaitS(cut)).toBeLessThanOrEqual(60);
  });
});
