import { afterAll, expect, test } from "vitest";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { transactionIdOf } from "../../../../shared/ledger/schema.ts";
import { pkOfReference } from "../../../../shared/ledger/transaction.ts";
import { budgets } from "../../../../tools/costs/budgets.ts";
import { accessesOf } from "../../../../tools/scale/load-model.ts";
import { writeUnits } from "../../../../tools/scale/usage.ts";
import type { DynamoDbProxy } from "../../../builders/dynamodb/dynamodb-proxy.ts";
import { capacityOf, observe } from "../../../builders/dynamodb/observe.ts";
import { anOrder, BUY_DATA, startTestService, transactionOf } from "../../../builders/service/service.ts";
import { startReceiver } from "../../../builders/webhooks/receiver.ts";
import { aWebhookChange } from "../../../builders/webhooks/webhook-message.ts";

/** Goal: where a purchase and its webhook consume write units. Method: they are counted on the wire, by index. */
const service = await startTestService();
afterAll(() => service.stop());

type Calls = DynamoDbProxy["calls"];

const indexUnitsOf = (calls: Calls, index: string): number =>
  calls
    .filter(({ operation }) => operation !== "Query")
    .reduce((sum, { unitsByIndex }) => sum + (unitsByIndex[index] ?? 0), 0);

test("a live purchase writes to the key's item, the ledger table and its indexes as docs/scale.md counts", async () => {
  const { key, accountId } = await service.newCaller();
  let debitBody = "";
  service.proxy.fault = ({ operation, body }) => {
    if (operation === "TransactWriteItems") debitBody = body;
    return undefined;
  };
  const { calls, result } = await observe(service.proxy, 1, () =>
    service.call("POST", BUY_DATA, { key, body: anOrder() }),
  );
  const [admission, ...ledgerCalls] = calls.filter(({ operation }) => operation !== "GetItem");
  expect(admission?.tableUnits).toBe(writeUnits.access);
  expect(capacityOf(ledgerCalls).tableWriteUnits).toBe(writeUnits.ledger - budgets.webhook.writeUnits.tables);
  const debit = ledgerCalls.find(({ operation }) => operation === "TransactWriteItems");
  expect(debit?.tableUnits).toBe(2 * writeUnits.wallet);
  expect(indexUnitsOf(calls, "by_list")).toBe(writeUnits.by_list.transaction);
  expect(indexUnitsOf(calls, "by_open")).toBe(writeUnits.by_open);
  expect(indexUnitsOf(calls, "by_upstream_reference")).toBe(writeUnits.by_upstream_reference);
  expect(indexUnitsOf(calls, "by_phone")).toBe(writeUnits.by_phone);
  // The keys of the load model are those of the debit's items.
  const stored = await readTransaction(service.ledger, pkOfReference(transactionOf(result).reference) ?? "");
  const { upstream_reference: upstreamReference = "", phone_key: phoneKey = "" } = stored ?? {};
  const transactionId = transactionIdOf({ pk: stored?.pk ?? "" });
  const [opening = []] = accessesOf({ accountId, keyHash: "", transactionId, upstreamReference, phoneKey });
  for (const { place, key: modelKey } of opening) if (place !== "access") expect(debitBody).toContain(`"${modelKey}"`);
});

test("a webhook writes to the ledger table and the index by_list as docs/scale.md counts", async () => {
  const receiver = await startReceiver();
  const enqueue = await aWebhookChange(service, receiver.url);
  const { calls } = await observe(service.proxy, budgets.webhook.log.events.length, enqueue);
  expect(capacityOf(calls).tableWriteUnits).toBe(budgets.webhook.writeUnits.tables);
  expect(indexUnitsOf(calls, "by_list")).toBe(writeUnits.by_list.delivery);
  await receiver.stop();
});
