import { randomUUID } from "node:crypto";
import { CreateTableCommand } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import type { WebhookHeaders } from "../../../../../client/src/index.ts";
import { newWebhookSecret, signedHeaders } from "../../../../../shared/webhooks/signature.ts";
import { testEventBody } from "../../../../../shared/webhooks/webhook-body.ts";
import { receiveWebhook } from "../../../../../tools/acceptance/simulator/receiver.ts";
import { receiver, receiverPk } from "../../../../../tools/acceptance/simulator/table.ts";
import { emulatorClient } from "../../../../builders/dynamodb/tables.ts";

const db = emulatorClient();
const TableName = `simulator-${randomUUID()}`;
await db.send(
  new CreateTableCommand({
    TableName,
    AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
    KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
    BillingMode: "PAY_PER_REQUEST",
  }),
);

const PHONE_NUMBER = "08031234567";
const body = JSON.stringify({
  event: "transaction.updated",
  data: { reference: "AIRTIME_1", status: "success", amount: 100, phone_number: PHONE_NUMBER },
});
const secret = newWebhookSecret();
const signed = (text = body, key = secret) =>
  signedHeaders({ id: "evt_1", atMs: Date.now(), body: text, secrets: [key] });

const aReceiver = async () => {
  const token = randomUUID();
  const Key = { pk: receiverPk(token) };
  await db.put({ TableName, Item: { ...Key, secret, received: [] } });
  return {
    receive: (text = body, headers: WebhookHeaders = signed(text)) =>
      receiveWebhook(db, TableName, { token, headers, body: text }),
    received: async () => receiver.parse((await db.get({ TableName, Key, ConsistentRead: true })).Item).received,
  };
};

test("the first webhook of an endpoint is refused, the next is taken, and of neither the phone number is kept", async () => {
  const { receive, received } = await aReceiver();
  expect([await receive(), await receive()]).toEqual([503, 200]);
  const kept = { webhook_id: "evt_1", reference: "AIRTIME_1", status: "success", fault: "", at_ms: expect.any(Number) };
  expect(await received()).toEqual([kept, kept]);
  expect(JSON.stringify(await received())).not.toContain(PHONE_NUMBER);
});

test.each([
  ["another secret", body, signed(body, newWebhookSecret()), "No signature matches"],
  ["another body", body.replace("100", "900"), signed(), "No signature matches"],
  ["no signature", body, { "webhook-id": "evt_1", "webhook-timestamp": "1" }, "webhook-signature is missing"],
])("a webhook with %s is refused with 401, and kept with the reason", async (_, text, headers, reason) => {
  const { receive, received } = await aReceiver();
  await receive();
  expect(await receive(text, headers)).toBe(401);
  expect((await received()).at(-1)).toMatchObject({ reference: "", fault: expect.stringContaining(reason) });
});

test("an event that is about no transaction is kept as a fault, and an unknown address is 404", async () => {
  const { receive, received } = await aReceiver();
  expect(await receive(testEventBody("acc_1", new Date().toISOString()))).toBe(401);
  expect(await received()).toMatchObject([{ webhook_id: "evt_1", fault: "The event is webhook.test" }]);
  expect(await receiveWebhook(db, TableName, { token: "other", headers: signed(), body })).toBe(404);
});
