import type { ServerResponse } from "node:http";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openSqs } from "../../../shared/platform/aws/sdk.ts";
import { parseIpRanges } from "../../../shared/platform/ip-range.ts";
import { sleep, systemClock } from "../../../shared/platform/time.ts";
import { type AddressRules, systemResolve } from "../../../shared/webhooks/address-guard.ts";
import { deliveryQueue } from "../../../shared/webhooks/delivery-queue.ts";
import { type EndpointStore, rotateWebhookSecret, setEndpoint } from "../../../shared/webhooks/endpoint.ts";
import { enqueueRange } from "../../../tools/admin/enqueue-range.ts";
import { firstEndpoint } from "../../builders/endpoint.ts";
import { eventually } from "../../builders/eventually.ts";
import { type Receiver, standardHeaders, startReceiver } from "../../builders/receiver.ts";
import { anOrder, BUY_DATA, startTestService, type TestService, transactionOf } from "../../builders/service.ts";

/**
 * Goal: every settled transaction is delivered to its account's endpoint. Method: the whole service, with receivers on
 * loopback.
 */
let service: TestService;
let endpoints: EndpointStore;
const rules: AddressRules = {
  allowed: parseIpRanges("127.0.0.0/8"),
  refusedHosts: [],
  resolve: systemResolve,
};

beforeAll(async () => {
  service = await startTestService({ announces: true });
  endpoints = service.endpoints;
});
afterAll(() => service.stop());

const receivers: Receiver[] = [];
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.stop();
});

/** A caller with an endpoint of its own. */
const aCallerWithEndpoint = async (...options: Parameters<typeof startReceiver>) => {
  const receiver = await startReceiver(...options);
  receivers.push(receiver);
  const caller = await service.newCaller();
  const { webhookSecret } = await setEndpoint(endpoints, rules, caller.accountId, receiver.url);
  return { caller, receiver, webhook: new Webhook(webhookSecret) };
};

const buy = (key: string, phoneNumber: string, changes = {}) =>
  service.call("POST", BUY_DATA, { key, body: anOrder({ phone_number: phoneNumber, ...changes }) });

const arrived = (receiver: Receiver, count: number) => eventually(() => expect(receiver.received).toHaveLength(count));

test("a delivered purchase has one signed webhook with the fields of the interface", async () => {
  const { caller, receiver, webhook } = await aCallerWithEndpoint();
  const { reference } = transactionOf(await buy(caller.key, "08031234567"));
  await arrived(receiver, 1);
  const [event] = receiver.received;
  expect(event && webhook.verify(event.body, standardHeaders(event))).toEqual({
    event: "transaction.updated",
    data: {
      reference,
      status: "success",
      amount: 500,
      type: "data",
      network: "MTN",
      phone_number: "08031234567",
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    },
  });
  await sleep(600);
  expect(receiver.received).toHaveLength(1);
});

test("a refused purchase has a webhook of status failed", async () => {
  const { caller, receiver, webhook } = await aCallerWithEndpoint();
  const response = await buy(await caller.newKey({ mode: "test" }), "08000000001");
  expect(response.status).toBe(502);
  await arrived(receiver, 1);
  const [event] = receiver.received;
  expect(event && webhook.verify(event.body, standardHeaders(event))).toMatchObject({
    data: { reference: response.headers.get("x-transaction-reference"), status: "failed" },
  });
});

test.each([
  ["08000000002", "success", 9_500],
  ["08000000003", "failed", 10_000],
])(
  "a live purchase for %s is processing, then %s by the upstream's event about 5 s later, and has one webhook",
  async (phoneNumber, status, balance) => {
    const { caller, receiver, webhook } = await aCallerWithEndpoint();
    const startMs = Date.now();
    const { reference, ...transaction } = transactionOf(await buy(caller.key, phoneNumber));
    expect(transaction.status).toBe("processing");
    expect(await caller.balance()).toBe(9_500);
    await eventually(() => expect(receiver.received).toHaveLength(1));
    expect(Date.now() - startMs).toBeGreaterThan(4_500);
    const [event] = receiver.received;
    expect(event && webhook.verify(event.body, standardHeaders(event))).toMatchObject({ data: { reference, status } });
    expect(await caller.balance()).toBe(balance);
    await sleep(1_000);
    expect(receiver.received).toHaveLength(1);
    expect(await caller.balance()).toBe(balance);
  },
);

test("a test purchase for 08000000008 has two webhooks with the same webhook-id and body", async () => {
  const { caller, receiver } = await aCallerWithEndpoint();
  await buy(await caller.newKey({ mode: "test" }), "08000000008");
  await arrived(receiver, 2);
  const [one, other] = receiver.received;
  expect(one?.headers.id).toMatch(/^evt_/);
  expect(other?.headers.id).toBe(one?.headers.id);
  expect(other?.body).toBe(one?.body);
  await sleep(500);
  expect(receiver.received).toHaveLength(2);
});

test("a webhook that got 500 is sent again after 5 s, with the same webhook-id and body", async () => {
  const { caller, receiver, webhook } = await aCallerWithEndpoint(
    (response, count) => void response.writeHead(count === 1 ? 500 : 204).end(),
  );
  await buy(caller.key, "08031234567");
  await eventually(() => expect(receiver.received).toHaveLength(2));
  const [first, second] = receiver.received;
  expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(4_900);
  expect(second?.headers.id).toBe(first?.headers.id);
  expect(second?.body).toBe(first?.body);
  expect(second && webhook.verify(second.body, standardHeaders(second))).toBeDefined();
});

test("an endpoint that hangs does not delay the webhooks of another account", async () => {
  const hanging: ServerResponse[] = [];
  const slow = await aCallerWithEndpoint((response) => void hanging.push(response));
  const healthy = await aCallerWithEndpoint();
  for (let count = 0; count < 5; count += 1) await buy(slow.caller.key, "08031234567");
  await arrived(slow.receiver, 5);
  await buy(healthy.caller.key, "08031234567");
  await arrived(healthy.receiver, 1);
  // The function still waits for the others.
  expect(hanging.map(({ destroyed }) => destroyed)).toEqual(Array(5).fill(false));
});

test("during a rotation both secrets verify, and a webhook that an operator sends again is the same event", async () => {
  const { caller, receiver, webhook } = await aCallerWithEndpoint();
  const beforeMs = Date.now();
  await buy(caller.key, "08031234567");
  await arrived(receiver, 1);
  const { webhookSecret } = await rotateWebhookSecret(endpoints, firstEndpoint(caller.accountId));

  const queue = deliveryQueue(openSqs(), process.env.DELIVERY_QUEUE_URL ?? "");
  const range = { fromMs: beforeMs, toMs: systemClock(), resendId: "after-the-outage" };
  expect((await enqueueRange({ ledger: service.ledger, queue }, range)).enqueued).toBeGreaterThan(0);
  await arrived(receiver, 2);
  const [one, other] = receiver.received;
  expect([other?.headers.id, other?.body]).toEqual([one?.headers.id, one?.body]);
  for (const verifier of [webhook, new Webhook(webhookSecret)]) {
    expect(other && verifier.verify(other.body, standardHeaders(other))).toBeDefined();
  }
  // The same resend id, or a range before the purchase, sends nothing.
  await enqueueRange({ ledger: service.ledger, queue }, range);
  await enqueueRange({ ledger: service.ledger, queue }, { fromMs: 0, toMs: beforeMs - 1, resendId: "early" });
  await sleep(500);
  expect(receiver.received).toHaveLength(2);
});

test("a cancelled order, which has no webhook, has none either when an operator sends all of a time again", async () => {
  const { caller, receiver } = await aCallerWithEndpoint();
  const fromMs = Date.now();
  await service.call("POST", "/transactions/cancel", {
    key: caller.key,
    body: { reference: "given-up", type: "data" },
  });
  const { reference } = transactionOf(await buy(caller.key, "08031234567"));
  await arrived(receiver, 1);
  const queue = deliveryQueue(openSqs(), process.env.DELIVERY_QUEUE_URL ?? "");
  await enqueueRange({ ledger: service.ledger, queue }, { fromMs, toMs: systemClock(), resendId: "all-again" });
  await arrived(receiver, 2);
  await sleep(500);
  for (const { body } of receiver.received) expect(JSON.parse(body)).toMatchObject({ data: { reference } });
});
