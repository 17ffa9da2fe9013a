import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, test, vi } from "vitest";
import * as z from "#zod";
import { verifyWebhook, WebhookVerificationError } from "../../../../client/src/index.ts";

const secret = `whsec_${randomBytes(32).toString("base64")}`;
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
const signed = (text: string) => {
  const sentAt = new Date();
  return {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(Math.floor(sentAt.getTime() / 1_000)),
    "webhook-signature": new Webhook(secret).sign("evt_1", sentAt, text),
  };
};

/** What the clients of all languages are tested with. */
const { cases } = z
  .object({
    cases: z.array(
      z.object({
        name: z.string(),
        secret: z.string(),
        id: z.nullable(z.string()),
        timestamp: z.nullable(z.string()),
        signature: z.nullable(z.string()),
        body: z.string(),
        now: z.int(),
        valid: z.boolean(),
        event: z.optional(z.string()),
        known: z.optional(z.boolean()),
        reason: z.optional(z.enum(["timestamp", "signature", "missing_header", "body", "secret"])),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync("client/vectors/webhooks.json", "utf8")));
const messages = {
  timestamp: "within 5 minutes",
  signature: "No signature matches",
  missing_header: "is missing",
  body: "not an event",
  secret: "whsec_... secret",
};
afterEach(() => vi.useRealTimers());

test("each webhook of the interface has a test vector with an event that the client knows", () => {
  const { webhooks } = z
    .object({ webhooks: z.record(z.string(), z.unknown()) })
    .parse(JSON.parse(readFileSync("docs/openapi.json", "utf8")));
  const known = cases.flatMap(({ event, known }) => (known === true && event !== undefined ? [event] : []));
  expect(Object.keys(webhooks).filter((name) => !known.includes(name))).toEqual([]);
});

describe("verifyWebhook", () => {
  test.each(cases)("judges the test vector as it says: $name", async (vector) => {
    vi.useFakeTimers({ now: vector.now * 1_000, toFake: ["Date"] });
    const received = {
      "webhook-id": vector.id ?? undefined,
      "webhook-timestamp": vector.timestamp ?? undefined,
      "webhook-signature": vector.signature ?? undefined,
    };
    const verified = verifyWebhook(received, vector.body, vector.secret);
    if (vector.valid) {
      const event = vector.known ? vector.event : "other";
      await expect(verified).resolves.toMatchObject({ id: vector.id, name: vector.event, event });
    } else {
      await expect(verified).rejects.toThrow(messages[vector.reason ?? "body"]);
      await expect(verified).rejects.toBeInstanceOf(vector.reason === "secret" ? TypeError : WebhookVerificationError);
    }
  });

  // It takes each text for a secret, and each JSON for an event.
  const ofLibrary = cases.filter(
    ({ secret: given, reason = "" }) => given === given.trim() && !["body", "secret"].includes(reason),
  );
  test.each(ofLibrary)("agrees with the library of Standard Webhooks on the test vector: $name", (vector) => {
    vi.useFakeTimers({ now: vector.now * 1_000, toFake: ["Date"] });
    const received = {
      "webhook-id": vector.id ?? "",
      "webhook-timestamp": vector.timestamp ?? "",
      "webhook-signature": vector.signature ?? "",
    };
    const verify = (): unknown => new Webhook(vector.secret).verify(vector.body, received);
    if (vector.valid) expect(verify()).toMatchObject({ event: vector.event });
    else expect(verify).toThrow();
  });

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

  test("throws a TypeError for a parsed body and for a secret of another form", async () => {
    const parsed: unknown = JSON.parse(body);
    const headers = signed(body);
    const call = (received: unknown) => Reflect.apply(verifyWebhook, undefined, [headers, received, secret]);
    await expect(call(parsed)).rejects.toThrow("not parsed JSON");
    await expect(verifyWebhook(headers, body, "")).rejects.toThrow("whsec_");
  });
});
