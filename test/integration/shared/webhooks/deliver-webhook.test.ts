import { Webhook } from "standardwebhooks";
import { beforeEach, expect, test, vi } from "vitest";
import { type AccountStore, findAccount } from "../../../../shared/access/account-store.ts";
import { createAccount } from "../../../../shared/access/accounts.ts";
import { HOUR_MS, MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { queueHandler } from "../../../../shared/lambda/queue-handler.ts";
import { deliveriesList, deliveryPk } from "../../../../shared/ledger/schema.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { deliverWebhook } from "../../../../shared/webhooks/deliver-webhook.ts";
import {
  deliverySchema,
  messageOf,
  readDelivery,
  recordPk,
  withoutAnswer,
} from "../../../../shared/webhooks/delivery.ts";
import {
  type DeliveryMessage,
  deliveryMessage,
  namesInDelivery,
  UNKNOWN_ENDPOINT,
} from "../../../../shared/webhooks/delivery-queue.ts";
import {
  addEndpoint,
  disableEndpoint,
  type EndpointStore,
  enableEndpoint,
  removeEndpoint,
  requireEndpoint,
  setEndpoint,
} from "../../../../shared/webhooks/endpoint.ts";
import { type HealthObservation, recordEndpointHealth } from "../../../../shared/webhooks/endpoint-health.ts";
import { readParkedEndpoint } from "../../../../shared/webhooks/parked-endpoint.ts";
import { createPost } from "../../../../shared/webhooks/post-webhook.ts";
import { accountEventId } from "../../../../shared/webhooks/webhook-event.ts";
import { aLambdaContext } from "../../../builders/aws/lambda-context.ts";
import { proxyForTests } from "../../../builders/dynamodb/proxy-for-tests.ts";
import { emulatorClient, freshTables } from "../../../builders/dynamodb/tables.ts";
import { aSecret } from "../../../builders/ledger/secrets.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { eventually } from "../../../builders/run/eventually.ts";
import { aReceiver, ENDPOINT, firstEndpoint, LOOPBACK as rules } from "../../../builders/webhooks/endpoint.ts";
import { standardHeaders } from "../../../builders/webhooks/receiver.ts";

/**
 * Goal: every attempt to deliver a webhook is recorded and followed by the right next step. Method: the function's
 * handler with receivers on loopback, a clock that the test moves, and a spy instead of the queue.
 */
const tables = await freshTables();

const proxy = await proxyForTests();

const NOON = Date.parse("2026-11-21T12:00:00.000Z");
let nowMs = NOON;
beforeEach(() => {
  nowMs = NOON;
});

const KEY = "a sealing key of thirty-two or more characters";
const webhookSealingKey = aSecret(KEY);
let transactions = 0;

/** A settled transaction of an account with an endpoint, and the function that delivers its webhook. */
const aSettlement = async (
  url: string,
  { db = tables.db, changes = {} }: { db?: typeof tables.db; changes?: Parameters<typeof aTransaction>[0] } = {},
) => {
  const clock = () => nowMs;
  const accounts: AccountStore = { ...tables, clock };
  const endpoints: EndpointStore = { accounts, webhookSealingKey, clock };
  const ledger = { db: tables.db, table: tables.ledgerTable, clock };
  const { account_id } = await createAccount(accounts, { name: "app", whitelist: [] });
  const { webhookSecret } = await setEndpoint(endpoints, rules, account_id, url);
  transactions += 1;
  const pk = `transaction#${String(transactions).padStart(26, "0")}`;
  const { open: _open, ...transaction } = aTransaction({
    pk,
    account_id,
    list_key: `${account_id}#live`,
    status: "success",
    ...changes,
  });
  await tables.db.put({ TableName: tables.ledgerTable, Item: transaction });

  const message = { event: "transaction.updated", transaction_pk: pk, status: "success", endpoint: ENDPOINT } as const;
  const postpone = vi.fn(async (_handle: string, _after_s: number) => {});
  const deps = { ledger: { ...ledger, db }, endpoints, post: createPost(rules), random: () => 0.5 };
  const handler = queueHandler(deliveryMessage, namesInDelivery, deliverWebhook(deps), postpone);
  const deliver = async (changes: Partial<DeliveryMessage> = {}): Promise<"done" | "retry"> => {
    const record = { messageId: "m1", receiptHandle: "r1", body: JSON.stringify({ ...message, ...changes }) };
    const { batchItemFailures } = await handler({ Records: [record] }, aLambdaContext());
    return batchItemFailures.length === 0 ? "done" : "retry";
  };
  const readRecord = (of: DeliveryMessage) => readDelivery(ledger, recordPk(of));
  const delivery = () => readRecord(message);
  const endpoint = () => requireEndpoint(endpoints, account_id);
  const observe = async (...observations: readonly HealthObservation[]): Promise<void> => {
    const about = { ...firstEndpoint(account_id), generation: (await endpoint()).generation };
    for (const observation of observations) await recordEndpointHealth(ledger, about, observation);
  };
  const fail = (...events: readonly string[]) =>
    observe(...events.map((event) => ({ kind: "failing", since: isoTime(nowMs), event }) as const));
  const succeed = () => observe({ kind: "working" });
  const nextRequeue = async () => (await readParkedEndpoint(ledger, firstEndpoint(account_id)))?.listed_at;
  return {
    ...{ account_id, accounts, endpoints, webhookSecret, message },
    ...{ handler, deliver, delivery, readRecord, endpoint, postpone, fail, succeed, nextRequeue },
  };
};

const answering = (...statuses: readonly number[]) =>
  aReceiver((response, count) => void response.writeHead(statuses[count - 1] ?? statuses.at(-1) ?? 200).end());

/** The same, whose endpoint answers so. */
const aSettlementFor = async (...statuses: readonly number[]) => {
  const receiver = await answering(...statuses);
  return { receiver, ...(await aSettlement(receiver.url)) };
};

test("after 500 and 500 the webhook is retried with delays and jitter, after 200 it is delivered, and every attempt is recorded", async () => {
  const receiver = await answering(500, 500, 200);
  const { deliver, delivery, endpoint, postpone, nextRequeue, webhookSecret } = await aSettlement(receiver.url);

  expect(await deliver()).toBe("retry");
  expect(await delivery()).toMatchObject({ state: "pending", next_attempt_at: isoTime(NOON + 5_250) });
  expect((await endpoint()).failing?.since).toBe(isoTime(NOON));
  nowMs += 5_250;
  expect(await deliver()).toBe("retry");
  expect((await endpoint()).failing?.since).toBe(isoTime(NOON));
  nowMs += 63_000;
  expect(await deliver()).toBe("done");

  expect(postpone.mock.calls).toEqual([
    ["r1", 5.25],
    ["r1", 63],
  ]);
  const record = await delivery();
  expect(record).toMatchObject({
    state: "delivered",
    webhook_id: receiver.received[0]?.headers.id,
    attempts: [
      { number: 1, at: isoTime(NOON), outcome: "status", http_status: 500, answer_bytes: 0 },
      { number: 2, at: isoTime(NOON + 5_250), outcome: "status", http_status: 500 },
      { number: 3, at: isoTime(NOON + 68_250), outcome: "delivered", http_status: 200 },
    ],
  });
  expect(record).not.toHaveProperty("next_attempt_at");
  expect(record?.attempts.map(({ response_headers }) => response_headers !== undefined)).toEqual([true, true, false]);
  expect(await nextRequeue()).toBeUndefined();
  expect((await endpoint()).failing?.since).toBeUndefined();

  expect(new Set(receiver.received.map(({ headers, body }) => `${headers.id} ${body}`)).size).toBe(1);
  const timestamps = receiver.received.map(({ headers }) => Number(headers.timestamp) * 1_000);
  expect(timestamps).toEqual([NOON, NOON + 5_000, NOON + 68_000]);
  // The library refuses old timestamps, so it verifies at the test's own time.
  vi.useFakeTimers({ now: nowMs, toFake: ["Date"] });
  for (const event of receiver.received) new Webhook(webhookSecret).verify(event.body, standardHeaders(event));
  vi.useRealTimers();

  // SQS may deliver a message again: a delivered webhook is not sent again.
  expect(await deliver()).toBe("done");
  expect(receiver.received).toHaveLength(3);
});

test("a message that arrives before its next attempt is postponed for the rest of the delay, without an attempt", async () => {
  const { deliver, postpone, receiver } = await aSettlementFor(500);
  await deliver();
  nowMs += 2_250;
  expect(await deliver()).toBe("retry");
  expect(postpone.mock.calls.at(-1)).toEqual(["r1", 3]);
  expect(receiver.received).toHaveLength(1);
});

test("after the ninth failed attempt the delivery is exhausted, and its message is done", async () => {
  const { deliver, delivery, endpoint, receiver } = await aSettlementFor(503);
  const log = captureLog();
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    await deliver();
    nowMs = Date.parse((await delivery())?.next_attempt_at ?? "");
  }
  expect(await deliver()).toBe("done");
  expect(await delivery()).toMatchObject({ state: "exhausted", attempts: { length: 9 } });
  expect((await endpoint()).status).toBe("on");
  expect(log.lines("webhook.exhausted")).toHaveLength(1);
  expect(await deliver()).toBe("done");
  expect(receiver.received).toHaveLength(9);
});

test("410 switches the endpoint off; later webhooks are recorded and not sent, until it is enabled again", async () => {
  const { deliver, delivery, endpoint, endpoints, account_id, receiver } = await aSettlementFor(410, 200);
  const log = captureLog();
  expect(await deliver()).toBe("done");
  expect(log.lines("webhook.switched_off")).toMatchObject([{ account: account_id, reason: "gone", Alarms: 1 }]);
  expect(await delivery()).toMatchObject({ state: "switched_off", attempts: [{ http_status: 410 }] });
  expect(await endpoint()).toMatchObject({ status: "off", url: receiver.url });

  const resend = (repeat: string) => deliver({ repeat });
  await resend("while-off");
  expect(receiver.received).toHaveLength(1);
  await enableEndpoint(endpoints, firstEndpoint(account_id));
  await resend("while-off");
  expect(receiver.received).toHaveLength(1);
  await resend("when-on");
  expect(receiver.received).toHaveLength(2);
  expect(receiver.received[1]?.headers.id).toBe(receiver.received[0]?.headers.id);

  const { Items } = await tables.db.query({
    TableName: tables.ledgerTable,
    IndexName: "by_list",
    KeyConditionExpression: "list_key = :list",
    ExpressionAttributeValues: { ":list": deliveriesList(account_id) },
  });
  expect(Items).toHaveLength(3);
});

test("five days of failure switch the endpoint off, counted from the first failure after the last success", async () => {
  const { deliver, endpoint, receiver } = await aSettlementFor(500, 500, 200, 500, 500);
  await deliver();
  nowMs += 119 * HOUR_MS;
  expect(await deliver()).toBe("retry");
  expect(await endpoint()).toMatchObject({ status: "on", failing: { since: isoTime(NOON) } });
  nowMs += HOUR_MS;
  expect(await deliver()).toBe("done");
  expect((await endpoint()).failing?.since).toBeUndefined();

  const other = await aSettlement(receiver.url);
  await other.deliver();
  nowMs += 120 * HOUR_MS;
  expect(await other.deliver()).toBe("done");
  expect(await other.endpoint()).toMatchObject({ status: "off" });
  expect(await other.delivery()).toMatchObject({ state: "switched_off", attempts: { length: 2 } });
});

test.each([
  ["that began five days ago", 120, []],
  ["of another event", 1, ["evt_other"]],
])("failures %s, and that a webhook beside the attempt ended, do not count for it", async (_title, hours, others) => {
  let isRepaired = async (): Promise<void> => {};
  const receiver = await aReceiver((response) => void isRepaired().then(() => response.writeHead(500).end()));
  const { deliver, delivery, endpoint, fail, succeed } = await aSettlement(receiver.url);
  if (others.length > 0) await fail(...others);
  else await deliver();
  nowMs += hours * HOUR_MS;
  isRepaired = succeed;
  expect(await deliver()).toBe("retry");
  expect(await delivery()).toMatchObject({ state: "pending" });
  expect(await endpoint()).toMatchObject({ status: "on", failing: { since: isoTime(nowMs), events: { length: 1 } } });
});

test("no attempt changes the account: not one that fails, succeeds after failures, or switches the endpoint off", async () => {
  const { account_id, accounts, deliver, endpoint, message } = await aSettlementFor(500, 200, 410);
  const before = await findAccount(accounts, account_id);
  const repeat = async (times: string) => deliver({ ...message, repeat: times });
  await repeat("1");
  expect(await endpoint()).toMatchObject({ status: "on", failing: { since: isoTime(NOON) } });
  await repeat("2");
  expect(await endpoint()).toMatchObject({ status: "on", failing: undefined });
  await repeat("3");
  expect(await endpoint()).toMatchObject({ status: "off" });
  expect(await findAccount(accounts, account_id)).toEqual(before);
});

test("of a failed response the record keeps how its body begins, with masked numbers, and no header; the log nothing", async () => {
  const log = captureLog();
  const receiver = await aReceiver((response) => {
    nowMs -= 40;
    response.writeHead(500, { "x-note": "remember" }).end("remember 08031234567");
  });
  const { deliver, delivery } = await aSettlement(receiver.url);
  await deliver();
  expect((await delivery())?.attempts).toMatchObject([
    { answer_bytes: 20, response_body: expect.any(String), duration_ms: 0 },
  ]);
  expect(JSON.stringify(await delivery())).not.toMatch(/x-note|08031234567|whsec_/);
  expect(log.text()).not.toMatch(/remember|08031234567|whsec_/);
});

test.each([
  ["an order", { phone_number: "*********67", description: "MTN 1GB data for *********67" }],
  ["a check", { type: "nin_verification", phone_number: undefined, fingerprint: "erased" }],
] as const)("what an endpoint answers about %s whose person was erased is not stored", async (_what, changes) => {
  const receiver = await aReceiver((response) => {
    response.writeHead(500, { location: "/ada" }).end("Dear Ada");
  });
  const { deliver, delivery } = await aSettlement(receiver.url, { changes });
  await deliver();
  expect((await delivery())?.attempts).toMatchObject([{ outcome: "status", http_status: 500, answer_bytes: 8 }]);
  expect(JSON.stringify(await delivery())).not.toMatch(/ada/i);
});

test.each([
  ["before its first answer", 0],
  ["after an earlier answer", 1],
])(
  "what an endpoint answers while its person is erased, %s, is not stored, and the attempt is",
  async (_when, earlier) => {
    let erase = async (): Promise<void> => {};
    const receiver = await aReceiver((response) => void erase().then(() => response.writeHead(500).end("Dear Ada")));
    const { deliver, delivery, message } = await aSettlement(receiver.url);
    for (let attempt = 0; attempt < earlier; attempt += 1) await deliver();
    nowMs += HOUR_MS;
    erase = async () => {
      const { db, ledgerTable } = tables;
      const [stored, { Item: transaction }] = await Promise.all([
        delivery(),
        db.get({ TableName: ledgerTable, Key: { pk: message.transaction_pk } }),
      ]);
      await db.put({ TableName: ledgerTable, Item: { ...transaction, fingerprint: "erased" } });
      if (stored === undefined) return;
      await db.put({ TableName: ledgerTable, Item: { ...stored, attempts: stored.attempts.map(withoutAnswer) } });
    };
    expect(await deliver()).toBe("retry");
    expect(await delivery()).toMatchObject({ state: "pending", attempts: { length: earlier + 1 } });
    expect(JSON.stringify(await delivery())).not.toMatch(/ada/i);
  },
);

test("a response that is too large is a failed attempt, recorded with its status and without a size", async () => {
  const receiver = await aReceiver((response) => {
    nowMs += 40;
    response.end(Buffer.alloc(30_000));
  });
  const { deliver, delivery } = await aSettlement(receiver.url);
  expect(await deliver()).toBe("retry");
  const [attempt] = (await delivery())?.attempts ?? [];
  expect(attempt).toMatchObject({ outcome: "too_large", http_status: 200, duration_ms: 40 });
  expect(attempt).not.toHaveProperty("answer_bytes");
});

test("after a crash between the post and the record the attempt is repeated with the same webhook-id and body, and no call is in vain", async () => {
  const receiver = await answering(200, 200, 500);
  const { deliver, delivery } = await aSettlement(receiver.url, { db: emulatorClient(proxy.endpoint) });
  proxy.fault = ({ operation }) => (operation === "PutItem" ? "never_arrives" : undefined);
  expect(await deliver()).toBe("retry");
  expect(await delivery()).toBeUndefined();
  proxy.fault = () => undefined;
  const callsOf = async (repeat?: string) => {
    proxy.calls.length = 0;
    await deliver({ ...(repeat && { repeat }) });
    return proxy.calls.map(({ operation }) => operation);
  };
  const attempt = ["GetItem", "GetItem", "GetItem", "PutItem"];
  expect(await callsOf()).toEqual(attempt);
  // What an endpoint answered is stored only while nobody has erased the order.
  const failedAttempt = ["GetItem", ...attempt];
  expect(await callsOf("fails first")).toEqual([...failedAttempt, "GetItem", "PutItem"]);
  expect(await callsOf("fails again")).toEqual(failedAttempt);
  const [first, second] = receiver.received;
  expect([second?.headers.id, second?.body]).toEqual([first?.headers.id, first?.body]);
  expect(await delivery()).toMatchObject({ state: "delivered", attempts: [{ number: 1 }] });
});

test.each<[string, { status?: number; isDisabled?: true }, "done" | "retry", object]>([
  ["delivers it", {}, "done", { state: "delivered", attempts: [{ http_status: 200 }] }],
  ["fails", { status: 503 }, "retry", { state: "pending", attempts: [{ http_status: 503 }] }],
  ["finds the endpoint disabled", { isDisabled: true }, "done", { state: "switched_off", attempts: [] }],
])(
  "of two copies of a message that are handled concurrently the one that ends first, which %s, is recorded",
  async (_what, { status = 200, isDisabled }, ended, recorded) => {
    const answer = Promise.withResolvers<void>();
    const receiver = await aReceiver(async (response, count) => {
      if (count === 1) await answer.promise;
      response.writeHead(count === 1 ? 500 : status).end();
    });
    const { deliver, delivery, endpoints, account_id } = await aSettlement(receiver.url);
    const first = deliver();
    await eventually(() => expect(receiver.received).toHaveLength(1));
    if (isDisabled) await disableEndpoint(endpoints, firstEndpoint(account_id));
    expect(await deliver()).toBe(ended);
    answer.resolve();
    expect(await first).toBe(ended);
    expect(await delivery()).toMatchObject(recorded);
  },
);

test("in one batch a slow endpoint does not delay another account, and the batch of an invocation that timed out repeats only what was not recorded", async () => {
  const answer = Promise.withResolvers<void>();
  const slow = await aReceiver((response) => void answer.promise.then(() => response.end()));
  const quick = await answering(200);
  const [first, second] = [await aSettlement(slow.url), await aSettlement(quick.url)];
  const Records = [first, second].map(({ message }, index) => ({
    messageId: `m${index}`,
    receiptHandle: `r${index}`,
    body: JSON.stringify(message),
  }));
  const timedOut = first.handler({ Records }, aLambdaContext());
  await eventually(async () => expect(await second.delivery()).toMatchObject({ state: "delivered" }));
  expect(await first.delivery()).toBeUndefined();
  const repeated = first.handler({ Records }, aLambdaContext());
  await eventually(() => expect(slow.received).toHaveLength(2));
  answer.resolve();
  await timedOut;
  expect(await repeated).toEqual({ batchItemFailures: [] });
  expect(quick.received).toHaveLength(1);
  expect(await first.delivery()).toMatchObject({ state: "delivered", attempts: { length: 1 } });
});

test("the line of a delivered webhook has the id in the transaction's reference", async () => {
  const log = captureLog();
  const { message, deliver } = await aSettlementFor(200);
  await deliver();
  const [, transaction] = message.transaction_pk.split("#");
  expect(log.lines("message.handled")).toMatchObject([{ transaction, outcome: "delivered" }]);
});

test("a webhook whose endpoint was removed is recorded and not retried; one whose transaction is not settled or not there is retried", async () => {
  const log = captureLog();
  const { endpoints, account_id, message, deliver, delivery, postpone } = await aSettlement("http://127.0.0.1:1/");
  await removeEndpoint(endpoints, firstEndpoint(account_id));
  expect(await deliver()).toBe("done");
  expect(await delivery()).toMatchObject({ state: "removed", attempts: [] });
  expect(await deliver()).toBe("done");

  const open = aTransaction({ pk: message.transaction_pk, account_id });
  await tables.db.put({ TableName: tables.ledgerTable, Item: open });
  expect(await deliver()).toBe("retry");
  expect(await deliver({ transaction_pk: "transaction#unknown" })).toBe("retry");
  expect(log.lines("message.handled").map(({ outcome, reason }) => outcome ?? reason)).toEqual([
    ...["removed", "already_removed", "no_such_event", "no_such_event"],
  ]);
  expect(postpone.mock.calls.map(([, afterS]) => afterS)).toEqual([15, 15]);
});

test("a delivery that must wait for longer than 15 minutes is parked, and its requeue is scheduled for the time at which it is due", async () => {
  const { deliver, delivery, postpone, nextRequeue, receiver } = await aSettlementFor(500);
  for (const waitMs of [5_250, 63_000, 315_000]) {
    expect(await deliver()).toBe("retry");
    expect(await delivery()).not.toHaveProperty("open");
    nowMs += waitMs;
  }
  expect(await nextRequeue()).toBeUndefined();
  expect(await deliver()).toBe("done");
  const record = await delivery();
  expect(record).toMatchObject({
    state: "pending",
    open: expect.stringMatching(/^parked#acc_/),
    attempts: { length: 4 },
  });
  expect(await nextRequeue()).toBe(record?.next_attempt_at);
  expect(postpone).toHaveBeenCalledTimes(3);

  // A message that comes early changes nothing while the wait is long.
  nowMs = Date.parse(record?.next_attempt_at ?? "") - 15 * MINUTE_MS - 1;
  expect(await deliver()).toBe("done");
  expect(await delivery()).toEqual(record);
  nowMs += 1;
  expect(await deliver()).toBe("retry");
  expect(postpone).toHaveBeenCalledTimes(4);
  expect(receiver.received).toHaveLength(4);
});

test("a message that is early after this many attempts makes the next one at once, and only that one", async () => {
  const { deliver, delivery, receiver } = await aSettlementFor(500);
  for (const waitMs of [5_250, 63_000, 315_000, 0]) {
    await deliver();
    nowMs += waitMs;
  }
  expect(await deliver({ early: 3 })).toBe("done");
  expect(receiver.received).toHaveLength(4);
  // Two copies of one message: the second one finds the attempt recorded.
  for (const _copy of [1, 2]) expect(await deliver({ early: 4 })).toBe("done");
  expect(receiver.received).toHaveLength(5);
  expect(await delivery()).toMatchObject({ state: "pending", attempts: { length: 5 } });
  expect(await delivery()).not.toHaveProperty("early");
});

test("a new event of an endpoint that is down is parked without a post, and only a probe is posted", async () => {
  const { deliver, delivery, endpoint, postpone, fail, nextRequeue, receiver } = await aSettlementFor(500, 200);
  await fail("evt_1", "evt_2", "evt_3");
  nowMs += 2 * MINUTE_MS;
  expect(await deliver()).toBe("done");
  expect(receiver.received).toHaveLength(0);
  expect(await delivery()).toMatchObject({ state: "pending", attempts: [], open: expect.any(String) });
  expect(await nextRequeue()).toBe(isoTime(nowMs + 2 * MINUTE_MS));

  // The failed probe is parked too, and does not bring the next requeue forward.
  expect(await deliver({ probe: true })).toBe("done");
  expect(await delivery()).toMatchObject({ attempts: { length: 1 }, next_attempt_at: isoTime(nowMs + 5_250) });
  expect(await nextRequeue()).toBe(isoTime(nowMs + 2 * MINUTE_MS));
  expect(await deliver({ probe: true })).toBe("done");
  expect(receiver.received).toHaveLength(1);

  nowMs += MINUTE_MS;
  expect(await deliver({ probe: true })).toBe("done");
  const delivered = await delivery();
  expect(delivered).toMatchObject({ state: "delivered", attempts: { length: 2 } });
  expect(delivered).not.toHaveProperty("open");
  expect(delivered).not.toHaveProperty("probe");
  expect(await endpoint()).toMatchObject({ failing: undefined });
  // What else is parked follows at once.
  expect(await nextRequeue()).toBe(isoTime(nowMs));
  expect(postpone).not.toHaveBeenCalled();
});

test("the failure of a third event makes the endpoint one that is down, so that its short wait is parked too", async () => {
  const log = captureLog();
  const { deliver, delivery, endpoint, fail, nextRequeue, postpone } = await aSettlementFor(500);
  await fail("evt_1", "evt_2");
  expect(await deliver()).toBe("done");
  expect(postpone).not.toHaveBeenCalled();
  const record = await delivery();
  expect(record).toMatchObject({ attempts: { length: 1 }, open: expect.any(String) });
  expect((await endpoint()).failing?.events).toEqual(["evt_1", "evt_2", record?.webhook_id]);
  expect(await nextRequeue()).toBe(isoTime(NOON + MINUTE_MS));
  expect(log.lines("webhook.endpoint_down")).not.toEqual([]);
  expect(log.lines("message.handled")).toMatchObject([{ outcome: "parked" }]);
});

test("the third of the events that fail side by side logs that the endpoint is down", async () => {
  const log = captureLog();
  const receiver = await aReceiver(async (response) => {
    await fail("evt_1", "evt_2");
    response.writeHead(500).end();
  });
  const { deliver, endpoint, fail } = await aSettlement(receiver.url);
  await deliver();
  expect((await endpoint()).failing?.events).toHaveLength(3);
  expect(log.lines("webhook.endpoint_down")).toHaveLength(1);
});

test("a parked delivery becomes switched_off if its endpoint is off when its message comes", async () => {
  const { account_id, endpoints, deliver, delivery, fail } = await aSettlementFor(200);
  await fail("evt_1", "evt_2", "evt_3");
  await deliver();
  await disableEndpoint(endpoints, firstEndpoint(account_id));
  expect(await deliver()).toBe("done");
  const record = await delivery();
  expect(record).toMatchObject({ state: "switched_off", attempts: [] });
  expect(record).not.toHaveProperty("open");
});

test("a message of an endpoint with another URL is posted at once, although the former URL was down", async () => {
  const [former, current] = [await answering(500), await answering(200)];
  const { account_id, endpoints, deliver, delivery, fail } = await aSettlement(former.url);
  await fail("evt_1", "evt_2", "evt_3");
  await deliver();
  await setEndpoint(endpoints, rules, account_id, current.url);
  await deliver();
  expect(await delivery()).toMatchObject({ state: "delivered" });
  expect([former.received.length, current.received.length]).toEqual([0, 1]);
});

test("a message stays in the queue if its delivery is recorded as parked and its requeue cannot be scheduled", async () => {
  const receiver = await answering(200);
  const { deliver, delivery, fail, nextRequeue } = await aSettlement(receiver.url, {
    db: emulatorClient(proxy.endpoint),
  });
  await fail("evt_1", "evt_2", "evt_3");
  let puts = 0;
  proxy.fault = ({ operation }) => {
    puts += operation === "PutItem" ? 1 : 0;
    return operation === "PutItem" && puts > 1 ? "never_arrives" : undefined;
  };
  expect(await deliver()).toBe("retry");
  expect(await delivery()).toMatchObject({ open: expect.any(String) });
  expect(await nextRequeue()).toBeUndefined();
  proxy.fault = () => undefined;
  expect(await deliver()).toBe("done");
  expect(await nextRequeue()).toBe(isoTime(NOON + MINUTE_MS));
});

// Several functions, and operators by hand, may send to the queue; only the ledger says that an order has ended.
test.each([
  ["of an order", { event: "transaction.updated", data: { reference: "DATA_1", status: "failed" } }],
  ["of an order after its own", '{"event":"wallet.low","data":{},"event":"transaction.updated"}'],
  ["of its own after that of an order", '{"event":"transaction.updated","data":{},"event":"wallet.low"}'],
  ["in another letter case", { event: "wallet.low", data: {}, Event: "transaction.updated" }],
  ["of another event on request", { event: "limit.near", data: {} }],
  ["without data", { event: "wallet.low" }],
  ["that is no JSON", "wallet.low"],
])("a message of an event on request with a body %s is not signed, and ends as a dead letter", async (_, body) => {
  const { account_id, deliver, receiver } = await aSettlementFor(200);
  const text = typeof body === "string" ? body : JSON.stringify(body);
  expect(await deliver({ event: "wallet.low", account_id, occurrence: "1", body: text })).toBe("retry");
  expect(receiver.received).toEqual([]);
});

// An app ignores a webhook whose id it has seen.
test("a message of an event on request cannot have the id of an order's webhook", async () => {
  const { account_id, deliver, receiver } = await aSettlementFor(200);
  await deliver();
  const webhook_id = receiver.received[0]?.headers.id ?? "";
  const event = { event: "wallet.low", account_id, body: '{"event":"wallet.low","data":{}}', webhook_id } as const;
  expect(await deliver({ ...event, occurrence: webhook_id })).toBe("done");
  expect(receiver.received[1]?.headers.id).toMatch(/^evt_[0-9a-f]{32}$/);
  expect(receiver.received[1]?.headers.id).not.toBe(webhook_id);
});

test("an event on request is posted with the bytes of its message, also after its delivery was parked and put into the queue again", async () => {
  const { account_id, deliver, readRecord, receiver } = await aSettlementFor(500, 500, 500, 500, 200);
  const event = { event: "wallet.low", account_id, endpoint: ENDPOINT, occurrence: "1" } as const;
  // Numbers and the order of fields are those of the event, whatever DynamoDB does with an item's attributes.
  const first = { ...event, body: '{"event":"wallet.low","data":{"z":1.5,"a":10}}' };
  const recorded = async () => deliverySchema.parse(await readRecord(first));
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    await deliver(first);
    nowMs = Date.parse((await recorded()).next_attempt_at ?? "");
  }
  const parked = await recorded();
  expect(parked).toMatchObject({ ...first, state: "pending", list_key: deliveriesList(account_id) });
  expect(parked.open).toBeDefined();
  await deliver(messageOf(parked, "due"));
  expect(await recorded()).toMatchObject({ state: "delivered", attempts: { length: 5 } });
  await deliver(first);
  expect(receiver.received.map(({ body, headers }) => `${headers.id} ${body}`)).toEqual(
    Array.from({ length: 5 }, () => `${accountEventId(first)} ${first.body}`),
  );
  await deliver({ ...first, repeat: "replay-1" });
  expect(receiver.received).toHaveLength(6);
});

test("two endpoints of an account get the same event, each with its own signature, and one that fails delays not the other", async () => {
  const [dead, healthy] = [await answering(500), await answering(200)];
  const { account_id, endpoints, message, handler, delivery, webhookSecret } = await aSettlement(dead.url);
  const added = await addEndpoint(endpoints, rules, account_id, healthy.url);
  const second = { ...message, endpoint: added.endpoint.id };
  const Records = [message, second].map((each, index) => ({
    ...{ messageId: `m${index}`, receiptHandle: `r${index}`, body: JSON.stringify(each) },
  }));
  expect(await handler({ Records }, aLambdaContext())).toEqual({ batchItemFailures: [{ itemIdentifier: "m0" }] });
  expect(await delivery()).toMatchObject({ endpoint: "1", state: "pending", attempts: { length: 1 } });
  const ledger = { db: tables.db, table: tables.ledgerTable, clock: () => nowMs };
  expect(await readDelivery(ledger, deliveryPk(second))).toMatchObject({ endpoint: "2", state: "delivered" });
  expect(await requireEndpoint(endpoints, account_id, "1")).toMatchObject({ failing: { since: isoTime(NOON) } });
  expect(await requireEndpoint(endpoints, account_id, "2")).toMatchObject({ failing: undefined });

  const [one, other] = [dead.received[0], healthy.received[0]];
  if (one === undefined || other === undefined) throw new Error("Nothing arrived");
  expect([other.body, other.headers.id]).toEqual([one.body, one.headers.id]);
  vi.setSystemTime(NOON);
  new Webhook(webhookSecret).verify(one.body, standardHeaders(one));
  new Webhook(added.webhookSecret).verify(other.body, standardHeaders(other));
  expect(() => new Webhook(webhookSecret).verify(other.body, standardHeaders(other))).toThrow("signature");
  vi.useRealTimers();
});

test("a message of an account that could not be read stays a dead letter, and is not taken for one of a removed endpoint", async () => {
  const { deliver, message, readRecord } = await aSettlement("https://app.example/hook");
  const unknown = { ...message, endpoint: UNKNOWN_ENDPOINT };
  expect(await deliver(unknown)).toBe("retry");
  expect(await readRecord(unknown)).toBeUndefined();
});
