import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { MINUTE_MS } from "../../shared/contract/values/durations.ts";
import { readTransaction } from "../../shared/ledger/find-transactions.ts";
import { pkOfReference } from "../../shared/ledger/transaction.ts";
import {
  type Answer,
  anOrder,
  BUY_DATA,
  startTestService,
  type TestService,
} from "../../test/builders/service/service.ts";

/** Goal: what the other tests see under a clock that they advance also holds in real time, on the local runner. */
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterEach(() => {
  service.proxy.fault = () => undefined;
});
afterAll(() => service.stop());

const pkOf = ({ headers }: Answer): string => pkOfReference(headers.get("x-transaction-reference") ?? "") ?? "";
const buy = (key: string, changes: Readonly<Record<string, unknown>> = {}): Promise<Answer> =>
  service.call("POST", BUY_DATA, { key, body: anOrder(changes) });

test("a debit that arrives after its purchase was answered 502 is refunded 60 s later, and nothing goes upstream", {
  timeout: 90_000,
}, async () => {
  const caller = await service.newCaller({ naira: 1_000 });
  const orders = service.simulator.state.requests.length;
  service.proxy.fault = ({ operation, body }) => {
    if (operation === "TransactWriteItems" && body.includes("attribute_not_exists(pk)")) return "lands_late";
    return operation === "PutItem" && body.includes("transaction#") ? "never_arrives" : undefined;
  };
  const answer = await buy(caller.key);
  service.proxy.fault = () => undefined;
  expect(answer.status).toBe(502);
  expect(answer.headers.get("x-error-code")).toBe("delivery_failed");

  await new Promise((wake) => setTimeout(wake, 1_000));
  expect(await caller.balance()).toBe(500);
  expect(await readTransaction(service.ledger, pkOf(answer))).toMatchObject({ status: "processing" });

  await expect.poll(() => caller.balance(), { timeout: 75_000, interval: 1_000 }).toBe(1_000);
  expect(await readTransaction(service.ledger, pkOf(answer))).toMatchObject({ status: "failed" });
  expect(service.simulator.state.requests.length).toBe(orders);
});

test("an outcome that cannot be written before the deadline is answered processing, and written from the outcomes queue", {
  timeout: MINUTE_MS,
}, async () => {
  const caller = await service.newCaller({ naira: 1_000 });
  service.proxy.fault = ({ operation, body }) =>
    operation === "UpdateItem" && body.includes("transaction#") ? "throttled" : undefined;
  const answer = await buy(caller.key);
  service.proxy.fault = () => undefined;
  expect(answer.body.data).toMatchObject({ transaction: { status: "processing" } });
  const storedStatus = async () => (await readTransaction(service.ledger, pkOf(answer)))?.status;
  await expect.poll(storedStatus, { timeout: 20_000, interval: 250 }).toBe("success");
  expect(await caller.balance()).toBe(500);
});

test("a purchase whose upstream does not answer within 20 s is answered processing, was sent once and stays debited", {
  timeout: MINUTE_MS,
}, async () => {
  const caller = await service.newCaller({ naira: 1_000 });
  const orders = service.simulator.state.purchases.length;
  const begunMs = Date.now();
  const answer = await buy(caller.key, { phone_number: "08000000007" });
  expect(Date.now() - begunMs).toBeLessThan(23_000);
  expect(answer.body.data).toMatchObject({ transaction: { status: "processing" } });
  expect(await caller.balance()).toBe(500);
  expect(service.simulator.state.purchases.length).toBe(orders + 1);
});
