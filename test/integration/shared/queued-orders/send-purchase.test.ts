import { afterEach, expect, test } from "vitest";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { pkOfReference } from "../../../../shared/ledger/transaction.ts";
import type { Fault } from "../../../../tools/simulator/faults.ts";
import { anOrder, BUY_DATA as path, serviceForTests } from "../../../builders/service.ts";

/**
 * Goal: caller, wallet and transaction agree on the outcome of an order, for each kind of outcome.
 * test/unit/shared/upstream/classify.test.ts has every answer of the upstream and what kind it is, and
 * test/integration/shared/upstream/http-upstream.test.ts each way over the wire.
 */
const service = await serviceForTests();
afterEach(() => service.simulator.state.faults.clear());

const REFUSAL = JSON.stringify({ status: false, message: "The secret network refused" });
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

const unknown: readonly (readonly [string, Fault])[] = [
  ["drops the connection after it accepted the order", { kind: "drop_after_order", path }],
  ["answers 403 with a page after the order", { kind: "custom", path, status: 403, body: "<html>", takes_order: true }],
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

const failed: readonly (readonly [string, Fault])[] = [
  ["answers 400", { kind: "custom", path, status: 400, body: REFUSAL }],
  ["rejects our key", { kind: "status", status: 401, path }],
];
test.each(failed)(
  "a purchase whose upstream %s is refunded and answered 502 delivery_failed without the upstream's words",
  async (_name, fault) => {
    const { caller, answer, transaction } = await buyUnder(fault);
    expect(answer.status).toBe(502);
    expect(answer.headers.get("x-error-code")).toBe("delivery_failed");
    expect(answer.headers.get("x-transaction-reference")).not.toBeNull();
    expect(answer.headers.get("retry-after")).toBeNull();
    expect(JSON.stringify(answer.body)).not.toContain("secret");
    expect(transaction).toMatchObject({ status: "failed", failure: { code: "delivery_failed" } });
    expect(transaction?.open).toBeUndefined();
    expect(await caller.balance()).toBe(1_000);
  },
);
