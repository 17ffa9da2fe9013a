import { afterAll, beforeAll, expect, test } from "vitest";
import { OutcomeUnknown } from "../../shared/contract/errors.ts";
import { readTransaction } from "../../shared/ledger/find-transactions.ts";
import { pkOfReference } from "../../shared/ledger/transaction.ts";
import { placeOrder } from "../../shared/orders/place-order.ts";
import { deadlineIn } from "../../shared/platform/deadline.ts";
import { loadKeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { koboFromNaira } from "../../shared/platform/money.ts";
import { anOrder, BUY_DATA, startTestService, type TestService } from "../builders/service.ts";
import { emulatorClient } from "../builders/tables.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const isDebit = (call: { operation: string; body: string }): boolean =>
  call.operation === "TransactWriteItems" && call.body.includes("attribute_not_exists");

test("a debit that arrives after its 502 was answered is found and given back 60 s later; nothing went upstream", {
  timeout: 90_000,
}, async () => {
  const caller = await service.newCaller({ naira: 1_000 });
  const orders = service.simulator.state.requests.length;
  service.proxy.fault = (call) => {
    if (isDebit(call)) return "arrives_late";
    return call.operation === "GetItem" && call.body.includes("transaction#") ? "never_arrives" : undefined;
  };
  const answer = await service.call("POST", BUY_DATA, { key: caller.key, body: anOrder() });
  service.proxy.fault = () => undefined;
  expect(answer.status).toBe(502);
  expect(answer.headers.get("x-error-code")).toBe("delivery_failed");
  const pk = pkOfReference(answer.headers.get("x-transaction-reference") ?? "") ?? "";

  await new Promise((wake) => setTimeout(wake, 1_000));
  expect(await caller.balance()).toBe(500);
  expect(await readTransaction(service.ledger, pk)).toMatchObject({ status: "processing" });

  await expect.poll(() => caller.balance(), { timeout: 75_000, interval: 1_000 }).toBe(1_000);
  expect(await readTransaction(service.ledger, pk)).toMatchObject({ status: "failed" });
  expect(service.simulator.state.requests.length).toBe(orders);
});

test("when neither the debit nor the queue can be reached, no error of ours leaves: the invocation fails", async () => {
  const caller = await service.newCaller({ naira: 1_000 });
  const db = emulatorClient(service.proxy.endpoint);
  service.proxy.fault = () => "never_arrives";
  const keyedHashes = loadKeyedHashes({ value: async () => "k".repeat(32), refetch: async () => "k".repeat(32) });
  const placed = placeOrder(
    {
      ledger: { ...service.ledger, db },
      keyedHashes,
      outcomeQueue: { send: () => Promise.reject(new Error("SQS is away")) },
      purchases: "on",
    },
    {
      caller: { accountId: caller.accountId, keyId: "key_1", mode: "live" },
      type: "data",
      reference: "away",
      fields: [],
      quote: async () => ({ amountKobo: koboFromNaira(500), description: "A bundle" }),
      fulfil: () => Promise.reject(new Error("Nothing may be sent")),
    },
    deadlineIn(29_000),
  );
  await expect(placed).rejects.toBeInstanceOf(OutcomeUnknown);
  service.proxy.fault = () => undefined;
});
