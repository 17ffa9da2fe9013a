import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { newWebhookSecret, signedHeaders, webhookId } from "../../../../shared/webhooks/signature.ts";

const body = JSON.stringify({ event: "transaction.updated", data: { reference: "DATA_1" } });

test("the Standard Webhooks library verifies a signed body, and refuses another body, id or secret", () => {
  const secret = newWebhookSecret();
  const headers = signedHeaders({ id: "evt_1", atMs: Date.now(), body, secrets: [secret] });
  expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
  expect(() => new Webhook(secret).verify(body, { ...headers, "webhook-id": "evt_2" })).toThrow();
  expect(() => new Webhook(newWebhookSecret()).verify(body, headers)).toThrow();
});

test("during a rotation the old secret verifies as well as the new one", () => {
  const secrets = [newWebhookSecret(), newWebhookSecret()];
  const headers = signedHeaders({ id: "evt_1", atMs: Date.now(), body, secrets });
  expect(headers["webhook-signature"]).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
  for (const secret of secrets) expect(() => new Webhook(secret).verify(body, headers)).not.toThrow();
});

test("a new webhook secret has 32 random bytes", () => {
  expect(newWebhookSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(newWebhookSecret()).not.toBe(newWebhookSecret());
});

test("the webhook-id is the same for every copy of an event, and differs by reference and by status", () => {
  expect(webhookId("DATA_1", "success")).toMatch(/^evt_[0-9a-f]{32}$/);
  expect(webhookId("DATA_1", "success")).toBe(webhookId("DATA_1", "success"));
  expect(
    new Set([webhookId("DATA_1", "success"), webhookId("DATA_2", "success"), webhookId("DATA_1", "failed")]).size,
  ).toBe(3);
});

test("the example of docs/webhooks.md has its event's id, and is what the service signs with the secret below it", () => {
  const guide = readFileSync(new URL("../../../../docs/webhooks.md", import.meta.url), "utf8");
  const [example = ""] = /^POST [^`]+/m.exec(guide) ?? [];
  const [head = "", body = ""] = example.trim().split("\n\n");
  const [, ...lines] = head.split("\n");
  const headers = Object.fromEntries(lines.map((line) => line.split(": ", 2)));
  const [secret = ""] = /whsec_[\w+/]{43}=/.exec(guide) ?? [];
  const id = webhookId("DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ", "success");
  const atMs = Date.parse("2026-11-21T09:30:00.000Z");
  expect(signedHeaders({ id, atMs, body, secrets: [secret] })).toMatchObject(headers);
});
