import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { verifyWebhook, WebhookVerificationError } from "../../../../client/src/index.ts";

const secret = `whsec_${randomBytes(32).toString("base64")}`;
const otherSecret = `whsec_${randomBytes(32).toString("base64")}`;
const body = JSON.stringify({
  event: "transaction.updated",
  data: {
    reference: "DATA_1",
    status: "success",
    amount: 500,
    type: "data",
    network: "MTN",
    phone_number: "08031234567",
    created_at: "2026-11-21T09:30:00.000Z",
  },
});

/** The headers of a webhook, signed by the reference library of Standard Webhooks. */
const signed = (text: string, ageS = 0, ...secrets: readonly string[]) => {
  const sentAt = new Date(Date.now() - ageS * 1_000);
  const signatures = (secrets.length > 0 ? secrets : [secret]).map((each) =>
    new Webhook(each).sign("evt_1", sentAt, text),
  );
  return {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(Math.floor(sentAt.getTime() / 1_000)),
    "webhook-signature": signatures.join(" "),
  };
};

describe("verifyWebhook", () => {
  test("returns the event of a body signed by another implementation, with its fields in camel case", async () => {
    await expect(verifyWebhook(signed(body), body, secret)).resolves.toEqual({
      id: "evt_1",
      sentAt: expect.any(Date),
      name: "transaction.updated",
      event: "transaction.updated",
      data: {
        reference: "DATA_1",
        status: "success",
        amount: 500,
        type: "data",
        network: "MTN",
        phoneNumber: "08031234567",
        createdAt: "2026-11-21T09:30:00.000Z",
      },
    });
  });

  test("takes the headers of fetch, Node.js and Lambda, and the body as text or bytes", async () => {
    const headers = signed(body);
    const capitalised = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    for (const each of [headers, new Headers(headers), capitalised, lists]) {
      await expect(verifyWebhook(each, body, secret)).resolves.toMatchObject({ id: "evt_1" });
      await expect(verifyWebhook(each, Buffer.from(body), secret)).resolves.toMatchObject({ id: "evt_1" });
    }
  });

  test.each([
    ["the new secret", secret],
    ["the old one", otherSecret],
  ])("accepts two signatures during a rotation: %s", async (_, used) => {
    await expect(verifyWebhook(signed(body, 0, secret, otherSecret), body, used)).resolves.toMatchObject({
      id: "evt_1",
    });
  });

  test("passes events that it does not know, by their name", async () => {
    const text = JSON.stringify({ event: "wallet.closed", data: { low_balance_threshold: 5_000 } });
    await expect(verifyWebhook(signed(text), text, secret)).resolves.toMatchObject({
      event: "other",
      name: "wallet.closed",
      data: { lowBalanceThreshold: 5_000 },
    });
    const operators = JSON.stringify({ event: "webhook.test", data: { account_id: "acc_1", created_at: "" } });
    await expect(verifyWebhook(signed(operators), operators, secret)).resolves.toMatchObject({
      event: "webhook.test",
      data: { accountId: "acc_1" },
    });
  });

  test("identifies an event by its signed header, also if a later release adds an id to the body", async () => {
    const text = JSON.stringify({ ...JSON.parse(body), id: "other", name: "other" });
    await expect(verifyWebhook(signed(text), text, secret)).resolves.toMatchObject({
      id: "evt_1",
      name: "transaction.updated",
    });
  });

  test("returns the events that an account asked for with the types of their fields", async () => {
    const low = JSON.stringify({
      event: "wallet.low",
      data: { account_id: "acc_1", balance: 4_500, threshold: 5_000 },
    });
    const near = JSON.stringify({ event: "limit.near", data: { key_id: "key_1", limit: "day_orders", max: 5 } });
    const changed = JSON.stringify({ event: "catalog.updated", data: { plans_repriced: [{ previous_price: 500 }] } });
    const events = await Promise.all([low, near, changed].map((text) => verifyWebhook(signed(text), text, secret)));
    for (const event of events) {
      if (event.event === "wallet.low") expect(event.data.threshold).toBe(5_000);
      else if (event.event === "limit.near") expect([event.data.keyId, event.data.max]).toEqual(["key_1", 5]);
      else if (event.event === "catalog.updated") expect(event.data.plansRepriced[0]?.previousPrice).toBe(500);
      else throw new Error(`${event.name} is not known`);
    }
  });

  test.each([299, -299])("accepts a timestamp %i s ago", async (ageS) => {
    await expect(verifyWebhook(signed(body, ageS), body, secret)).resolves.toMatchObject({ id: "evt_1" });
  });

  test.each([302, -302])("refuses a timestamp %i s ago", async (ageS) => {
    await expect(verifyWebhook(signed(body, ageS), body, secret)).rejects.toThrow("within 5 minutes");
  });

  const headers = signed(body);
  test.each([
    ["another secret", headers, body, otherSecret],
    ["a changed body", headers, body.replace("500", "900"), secret],
    ["another id", { ...headers, "webhook-id": "evt_2" }, body, secret],
    [
      "a later timestamp",
      { ...headers, "webhook-timestamp": String(Number(headers["webhook-timestamp"]) + 1) },
      body,
      secret,
    ],
    [
      "another version",
      { ...headers, "webhook-signature": headers["webhook-signature"].replace("v1,", "v2,") },
      body,
      secret,
    ],
    ["no Base64", { ...headers, "webhook-signature": "v1,*" }, body, secret],
    ["an empty signature", { ...headers, "webhook-signature": "v1," }, body, secret],
    ["a missing id", { ...headers, "webhook-id": undefined }, body, secret],
    ["a missing signature", { ...headers, "webhook-signature": "" }, body, secret],
    ["a timestamp that is no number", { ...headers, "webhook-timestamp": "1e9" }, body, secret],
  ])("refuses %s", async (_, sent, text, used) => {
    await expect(verifyWebhook(sent, text, used)).rejects.toBeInstanceOf(WebhookVerificationError);
  });

  test.each(["not JSON", "[]", '{"event":1,"data":{}}', '{"event":"transaction.updated"}'])(
    "refuses a signed body that is not an event: %s",
    async (text) => {
      await expect(verifyWebhook(signed(text), text, secret)).rejects.toBeInstanceOf(WebhookVerificationError);
    },
  );

  test("throws a TypeError for a parsed body and for a secret of another form", async () => {
    const parsed: unknown = JSON.parse(body);
    const call = (received: unknown) => Reflect.apply(verifyWebhook, undefined, [headers, received, secret]);
    await expect(call(parsed)).rejects.toThrow("not parsed JSON");
    await expect(verifyWebhook(headers, body, "")).rejects.toThrow("whsec_");
  });
});
