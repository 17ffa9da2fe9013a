import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { koboSchema } from "../../../../shared/platform/money.ts";
import { newWebhookSecret, signatureHeaders, webhookId } from "../../../../shared/webhooks/signature.ts";
import { webhookBody } from "../../../../shared/webhooks/webhook-body.ts";
import { aTransaction } from "../../../builders/transaction.ts";

const body = webhookBody(aTransaction({ status: "success" }), "success");

test("the library of Standard Webhooks verifies what was signed, and refuses another body, id or secret", () => {
  const secret = newWebhookSecret();
  const headers = signatureHeaders({ id: "evt_1", atMs: Date.now(), body, secrets: [secret] });
  expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
  expect(() => new Webhook(secret).verify(body, { ...headers, "webhook-id": "evt_2" })).toThrow();
  expect(() => new Webhook(newWebhookSecret()).verify(body, headers)).toThrow();
});

test("during a rotation the old secret verifies as well as the new one", () => {
  const secrets = [newWebhookSecret(), newWebhookSecret()];
  const headers = signatureHeaders({ id: "evt_1", atMs: Date.now(), body, secrets });
  expect(headers["webhook-signature"]).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
  for (const secret of secrets) expect(() => new Webhook(secret).verify(body, headers)).not.toThrow();
});

test("a secret has 32 random bytes", () => {
  expect(newWebhookSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(newWebhookSecret()).not.toBe(newWebhookSecret());
});

test("an event's id is the same for every copy, and another for another reference or status", () => {
  expect(webhookId("DATA_1", "success")).toMatch(/^evt_[0-9a-f]{32}$/);
  expect(webhookId("DATA_1", "success")).toBe(webhookId("DATA_1", "success"));
  expect(
    new Set([webhookId("DATA_1", "success"), webhookId("DATA_2", "success"), webhookId("DATA_1", "failed")]).size,
  ).toBe(3);
});

test("the body has the fields of the interface, in the same bytes whatever else changed on the transaction", () => {
  const transaction = aTransaction({ status: "failed", amount_kobo: koboSchema.parse(500_50) });
  expect(webhookBody(transaction, "failed")).toBe(
    '{"event":"transaction.updated","data":{"reference":"DATA_0123456789ABCDEFGHJKMNPQRS","status":"failed","amount":500.5,' +
      '"type":"data","network":"MTN","phone_number":"08031234567","created_at":"2026-11-21T09:30:00.000Z"}}',
  );
  expect(
    webhookBody({ ...transaction, updated_at: "2026-11-22T00:00:00.000Z", upstream_reference: "up-1" }, "failed"),
  ).toBe(webhookBody(transaction, "failed"));
});

test("the network and phone number of an identity check are empty texts, for the interface types both as strings", () => {
  const { network: _network, phone_number: _phone, ...transaction } = aTransaction({ type: "nin_verification" });
  expect(JSON.parse(webhookBody(transaction, "success")).data).toMatchObject({
    reference: "VERIFY_0123456789ABCDEFGHJKMNPQRS",
    type: "nin_verification",
    network: "",
    phone_number: "",
  });
});
