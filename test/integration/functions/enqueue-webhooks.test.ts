import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { deliveryPk } from "../../../shared/ledger/schema.ts";
import { pkOfReference } from "../../../shared/ledger/transaction.ts";
import { openSqs } from "../../../shared/platform/aws/sdk.ts";
import { sleep, systemClock } from "../../../shared/platform/time.ts";
import { readDelivery } from "../../../shared/webhooks/delivery.ts";
import { deliveryQueue } from "../../../shared/webhooks/delivery-queue.ts";
import { setEndpoint } from "../../../shared/webhooks/endpoint.ts";
import { enqueueRange } from "../../../tools/admin/enqueue-range.ts";
import { eventually } from "../../builders/run/eventually.ts";
import { anOrder, BUY_DATA, serviceForTests, transactionOf } from "../../builders/service/service.ts";
import { aReceiver, ENDPOINT, LOOPBACK } from "../../builders/webhooks/endpoint.ts";
import { type Receiver, standardHeaders } from "../../builders/webhooks/receiver.ts";

/**
 * Goal: every settled transaction is delivered to its account's endpoint. Method: the whole service, with receivers on
 * loopback.
 */
const service = await serviceForTests({ announces: true });

/** A caller with an endpoint of its own. */
const aCallerWithEndpoint = async (...options: Parameters<typeof aReceiver>) => {
  const receiver = await aReceiver(...options);
  const caller = await service.newCaller();
  const { webhookSecret } = await setEndpoint(service.endpoints, LOOPBACK, caller.accountId, receiver.url);
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

test("an endpoint at the service's own host is never called", async () => {
  const caller = await service.newCaller();
  await setEndpoint(service.endpoints, LOOPBACK, caller.accountId, `${service.baseUrl}/wallet`);
  const { reference } = transactionOf(await buy(caller.key, "08031234567"));
  const delivery = { transaction_pk: pkOfReference(reference) ?? "", status: "success", endpoint: ENDPOINT } as const;
  const firstAttempt = async () => (await readDelivery(service.ledger, deliveryPk(delivery)))?.attempts[0];
  await eventually(async () => expect(await firstAttempt()).toMatchObject({ outcome: "address_refused" }));
});

test("a webhook that an operator sends again is the same event, once, and a cancelled order, which has none, has none then", async () => {
  const { caller, receiver, webhook } = await aCallerWithEndpoint();
  const fromMs = Date.now();
  const cancelled = { reference: "given-up", type: "data" };
  await service.call("POST", "/transactions/cancel", { key: caller.key, body: cancelled });
  await buy(caller.key, "08031234567");
  await arrived(receiver, 1);
  const queue = deliveryQueue(openSqs(), process.env.DELIVERY_QUEUE_URL ?? "");
  const range = { fromMs, toMs: systemClock(), resendId: "after-the-outage" };
  expect((await enqueueRange({ ledger: service.ledger, queue }, range)).enqueued).toBeGreaterThan(0);
  await arrived(receiver, 2);
  const [one, other] = receiver.received;
  expect([other?.headers.id, other?.body]).toEqual([one?.headers.id, one?.body]);
  expect(other && webhook.verify(other.body, standardHeaders(other))).toBeDefined();
  // The same resend id, or a range before the purchase, sends nothing.
  await enqueueRange({ ledger: service.ledger, queue }, range);
  await enqueueRange({ ledger: service.ledger, queue }, { fromMs: 0, toMs: fromMs - 1, resendId: "early" });
  await sleep(500);
  expect(receiver.received).toHaveLength(2);
});
