import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { pkOfReference } from "../../../../shared/ledger/transaction.ts";
import type { Fault } from "../../../../tools/simulator/faults.ts";
import { type Answer, anOrder, BUY_DATA, startTestService, type TestService } from "../../../builders/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterEach(() => service.simulator.state.faults.clear());
afterAll(() => service.stop());

const path = BUY_DATA;
const html = "<html><body>Bad gateway</body></html>";
const customJson = (status: number, body: unknown): Fault => ({
  kind: "custom",
  path,
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
const refusal = (status: number, message = "No", errors?: Record<string, string[]>): Fault =>
  customJson(status, { status: false, message, ...(errors && { errors }) });
const withTransaction = (status: number, envelope: boolean, transaction: unknown): Fault =>
  customJson(status, { status: envelope, message: "", data: { transaction } });

/** Buys once under the fault; 1,000 NGN before, 500 NGN the plan. */
const buyUnder = async (fault: Fault) => {
  const caller = await service.newCaller({ naira: 1_000 });
  service.simulator.state.faults.add(fault);
  const body = anOrder({ reference: "under-fault" });
  const answer = await service.call("POST", path, { key: caller.key, body });
  service.simulator.state.faults.clear();
  return { caller, answer, body, transaction: await rowOf(answer) };
};

const rowOf = async (answer: Answer) => {
  const pk = pkOfReference(answer.headers.get("x-transaction-reference") ?? "");
  return pk === undefined ? undefined : readTransaction(service.ledger, pk);
};

describe("an answer that leaves the outcome unknown: 200 processing, and the debit stands", () => {
  const unknown: readonly (readonly [string, Fault])[] = [
    ["the socket is dropped after the order was accepted", { kind: "drop_after_order", path }],
    ["the socket is dropped before the request was read", { kind: "drop_before_reading", path }],
    ["500", { kind: "status", path, status: 500 }],
    ["502", { kind: "status", path, status: 502 }],
    ["503", { kind: "status", path, status: 503 }],
    ["504", { kind: "status", path, status: 504 }],
    ["302", { kind: "custom", path, status: 302, headers: { location: "/v1/elsewhere" }, body: "" }],
    ["408", refusal(408)],
    ["409", refusal(409)],
    ["425", refusal(425)],
    [
      "201 with a transaction that is delivered",
      withTransaction(201, true, { reference: "U1", status: "success", amount: 500 }),
    ],
    ["202", customJson(202, { status: true, message: "accepted" })],
    ["200 with an HTML body", { kind: "html", path }],
    ["200 with an empty body", { kind: "empty", path }],
    ["200 without a transaction", customJson(200, { status: true, message: "ok", data: {} })],
    [
      "200 with a transaction of an unheard-of status",
      withTransaction(200, true, { reference: "U2", status: "queued" }),
    ],
    ["200 with 9 MB", { kind: "huge", path, bytes: 9_000_000 }],
    [
      "400 with a transaction that is processing",
      withTransaction(400, false, { reference: "U3", status: "processing" }),
    ],
    ["403 with a transaction that is delivered", withTransaction(403, false, { reference: "U4", status: "success" })],
    ["422 that complains about the reference", refusal(422, "Invalid", { reference: ["Taken"], plan_id: ["Gone"] })],
    ["400 that speaks of a duplicate", refusal(400, "Duplicate transaction")],
    ["200 with status false that speaks of a duplicate reference", refusal(200, "Duplicate reference")],
    ["200 with status false that says pending", refusal(200, "Transaction pending")],
    ["400 that says timed out", refusal(400, "The network timed out")],
    [
      "400 with an HTML body",
      { kind: "custom", path, status: 400, headers: { "content-type": "text/html" }, body: html },
    ],
    ["422 with JSON that is cut off", { kind: "custom", path, status: 422, body: '{"status":false,"data":{"transac' }],
    [
      "404 with JSON inside a page",
      {
        kind: "custom",
        path,
        status: 404,
        headers: { "content-type": "text/html" },
        body: `<b>Warning</b>: line 7 ${JSON.stringify({ status: false, data: { transaction: { status: "success" } } })}`,
      },
    ],
    [
      "422 that complains about the reference behind a byte order mark",
      {
        kind: "custom",
        path,
        status: 422,
        headers: { "content-type": "application/json" },
        body: `\uFEFF${JSON.stringify({ status: false, message: "Invalid", errors: { reference: ["Taken"] } })}`,
      },
    ],
    ["500 with a failed transaction", withTransaction(500, false, { reference: "U5", status: "failed" })],
  ];
  test.each(unknown)("%s", async (_name, fault) => {
    const { caller, answer, transaction } = await buyUnder(fault);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({ transaction: { status: "processing", amount: 500 } });
    expect(answer.headers.get("x-error-code")).toBeNull();
    expect(transaction).toMatchObject({ status: "processing", open: "live" });
    expect(await caller.balance()).toBe(500);
  });

  test("a repeat of it is answered processing from the ledger, and the upstream is not asked again", async () => {
    const { caller, body } = await buyUnder({ kind: "drop_after_order", path });
    const orders = service.simulator.state.requests.length;
    const repeat = await service.call("POST", path, { key: caller.key, body });
    expect(repeat.status).toBe(200);
    expect(repeat.headers.get("idempotent-replayed")).toBe("true");
    expect(repeat.body.data).toMatchObject({ transaction: { status: "processing" } });
    expect(service.simulator.state.requests.length).toBe(orders);
    expect(await caller.balance()).toBe(500);
  });

  test("a success behind a byte order mark is a success", async () => {
    const upstreamTransaction = { reference: "UP-78", status: "success", amount: 500 };
    const body = `\uFEFF${JSON.stringify({ status: true, message: "", data: { transaction: upstreamTransaction } })}`;
    const { answer, transaction } = await buyUnder({ kind: "custom", path, status: 200, body });
    expect(answer.body.data).toMatchObject({ transaction: { status: "success" } });
    expect(transaction).toMatchObject({ status: "success", upstream_reference: "UP-78" });
  });

  test("what the upstream calls a processing order is on record", async () => {
    const { transaction } = await buyUnder(
      withTransaction(200, true, { reference: "UP-77", status: "processing", amount: 480 }),
    );
    expect(transaction).toMatchObject({
      status: "processing",
      upstream_reference: "UP-77",
      upstream_amount_kobo: 48_000,
    });
  });
});

describe("a definite refusal: failed and refunded in one write, then 502 delivery_failed", () => {
  const refused: readonly (readonly [string, Fault])[] = [
    ["400", refusal(400)],
    ["404", refusal(404)],
    [
      "404 with an HTML body",
      { kind: "custom", path, status: 404, headers: { "content-type": "text/html" }, body: html },
    ],
    ["400 without a body", { kind: "custom", path, status: 400, body: "" }],
    ["405", refusal(405)],
    ["413", { kind: "custom", path, status: 413, body: html }],
    ["415", refusal(415)],
    ["422 about something that is not the order's", refusal(422, "Invalid", { channel: ["Unknown"] })],
    ["status false in a 200", refusal(200, "The network refused")],
    ["a failed transaction in a 200", withTransaction(200, true, { reference: "U9", status: "failed" })],
    ["400 whose message merely mentions the reference", refusal(400, "Reference 8f14e45f: the number is barred")],
    [
      "a failed transaction beside words about the reference and a duplicate",
      customJson(200, {
        status: false,
        message: "Duplicate reference, still processing",
        data: { transaction: { reference: "U11", status: "failed" } },
      }),
    ],
    ["400 with a failed transaction", withTransaction(400, false, { reference: "U10", status: "failed" })],
  ];
  test.each(refused)("%s", async (_name, fault) => {
    const { caller, answer, transaction } = await buyUnder(fault);
    expect(answer.status).toBe(502);
    expect(answer.headers.get("x-error-code")).toBe("delivery_failed");
    expect(answer.headers.get("retry-after")).toBeNull();
    expect(transaction).toMatchObject({ status: "failed", failure: { code: "delivery_failed" } });
    expect(transaction?.open).toBeUndefined();
    expect(await caller.balance()).toBe(1_000);
  });

  test("422 about the phone number becomes our 422 with our words, refunded", async () => {
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

  test("422 about the plan becomes plan_unavailable, refunded", async () => {
    const { caller, answer } = await buyUnder(refusal(422, "Invalid", { plan_id: ["Gone"] }));
    expect(answer.headers.get("x-error-code")).toBe("plan_unavailable");
    expect(answer.body.message).toBe(
      "This data plan is not available; the amount was refunded. Another attempt needs a new reference",
    );
    expect(await caller.balance()).toBe(1_000);
  });

  test("a repeat gets the first answer again: status, code and message, without Retry-After", async () => {
    const { caller, answer, body } = await buyUnder(refusal(400));
    const orders = service.simulator.state.requests.length;
    const repeat = await service.call("POST", path, { key: caller.key, body });
    expect(repeat.status).toBe(502);
    expect(repeat.body).toEqual(answer.body);
    expect(repeat.headers.get("idempotent-replayed")).toBe("true");
    expect(repeat.headers.get("x-transaction-reference")).toBe(answer.headers.get("x-transaction-reference"));
    expect(service.simulator.state.requests.length).toBe(orders);
    expect(await caller.balance()).toBe(1_000);
  });
});

describe("trouble that is ours: 502 delivery_failed, refunded, none of the upstream's words", () => {
  const ours: readonly (readonly [string, Fault])[] = [
    ["401", { kind: "unauthorized", path }],
    ["403", refusal(403, "Your secret account")],
    ["429 with a long wait", { kind: "rate_limited", path, retry_after_s: 4 }],
    ["our balance there is empty, as a 400", refusal(400, "Insufficient wallet balance")],
    ["our balance there is empty, as status false", refusal(200, "Insufficient wallet balance")],
  ];
  test.each(ours)("%s", async (_name, fault) => {
    const { caller, answer, transaction } = await buyUnder(fault);
    expect(answer.status).toBe(502);
    expect(answer.headers.get("x-error-code")).toBe("delivery_failed");
    expect(answer.headers.get("x-transaction-reference")).not.toBeNull();
    expect(answer.headers.get("retry-after")).toBeNull();
    expect(JSON.stringify(answer.body)).not.toMatch(/secret|insufficient/i);
    expect(transaction).toMatchObject({ status: "failed", failure: { code: "delivery_failed" } });
    expect(await caller.balance()).toBe(1_000);
    // The limit that the upstream named must be over before the next case.
    if (fault.kind === "rate_limited") await new Promise((wake) => setTimeout(wake, fault.retry_after_s * 1_000));
  });

  test("429 with Retry-After 1 is repeated once, and then delivered", async () => {
    const { caller, answer } = await buyUnder({ kind: "rate_limited", path, retry_after_s: 1, times: 1 });
    expect(answer.body.data).toMatchObject({ transaction: { status: "success" } });
    expect(await caller.balance()).toBe(500);
  });

  test("while the upstream's limit is known to be exhausted: 503 with Retry-After, before any debit", async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    const limited: Fault = { kind: "rate_limited", path, retry_after_s: 4, times: 1 };
    service.simulator.state.faults.add(limited);
    await service.call("POST", path, { key: caller.key, body: anOrder() });
    const orders = service.simulator.state.requests.length;
    const answer = await service.call("POST", path, { key: caller.key, body: anOrder({ reference: "later" }) });
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(answer.headers.get("x-transaction-reference")).toBeNull();
    expect(service.simulator.state.requests.length).toBe(orders);
    expect(await caller.balance()).toBe(1_000);
    const found = await service.call("GET", "/transactions/later", { key: caller.key });
    expect(found.status).toBe(404);
    await new Promise((wake) => setTimeout(wake, 4_000));
  });
});
