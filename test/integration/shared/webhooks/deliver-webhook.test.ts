import { once } from "node:events";
import { createServer } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeAll, beforeEach, expect, inject, test, vi } from "vitest";
import { type AccountStore, accountSchema, findAccount } from "../../../../shared/access/account-store.ts";
import { createAccount } from "../../../../shared/access/accounts.ts";
import { queueHandler } from "../../../../shared/lambda/queue-handler.ts";
import { deliveriesOwner, deliveryPk } from "../../../../shared/ledger/schema.ts";
import { parseIpRanges } from "../../../../shared/platform/ip-range.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import type { AddressRules } from "../../../../shared/webhooks/address-guard.ts";
import { deliverWebhook } from "../../../../shared/webhooks/deliver-webhook.ts";
import { readDelivery } from "../../../../shared/webhooks/delivery.ts";
import { deliveryMessage } from "../../../../shared/webhooks/delivery-queue.ts";
import { type EndpointStore, enableEndpoint, findEndpoint, setEndpoint } from "../../../../shared/webhooks/endpoint.ts";
import { createPost } from "../../../../shared/webhooks/post-webhook.ts";
import { type DynamoDbProxy, startDynamoDbProxy } from "../../../builders/dynamodb-proxy.ts";
import { aLambdaContext } from "../../../builders/lambda-context.ts";
import { type Receiver, standardHeaders, startReceiver } from "../../../builders/receiver.ts";
import { selfSigned } from "../../../builders/self-signed.ts";
import { emulatorClient, freshTables } from "../../../builders/tables.ts";
import { aTransaction } from "../../../builders/transaction.ts";

/**
 * Goal: what becomes of an event at an endpoint that misbehaves, attempt by attempt. Method: the function's handler with receivers
 * on loopback, a clock that the test moves, and a spy in the place of the queue.
 */
let tables: Awaited<ReturnType<typeof freshTables>>;
beforeAll(async () => {
  tables = await freshTables();
});

const NOON = Date.parse("2026-11-21T12:00:00.000Z");
const HOUR_MS = 3_600_000;
let nowMs = NOON;
beforeEach(() => {
  nowMs = NOON;
});

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const loopback = parseIpRanges("127.0.0.0/8,::1/128");
const rulesWith = (changes: Partial<AddressRules> = {}): AddressRules => ({
  allowed: loopback,
  refusedHosts: [],
  resolve: async () => ["127.0.0.1"],
  ...changes,
});

const KEY = "a webhook key of thirty-two or more characters";
const webhookSealingKey = { value: async () => KEY, refetch: async () => KEY };
let transactions = 0;

/** An account with an endpoint, a transaction of its that has ended, and the function that tells it. */
const anEnd = async (
  url: string,
  options: { rules?: AddressRules; setRules?: AddressRules; db?: typeof tables.db } = {},
) => {
  const { rules = rulesWith(), setRules = rules, db = tables.db } = options;
  const clock = () => nowMs;
  const accounts: AccountStore = { ...tables, clock };
  const endpoints: EndpointStore = { accounts, webhookSealingKey, clock };
  const ledger = { db: tables.db, table: tables.ledgerTable, clock };
  const { account_id } = await createAccount(accounts, { name: "app", whitelist: [] });
  const { webhookSecret } = await setEndpoint(endpoints, setRules, account_id, url);
  transactions += 1;
  const pk = `transaction#${String(transactions).padStart(26, "0")}`;
  const { open: _open, ...transaction } = aTransaction({
    pk,
    account_id,
    owner: `${account_id}#live`,
    status: "success",
  });
  await tables.db.send(new PutCommand({ TableName: tables.ledgerTable, Item: transaction }));

  const message = { transaction: pk, status: "success" as const };
  const postpone = vi.fn(async (_handle: string, _after_s: number) => {});
  const deps = { ledger: { ...ledger, db }, endpoints, post: createPost(rules), random: () => 0.5 };
  const handler = queueHandler(deliveryMessage, deliverWebhook(deps), postpone);
  const deliver = async (): Promise<"done" | "kept"> => {
    const record = { messageId: "m1", receiptHandle: "r1", body: JSON.stringify(message) };
    const { batchItemFailures } = await handler({ Records: [record] }, aLambdaContext());
    return batchItemFailures.length === 0 ? "done" : "kept";
  };
  const delivery = () => readDelivery(ledger, deliveryPk(message));
  const endpoint = () => findEndpoint(endpoints, account_id);
  return { account_id, accounts, endpoints, webhookSecret, message, deliver, delivery, endpoint, postpone };
};

const aReceiver = async (...options: Parameters<typeof startReceiver>): Promise<Receiver> => {
  const receiver = await startReceiver(...options);
  cleanups.push(receiver.stop);
  return receiver;
};
const answering = (...statuses: readonly number[]) =>
  aReceiver((response, count) => void response.writeHead(statuses[count - 1] ?? statuses.at(-1) ?? 200).end());

test("500, 500, 200: waits of 5 s and 60 s with 5 % on top, then delivered, and every attempt is on record", async () => {
  const receiver = await answering(500, 500, 200);
  const { deliver, delivery, endpoint, postpone, webhookSecret } = await anEnd(receiver.url);

  expect(await deliver()).toBe("kept");
  expect(await delivery()).toMatchObject({ state: "pending", next_attempt_at: isoTime(NOON + 5_250) });
  expect((await endpoint())?.failingSince).toBe(isoTime(NOON));
  nowMs += 5_250;
  expect(await deliver()).toBe("kept");
  expect((await endpoint())?.failingSince).toBe(isoTime(NOON));
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
  expect((await endpoint())?.failingSince).toBeUndefined();

  expect(new Set(receiver.received.map(({ headers, body }) => `${headers.id} ${body}`)).size).toBe(1);
  const timestamps = receiver.received.map(({ headers }) => Number(headers.timestamp) * 1_000);
  expect(timestamps).toEqual([NOON, NOON + 5_000, NOON + 68_000]);
  // The library refuses old timestamps, so that it verifies with the test's own clock.
  vi.useFakeTimers({ now: nowMs, toFake: ["Date"] });
  for (const event of receiver.received) new Webhook(webhookSecret).verify(event.body, standardHeaders(event));
  vi.useRealTimers();

  // SQS may hand a message over again: what is delivered stays so.
  expect(await deliver()).toBe("done");
  expect(receiver.received).toHaveLength(3);
});

test("a message that comes back too early waits for the rest of its time without being sent", async () => {
  const receiver = await answering(500);
  const { deliver, postpone } = await anEnd(receiver.url);
  await deliver();
  nowMs += 2_250;
  expect(await deliver()).toBe("kept");
  expect(postpone.mock.calls.at(-1)).toEqual(["r1", 3]);
  expect(receiver.received).toHaveLength(1);
});

test("the ninth failure is the last: exhausted, on record, and no dead letter", async () => {
  const receiver = await answering(503);
  const { deliver, delivery, endpoint, postpone } = await anEnd(receiver.url);
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    expect(await deliver()).toBe("kept");
    nowMs += (postpone.mock.calls.at(-1)?.[1] ?? 0) * 1_000;
  }
  expect(await deliver()).toBe("done");
  expect(postpone.mock.calls.map(([, afterS]) => Math.round(afterS / 1.05))).toEqual([
    5, 60, 300, 1_800, 7_200, 18_000, 36_000, 36_000,
  ]);
  expect(await delivery()).toMatchObject({ state: "exhausted", attempts: { length: 9 } });
  expect((await endpoint())?.status).toBe("on");
  expect(await deliver()).toBe("done");
  expect(receiver.received).toHaveLength(9);
});

test("an endpoint that takes 8 s is given up after 5", { timeout: 12_000 }, async () => {
  const receiver = await aReceiver((response) => void setTimeout(() => response.end("ok"), 8_000));
  const { deliver, delivery } = await anEnd(receiver.url);
  const startMs = Date.now();
  expect(await deliver()).toBe("kept");
  expect(Date.now() - startMs).toBeGreaterThanOrEqual(4_900);
  expect(Date.now() - startMs).toBeLessThan(7_500);
  expect(await delivery()).toMatchObject({ state: "pending", attempts: [{ outcome: "timeout" }] });
});

test("an endpoint that accepts connections and says nothing, or drips its answer, is given up too", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  cleanups.push(async () => silent.close());
  const address = silent.address();
  const port = typeof address === "object" ? address?.port : 0;
  const dripping = await aReceiver((response) => {
    const timer = setInterval(() => response.write("x"), 20);
    response.once("close", () => clearInterval(timer));
  });
  const post = createPost(rulesWith(), 300);
  const headers = { "webhook-id": "", "webhook-timestamp": "", "webhook-signature": "" };
  for (const url of [`http://127.0.0.1:${port}/`, dripping.url]) {
    expect(await post({ url, headers, body: "{}" })).toEqual({ kind: "failed", reason: "timeout" });
  }
});

test("a redirect to a private address is a failure and is not followed", async () => {
  const secret = await answering(200);
  const receiver = await aReceiver((response) => void response.writeHead(302, { location: secret.url }).end());
  const { deliver, delivery } = await anEnd(receiver.url);
  expect(await deliver()).toBe("kept");
  expect(await delivery()).toMatchObject({ attempts: [{ outcome: "status", http_status: 302 }] });
  expect(secret.received).toHaveLength(0);
});

test("410 switches the endpoint off; later events are on record and not sent, until it is enabled again", async () => {
  const receiver = await answering(410, 200);
  const { deliver, delivery, endpoint, endpoints, account_id, message, accounts } = await anEnd(receiver.url);
  expect(await deliver()).toBe("done");
  expect(await delivery()).toMatchObject({ state: "switched_off", attempts: [{ http_status: 410 }] });
  expect(await endpoint()).toMatchObject({ status: "off", url: receiver.url });
  expect((await findAccount(accounts, account_id))?.version).toBeGreaterThan(2);

  const again = queueHandler(
    deliveryMessage,
    deliverWebhook({
      ledger: { db: tables.db, table: tables.ledgerTable, clock: () => nowMs },
      endpoints,
      post: createPost(rulesWith()),
      random: () => 0,
    }),
  );
  const send = (repeat: string) =>
    again(
      { Records: [{ messageId: "m", receiptHandle: "r", body: JSON.stringify({ ...message, repeat }) }] },
      aLambdaContext(),
    );
  await send("while-off");
  expect(receiver.received).toHaveLength(1);
  await enableEndpoint(endpoints, account_id);
  await send("while-off");
  expect(receiver.received).toHaveLength(1);
  await send("replay");
  expect(receiver.received).toHaveLength(2);
  expect(receiver.received[1]?.headers.id).toBe(receiver.received[0]?.headers.id);

  const { Items } = await tables.db.send(
    new QueryCommand({
      TableName: tables.ledgerTable,
      IndexName: "by_owner",
      KeyConditionExpression: "#owner = :owner",
      ExpressionAttributeNames: { "#owner": "owner" },
      ExpressionAttributeValues: { ":owner": deliveriesOwner(account_id) },
    }),
  );
  expect(Items).toHaveLength(3);
});

test("five days of failure switch the endpoint off; a success in between begins them anew", async () => {
  const receiver = await answering(500, 500, 200, 500, 500);
  const { deliver, endpoint } = await anEnd(receiver.url);
  await deliver();
  nowMs += 119 * HOUR_MS;
  expect(await deliver()).toBe("kept");
  expect(await endpoint()).toMatchObject({ status: "on", failingSince: isoTime(NOON) });
  nowMs += HOUR_MS;
  expect(await deliver()).toBe("done");
  expect((await endpoint())?.failingSince).toBeUndefined();

  const other = await anEnd(receiver.url);
  await other.deliver();
  nowMs += 120 * HOUR_MS;
  expect(await other.deliver()).toBe("done");
  expect(await other.endpoint()).toMatchObject({ status: "off" });
  expect(await other.delivery()).toMatchObject({ state: "switched_off", attempts: { length: 2 } });
});

test("of a 50 MB answer at most a few hundred KB are taken, and it counts as a failure", async () => {
  let written = 0;
  const receiver = await aReceiver((response) => {
    response.writeHead(200, { "content-length": 50_000_000 });
    const chunk = Buffer.alloc(64 * 1_024);
    const pump = (): void => {
      while (written < 50_000_000 && !response.destroyed) {
        written += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", pump);
      }
    };
    pump();
  });
  const { deliver, delivery } = await anEnd(receiver.url);
  expect(await deliver()).toBe("kept");
  const record = await delivery();
  expect(record).toMatchObject({ attempts: [{ outcome: "too_large", http_status: 200 }] });
  expect(record?.attempts[0]).not.toHaveProperty("answer_bytes");
  expect(written).toBeLessThan(10_000_000);
});

test("nothing that an endpoint answers is kept or logged", async () => {
  const lines = vi.spyOn(console, "log").mockImplementation(() => {});
  const receiver = await aReceiver(
    (response) => void response.writeHead(500, { "x-note": "remember" }).end("remember me"),
  );
  const { deliver, delivery } = await anEnd(receiver.url);
  await deliver();
  expect((await delivery())?.attempts).toMatchObject([{ answer_bytes: 11 }]);
  expect(JSON.stringify([lines.mock.calls, await delivery()])).not.toMatch(/remember|08031234567|whsec_/);
  lines.mockRestore();
});

test("a name that was public when it was set and is private when called is not connected to", async () => {
  const receiver = await answering(200);
  const url = `https://app.example.com/hook`;
  const setRules = rulesWith({ allowed: [], resolve: async () => ["93.184.215.14"] });
  const rules = rulesWith({ allowed: [], resolve: async () => ["127.0.0.1"] });
  const { deliver, delivery } = await anEnd(url, { rules, setRules });
  expect(await deliver()).toBe("kept");
  expect(await delivery()).toMatchObject({ attempts: [{ outcome: "address_refused" }] });
  expect(receiver.received).toHaveLength(0);
});

test.each<[string, Partial<AddressRules>]>([
  ["a public and a private address", { allowed: [], resolve: async () => ["93.184.215.14", "10.0.0.1"] }],
  ["no address", { resolve: async () => [] }],
  ["something that is no address", { resolve: async () => ["localhost"] }],
  ["an upstream's host", { refusedHosts: ["app.example.com"] }],
])("a name that stands for %s when called is not connected to", async (_what, changes) => {
  const post = createPost(rulesWith(changes));
  const parcel = { url: "https://app.example.com/hook", headers: {}, body: "{}" };
  expect(await post(parcel)).toEqual({ kind: "failed", reason: "address_refused" });
});

test("plain http on loopback is refused where the stage does not allow it, and so is its IPv6 spelling", async () => {
  const receiver = await answering(200);
  const { deliver, delivery } = await anEnd(receiver.url, { rules: rulesWith({ allowed: [] }), setRules: rulesWith() });
  expect(await deliver()).toBe("kept");
  expect(await delivery()).toMatchObject({ attempts: [{ outcome: "address_refused" }] });
  const post = createPost(rulesWith({ allowed: [] }));
  for (const host of ["[::1]", "[::ffff:127.0.0.1]", "localhost", "0x7f.1", "2130706433"]) {
    const parcel = { url: `http://${host}:${receiver.port}/hook`, headers: {}, body: "{}" };
    expect(await post(parcel)).toEqual({ kind: "failed", reason: "address_refused" });
  }
  expect(receiver.received).toHaveLength(0);
});

test("over https the certificate must be trusted and be the host's own", async () => {
  const identity = selfSigned();
  const receiver = await aReceiver(undefined, { tls: identity });
  const untrusted = await anEnd(receiver.url);
  expect(await untrusted.deliver()).toBe("kept");
  expect(await untrusted.delivery()).toMatchObject({ attempts: [{ outcome: "DEPTH_ZERO_SELF_SIGNED_CERT" }] });

  const before = getCACertificates("default");
  setDefaultCACertificates([...before, identity.cert]);
  cleanups.push(async () => setDefaultCACertificates(before));
  const trusted = await anEnd(receiver.url);
  expect(await trusted.deliver()).toBe("done");
  const otherName = await anEnd(receiver.url.replace("localhost", "app.example.com"));
  expect(await otherName.deliver()).toBe("kept");
  expect(await otherName.delivery()).toMatchObject({ attempts: [{ outcome: "ERR_TLS_CERT_ALTNAME_INVALID" }] });
  expect(receiver.received).toHaveLength(1);
});

test("an endpoint that nobody serves is a failure with the connection's error", async () => {
  const receiver = await answering(200);
  await receiver.stop();
  cleanups.pop();
  const { deliver, delivery } = await anEnd(receiver.url);
  expect(await deliver()).toBe("kept");
  expect(await delivery()).toMatchObject({ attempts: [{ outcome: "ECONNREFUSED" }] });
});

test("a crash between the post and the record repeats the same attempt, with the same webhook-id and body", async () => {
  const proxy: DynamoDbProxy = await startDynamoDbProxy(inject("dynamodbEndpoint"));
  cleanups.push(proxy.stop);
  const receiver = await answering(200);
  const { deliver, delivery } = await anEnd(receiver.url, { db: emulatorClient(proxy.endpoint) });
  proxy.fault = ({ operation }) => (operation === "PutItem" ? "never_arrives" : undefined);
  expect(await deliver()).toBe("kept");
  expect(await delivery()).toBeUndefined();
  proxy.fault = () => undefined;
  expect(await deliver()).toBe("done");
  const [one, other] = receiver.received;
  expect([other?.headers.id, other?.body]).toEqual([one?.headers.id, one?.body]);
  expect(await delivery()).toMatchObject({ state: "delivered", attempts: [{ number: 1 }] });
});

test("of two copies of a message at work at the same time one puts its attempt on record", async () => {
  const receiver = await aReceiver((response) => void setTimeout(() => response.end(), 100));
  const { deliver, delivery } = await anEnd(receiver.url);
  expect(await Promise.all([deliver(), deliver()])).toEqual(["done", "done"]);
  expect(await delivery()).toMatchObject({ state: "delivered", attempts: { length: 1 } });
});

test("an end without an endpoint is on record and not retried; an end that is not there is a fault of ours", async () => {
  const { endpoints, account_id, message, deliver, delivery, postpone } = await anEnd("http://127.0.0.1:1/");
  const stored = accountSchema.parse(await findAccount(endpoints.accounts, account_id));
  const { webhook: _webhook, ...bare } = stored;
  await tables.db.send(new PutCommand({ TableName: tables.ledgerTable, Item: bare }));
  expect(await deliver()).toBe("done");
  expect(await delivery()).toMatchObject({ state: "no_endpoint", attempts: [] });

  const open = aTransaction({ pk: message.transaction, account_id });
  await tables.db.send(new PutCommand({ TableName: tables.ledgerTable, Item: open }));
  expect(await deliver()).toBe("kept");
  expect(postpone).not.toHaveBeenCalled();
});
