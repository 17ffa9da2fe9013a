import { DeleteMessageCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import type { QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, expect, test, vi } from "vitest";
import { createAccount } from "../../../../shared/access/accounts.ts";
import { recordAudited } from "../../../../shared/actions/action-context.ts";
import { RESENDS_PER_MINUTE } from "../../../../shared/actions/action-limits.ts";
import { deliveriesRuns } from "../../../../shared/actions/deliveries.ts";
import { ANNOUNCE } from "../../../../shared/actions/transaction-history.ts";
import { webhookRuns } from "../../../../shared/actions/webhook.ts";
import { readTransactionAudit, SERVICE } from "../../../../shared/ledger/audit.ts";
import { deliveryPk, transactionPk } from "../../../../shared/ledger/schema.ts";
import { referenceOf, type Transaction } from "../../../../shared/ledger/transaction.ts";
import { NotFoundError } from "../../../../shared/platform/operator-error.ts";
import { queueUrls } from "../../../../shared/platform/queue-names.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { deliverWebhook } from "../../../../shared/webhooks/deliver-webhook.ts";
import { newDelivery, recordProgress } from "../../../../shared/webhooks/delivery.ts";
import { type DeliveryMessage, deliveryMessage } from "../../../../shared/webhooks/delivery-queue.ts";
import { createPost } from "../../../../shared/webhooks/post-webhook.ts";
import { accountEventId } from "../../../../shared/webhooks/webhook-event.ts";
import { startQueues } from "../../../../tools/local/queues.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { anActionContext } from "../../../builders/ledger/action-context.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { VISIBILITY_TIMEOUT_S } from "../../../builders/upstream/retried-at-once.ts";
import { aReceiver, ENDPOINT, LOOPBACK } from "../../../builders/webhooks/endpoint.ts";

const tables = await freshTables();
const shape = { consumer: "", batchSize: 1, visibilityTimeoutS: VISIBILITY_TIMEOUT_S, receivesMax: 3 };
const sqs = await startQueues({ outcomes: shape, delivery: shape });
afterAll(() => sqs.stop());

let nowMs = NOON_MS;
const context = () =>
  anActionContext(tables, {
    clock: () => nowMs,
    addressRules: LOOPBACK,
    sqs: sqs.client,
    queues: queueUrls({ outcomes: sqs.url("outcomes"), delivery: sqs.url("delivery") }),
  });

const anAccount = async () => (await createAccount(context().accounts, { name: "app", whitelist: [] })).account_id;

/** An account whose endpoint is a receiver. */
const anAccountWithReceiver = async (...options: Parameters<typeof aReceiver>) => {
  const [account, receiver] = [await anAccount(), await aReceiver(...options)];
  await webhookRuns["webhook set"](context(), { account, url: receiver.url });
  return { account, receiver };
};
const show = async (account: string, reference: string) =>
  (await deliveriesRuns["deliveries show"](context(), { account, reference })).deliveries;

let transactions = 0;
const aSettledOrder = async (account: string): Promise<Transaction> => {
  transactions += 1;
  const { open: _open, ...transaction } = aTransaction({
    pk: transactionPk(String(transactions).padStart(26, "0")),
    account_id: account,
    list_key: `${account}#live`,
    status: "success",
    created_at: isoTime(NOON_MS - 60_000),
  });
  await tables.db.put({ TableName: tables.ledgerTable, Item: transaction });
  return transaction;
};

/** Makes one attempt, as the function does. */
const attempt = (message: DeliveryMessage) => {
  const { ledger, endpoints } = context();
  return deliverWebhook({ ledger, endpoints, post: createPost(LOOPBACK), random: () => 0.5 })(message);
};

const messages = async () => {
  const QueueUrl = sqs.url("delivery");
  const { Messages = [] } = await sqs.client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
  // What was received comes again, after a while, unless it is deleted.
  for (const { ReceiptHandle } of Messages)
    await sqs.client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  return Messages.map(({ Body = "" }) => JSON.parse(Body));
};

/** Of the webhook about a transaction. */
const messageAbout = (transaction_pk: string) =>
  ({ event: "transaction.updated", transaction_pk, status: "success", endpoint: ENDPOINT }) as const;

/** A webhook about a transaction that ended so, with no attempt. */
const aDelivery = (
  accountId: string,
  index: number,
  state: "exhausted" | "switched_off" | "removed" | "delivered" | "pending",
  { pk, atMs = NOON_MS, ...more }: { readonly pk: string; readonly atMs?: number; readonly repeat?: string },
) => {
  const message = { ...messageAbout(pk), ...more };
  return recordProgress(context().ledger, newDelivery(message, { accountId, webhookId: `evt_${index}` }, atMs), {
    state,
  });
};

test("attempts show what was posted without the signature, and headers and body of each answer that was no delivery", async () => {
  const account = await anAccount();
  const receiver = await aReceiver(
    (response, count) =>
      void response
        .writeHead(count === 1 ? 503 : 200, { server: "nginx", "retry-after": "60", "x-secret": "s" })
        .end("busy"),
  );
  await webhookRuns["webhook set"](context(), { account, url: receiver.url });
  const transaction = await aSettledOrder(account);
  const message = messageAbout(transaction.pk);
  nowMs = NOON_MS;
  await attempt(message);
  nowMs += 10_000;
  await attempt(message);
  const reference = referenceOf(transaction);
  const deliveries = await show(account, reference);
  const [sent] = receiver.received;
  const requestHeaders = (atMs: number) => ({
    "content-type": "application/json",
    "user-agent": "airtime-data-identity-webhooks/1",
    "webhook-id": sent?.headers.id,
    "webhook-timestamp": String(atMs / 1_000),
  });
  expect(deliveries).toMatchObject([
    {
      state: "delivered",
      body: sent?.body,
      attempts: [
        {
          outcome: "status",
          http_status: 503,
          request_headers: requestHeaders(NOON_MS),
          response_headers: { date: expect.any(String), server: "nginx", "retry-after": "60" },
          response_body: "busy",
        },
        {
          outcome: "delivered",
          http_status: 200,
          request_headers: requestHeaders(NOON_MS + 10_000),
          response_headers: null,
          response_body: null,
        },
      ],
    },
  ]);
  expect(JSON.stringify(deliveries)).not.toMatch(/v1,|x-secret/);
  const { deliveries: listed } = await deliveriesRuns["deliveries list"](context(), { account });
  expect(listed).toMatchObject([{ reference, state: "delivered", attempts: [{ number: 1 }, { number: 2 }] }]);
});

test("the list has the newest 50 deliveries, newest first", async () => {
  const account = await anAccount();
  for (let index = 0; index < 55; index += 1) {
    const { pk } = await aSettledOrder(account);
    await aDelivery(account, index, "removed", { pk, atMs: NOON_MS + index * 1_000 });
  }
  const { deliveries } = await deliveriesRuns["deliveries list"](context(), { account });
  expect(deliveries.map(({ webhook_id }) => webhook_id)).toEqual(
    Array.from({ length: 50 }, (_, index) => `evt_${54 - index}`),
  );
});

test("a transaction's deliveries and their resends are shown without reading the account's others", async () => {
  const { account } = await anAccountWithReceiver();
  for (let index = 0; index < 60; index += 1) {
    const { pk } = await aSettledOrder(account);
    await aDelivery(account, index, "removed", { pk });
  }
  const transaction = await aSettledOrder(account);
  const reference = referenceOf(transaction);
  const message = messageAbout(transaction.pk);
  nowMs = NOON_MS;
  await attempt(message);
  nowMs += 60_000;
  const { repeat } = await deliveriesRuns["deliveries replay"](context(), { account, reference });
  for (const sent of await messages()) await attempt(deliveryMessage.parse(sent));
  nowMs += 60_000;
  await recordAudited(context(), SERVICE, { about: ANNOUNCE, action: "announce", details: { name: "outage-7" } });
  await attempt({ ...message, repeat: "outage-7" });
  const reads = vi.spyOn(tables.db, "send");
  const deliveries = await show(account, reference);
  expect(deliveries.map((delivery) => [delivery.repeat, delivery.state])).toEqual([
    [null, "delivered"],
    [repeat, "delivered"],
    ["outage-7", "delivered"],
  ]);
  const queried = reads.mock.calls.flatMap(([command]) =>
    command instanceof QueryCommand ? [command.input.ExpressionAttributeValues?.[":partition"]] : [],
  );
  expect(queried).not.toContain(`${account}#deliveries`);
  reads.mockRestore();
});

test("all webhooks since a time that ended without being delivered are sent again, once each, and shown as resends", async () => {
  const { account } = await anAccountWithReceiver();
  const orders = await Promise.all([1, 2, 3, 4, 5].map(() => aSettledOrder(account)));
  const put = (index: number, state: Parameters<typeof aDelivery>[2], atMs: number, repeat?: string) =>
    aDelivery(account, index, state, { pk: orders[index]?.pk ?? "", atMs, ...(repeat !== undefined && { repeat }) });
  await put(0, "exhausted", NOON_MS - 3_600_000);
  await put(0, "exhausted", NOON_MS, "replay-1");
  await put(1, "switched_off", NOON_MS);
  await put(2, "removed", NOON_MS - 3_600_000);
  await put(3, "exhausted", NOON_MS);
  await put(3, "delivered", NOON_MS + 1, "replay-1");
  await put(4, "pending", NOON_MS);
  nowMs = NOON_MS + 60_000;
  const from = isoTime(NOON_MS - 1_000);
  const { repeat, ...recovered } = await deliveriesRuns["deliveries recover"](context(), { account, from });
  expect(recovered).toEqual({ account_id: account, recovered: 2, next_from: null });
  const sent = (await messages()).map((each) => deliveryMessage.parse(each));
  const expected = orders.slice(0, 2).map(({ pk: transaction_pk }) => ({ transaction_pk, repeat }));
  expect(sent).toHaveLength(2);
  expect(sent).toEqual(expect.arrayContaining(expected.map((each) => expect.objectContaining(each))));
  for (const message of sent) await attempt(message);
  const reference = referenceOf(orders[1] ?? aTransaction());
  const deliveries = await show(account, reference);
  expect(deliveries.map((each) => [each.repeat, each.state])).toEqual([
    [null, "switched_off"],
    [repeat, "delivered"],
  ]);
});

test(`an account's webhooks are sent again at most ${RESENDS_PER_MINUTE} times a minute, because each time may be thousands`, async () => {
  const { account } = await anAccountWithReceiver();
  const { pk } = await aSettledOrder(account);
  await aDelivery(account, 1, "exhausted", { pk });
  nowMs = NOON_MS + 60_000;
  const from = isoTime(NOON_MS - 1_000);
  const recover = () => deliveriesRuns["deliveries recover"](context(), { account, from });
  for (let count = 0; count < RESENDS_PER_MINUTE; count += 1) await recover();
  await messages();
  await expect(recover()).rejects.toMatchObject({
    code: "rate_limited",
    message: "An account's webhooks are sent again 5 times a minute: wait a minute",
    details: { retryAfterS: 60 },
  });
  expect(await messages()).toEqual([]);
  nowMs += 60_000;
  expect(await recover()).toMatchObject({ recovered: 1 });
  expect(await messages()).toHaveLength(1);
});

test("one recovery reads 10,000 deliveries at most, and says from when to go on", async () => {
  const { account } = await anAccountWithReceiver();
  const asked: unknown[] = [];
  const created_at = isoTime(NOON_MS);
  const query = tables.db.query.bind(tables.db);
  const pages = vi.spyOn(tables.db, "query").mockImplementation(async (input: QueryCommandInput) => {
    if (input.IndexName !== "by_list") return query(input);
    asked.push(input.Limit);
    const Count = Math.min(4_000, input.Limit ?? 0);
    const Items = Array.from({ length: Count }, () => ({ pk: deliveryPk(messageAbout("transaction#x")), created_at }));
    return { $metadata: {}, Items, Count, LastEvaluatedKey: { pk: "delivery#x", created_at } };
  });
  nowMs = NOON_MS;
  const recovered = await deliveriesRuns["deliveries recover"](context(), { account, from: isoTime(NOON_MS - 1_000) });
  pages.mockRestore();
  expect(asked).toEqual([10_000, 6_000, 2_000]);
  expect(recovered).toMatchObject({ recovered: 0, next_from: created_at });
});

test("an endpoint that is enabled again and again is enabled, what waits is left to the schedule, and webhooks can be recovered", async () => {
  const { account } = await anAccountWithReceiver();
  const enable = () => webhookRuns["webhook enable"](context(), { account });
  nowMs = NOON_MS;
  for (let count = 0; count < RESENDS_PER_MINUTE; count += 1) expect(await enable()).toMatchObject({ requeued: 0 });
  const counting = vi.spyOn(tables.db, "update");
  expect(await enable()).toMatchObject({ status: "on", requeued: null });
  // DynamoDB deletes the count only after its minute.
  const kept = expect.objectContaining({ ":end": nowMs / 1_000 + 3_600 });
  expect(counting).toHaveBeenCalledWith(expect.objectContaining({ ExpressionAttributeValues: kept }));
  counting.mockRestore();
  const recovery = { account, from: isoTime(NOON_MS - 1_000) };
  expect(await deliveriesRuns["deliveries recover"](context(), recovery)).toMatchObject({ recovered: 0 });
});

test("a time that has passed is shown as no next attempt", async () => {
  const { account } = await anAccountWithReceiver((response) => void response.writeHead(500).end());
  const transaction = await aSettledOrder(account);
  const reference = referenceOf(transaction);
  nowMs = NOON_MS;
  await attempt(messageAbout(transaction.pk));
  const nextAttempts = async () => {
    const shown = await deliveriesRuns["deliveries show"](context(), { account, reference });
    const listed = await deliveriesRuns["deliveries list"](context(), { account });
    return [shown, listed].map(({ deliveries }) => deliveries[0]?.next_attempt_at);
  };
  const [next] = await nextAttempts();
  expect(Date.parse(next ?? "")).toBeGreaterThan(nowMs);
  nowMs = Date.parse(next ?? "");
  expect(await nextAttempts()).toEqual([null, null]);
});

test("a replay is refused while nothing would be sent, and has no audit entry then", async () => {
  const account = await anAccount();
  const transaction = await aSettledOrder(account);
  const replay = () => deliveriesRuns["deliveries replay"](context(), { account, reference: referenceOf(transaction) });
  await expect(replay()).rejects.toThrow(`Account ${account} has no webhook endpoint. Set one with webhook set`);
  await webhookRuns["webhook set"](context(), { account, url: "http://127.0.0.1:9/" });
  await webhookRuns["webhook disable"](context(), { account });
  await expect(replay()).rejects.toThrow("is enabled: nothing is sent. Enable one with webhook enable");
  expect(await messages()).toEqual([]);
  expect(await readTransactionAudit(context().ledger, transaction)).toEqual([]);
});

test("a replay puts the webhook into the queue, and has an audit entry", async () => {
  const account = await anAccount();
  await webhookRuns["webhook set"](context(), { account, url: "http://127.0.0.1:9/" });
  const transaction = await aSettledOrder(account);
  const reference = referenceOf(transaction);
  nowMs = NOON_MS;
  const replayed = await deliveriesRuns["deliveries replay"](context(), { account, reference, why: "ticket 9" });
  const repeat = `replay-${isoTime(NOON_MS)}`;
  expect(replayed).toEqual({ reference, endpoints: [ENDPOINT], status: "success", repeat });
  // A probe is posted although the endpoint is down.
  expect(await messages()).toEqual([
    {
      ...{ event: "transaction.updated", transaction_pk: transaction.pk, status: "success" },
      ...{ endpoint: ENDPOINT, repeat, probe: true },
    },
  ]);
  expect(await readTransactionAudit(context().ledger, transaction)).toMatchObject([
    { action: "deliveries replay", why: "ticket 9", details: { reference, repeat } },
  ]);
});

test.each(["deliveries replay", "deliveries recover"] as const)(
  "%s sends nothing without its audit entry, and is an error if the queue takes nothing",
  async (action) => {
    const account = await anAccount();
    await webhookRuns["webhook set"](context(), { account, url: "http://127.0.0.1:9/" });
    const transaction = await aSettledOrder(account);
    await aDelivery(account, 1, "exhausted", { pk: transaction.pk });
    nowMs = NOON_MS + 60_000;
    const run = () =>
      action === "deliveries replay"
        ? deliveriesRuns[action](context(), { account, reference: referenceOf(transaction) })
        : deliveriesRuns[action](context(), { account, from: isoTime(NOON_MS - 60_000) });
    vi.spyOn(tables.db, "transactWrite").mockRejectedValueOnce(new Error("No audit"));
    await expect(run()).rejects.toThrow("No audit");
    expect(await messages()).toEqual([]);
    const send = vi.spyOn(sqs.client, "send").mockRejectedValueOnce(new Error("No queue"));
    await expect(run()).rejects.toThrow("No queue");
    send.mockRestore();
  },
);

test("the transaction and the event of another account do not exist, and are not sent again; the own event is, with its body", async () => {
  const [account, other] = [await anAccount(), await anAccount()];
  const transaction = await aSettledOrder(other);
  const event = { event: "wallet.low", account_id: other, endpoint: ENDPOINT, occurrence: "1", body: "{}" } as const;
  const webhookId = accountEventId(event);
  await webhookRuns["webhook set"](context(), { account: other, url: "http://127.0.0.1:9/" });
  const fresh = newDelivery(event, { accountId: other, webhookId }, NOON_MS);
  await recordProgress(context().ledger, fresh, { state: "removed" });
  const upstreamReference = `U-${other}`;
  await tables.db.put({
    TableName: tables.ledgerTable,
    Item: { ...transaction, upstream_reference: upstreamReference },
  });
  for (const reference of [referenceOf(transaction), upstreamReference, webhookId]) {
    const read = await deliveriesRuns["deliveries show"](context(), { account: other, reference });
    expect(read.reference).toBe(reference);
    const foreign = { account, reference };
    await expect(deliveriesRuns["deliveries show"](context(), foreign)).rejects.toThrow(NotFoundError);
    await expect(deliveriesRuns["deliveries replay"](context(), foreign)).rejects.toThrow(NotFoundError);
  }
  expect(await messages()).toEqual([]);
  expect(await readTransactionAudit(context().ledger, transaction)).toEqual([]);
  const own = { account: other, reference: webhookId };
  expect(await deliveriesRuns["deliveries replay"](context(), own)).toMatchObject({
    endpoints: [ENDPOINT],
    status: null,
  });
  expect(await messages()).toEqual([expect.objectContaining({ ...event, probe: true })]);
});

test("a successful test, another URL and enabling end the failures of an endpoint and send what waits; a failed test does neither", async () => {
  let status = 500;
  const { account, receiver } = await anAccountWithReceiver((response) => void response.writeHead(status).end());
  nowMs = NOON_MS;
  const transactions = await Promise.all([1, 2, 3, 4].map(() => aSettledOrder(account)));
  const fail = async () => {
    for (const { pk: transaction } of transactions) {
      nowMs += 1;
      await attempt(messageAbout(transaction));
    }
    expect(await webhookRuns["webhook show"](context(), { account })).toMatchObject({ down: true });
  };
  await fail();
  expect(await webhookRuns["webhook test"](context(), { account })).toMatchObject({ ok: false, requeued: 0 });
  expect(await webhookRuns["webhook show"](context(), { account })).toMatchObject({ down: true });
  expect(await messages()).toEqual([]);

  status = 200;
  // The third event made the endpoint one that is down: it waits outside the queue, as the fourth one does.
  expect(await webhookRuns["webhook test"](context(), { account })).toMatchObject({ ok: true, requeued: 2 });
  expect(await webhookRuns["webhook show"](context(), { account })).toMatchObject({ down: false, failing_since: null });
  const early = { event: "transaction.updated", status: "success", endpoint: ENDPOINT };
  expect(await messages()).toEqual([
    { ...early, transaction_pk: transactions[2]?.pk, early: 1 },
    { ...early, transaction_pk: transactions[3]?.pk, early: 0 },
  ]);
  // Nothing failed since: a further test sends nothing again.
  expect(await webhookRuns["webhook test"](context(), { account })).toMatchObject({ ok: true, requeued: 0 });

  expect(await webhookRuns["webhook set"](context(), { account, url: `${receiver.url}other` })).toMatchObject({
    requeued: 2,
  });
  expect(await webhookRuns["webhook enable"](context(), { account })).toMatchObject({ requeued: 2 });
  expect(await messages()).toHaveLength(4);
});

test("an endpoint that is mended while the queue fails is mended, and what waits is left to the schedule", async () => {
  const account = await anAccount();
  const { url } = await aReceiver((response) => void response.writeHead(500).end());
  await webhookRuns["webhook set"](context(), { account, url });
  const transactions = await Promise.all([1, 2, 3].map(() => aSettledOrder(account)));
  nowMs = NOON_MS;
  for (const { pk: transaction } of transactions) {
    await attempt(messageAbout(transaction));
  }
  const broken = { ...context(), queues: { ...context().queues, delivery: `${sqs.url("delivery")}-none` } };
  expect(await webhookRuns["webhook set"](broken, { account, url: `${url}new` })).toMatchObject({ requeued: null });
  expect(await webhookRuns["webhook show"](context(), { account })).toMatchObject({ down: false, url: `${url}new` });
});

test("a replay and a recovery are for each endpoint that gets the event, or for one, and a list is of all or one", async () => {
  const account = await anAccount();
  const [one, other] = [await aReceiver(), await aReceiver((response) => void response.writeHead(410).end())];
  await webhookRuns["webhook add"](context(), { account, url: one.url });
  await webhookRuns["webhook add"](context(), { account, url: other.url });
  await webhookRuns["webhook add"](context(), { account, url: "http://127.0.0.1:9/", events: ["wallet.low"] });
  const transaction = await aSettledOrder(account);
  const reference = referenceOf(transaction);
  const message = { event: "transaction.updated", transaction_pk: transaction.pk, status: "success" } as const;
  nowMs = NOON_MS;
  for (const endpoint of ["1", "2"]) await attempt({ ...message, endpoint });
  const states = async (endpoint?: string) => {
    const { deliveries } = await deliveriesRuns["deliveries list"](context(), { account, endpoint });
    return deliveries.map((each) => [each.endpoint, each.state]).toSorted();
  };
  expect(await states()).toEqual([
    ["1", "delivered"],
    ["2", "switched_off"],
  ]);
  expect(await states("2")).toEqual([["2", "switched_off"]]);

  const replay = (endpoint?: string) =>
    deliveriesRuns["deliveries replay"](context(), { account, reference, endpoint });
  expect(await replay()).toMatchObject({ endpoints: ["1"] });
  await webhookRuns["webhook enable"](context(), { account, endpoint: "2" });
  expect(await replay()).toMatchObject({ endpoints: ["1", "2"] });
  expect(await replay("2")).toMatchObject({ endpoints: ["2"] });
  expect((await messages()).map(({ endpoint }) => endpoint).toSorted()).toEqual(["1", "1", "2", "2"]);

  const recover = (endpoint?: string) =>
    deliveriesRuns["deliveries recover"](context(), { account, from: isoTime(NOON_MS - 1_000), endpoint });
  expect([(await recover()).recovered, (await recover("1")).recovered, (await recover("2")).recovered]).toEqual([
    1, 0, 1,
  ]);
  expect((await messages()).map(({ endpoint }) => endpoint)).toEqual(["2", "2"]);

  // The records of a removed endpoint stay with the order.
  await webhookRuns["webhook remove"](context(), { account, endpoint: "2", why: "not in use" });
  const deliveries = await show(account, reference);
  expect(deliveries.map((each) => [each.endpoint, each.state])).toEqual([
    ["1", "delivered"],
    ["2", "switched_off"],
  ]);
});

test("what waits for an endpoint that is removed goes into the queue at once and ends as removed; the others' webhooks wait on", async () => {
  const account = await anAccount();
  const { url } = await aReceiver((response) => void response.writeHead(500).end());
  for (const path of ["a", "b"]) await webhookRuns["webhook add"](context(), { account, url: `${url}${path}` });
  const transactions = await Promise.all([1, 2, 3].map(() => aSettledOrder(account)));
  nowMs = NOON_MS;
  for (const endpoint of ["1", "2"]) {
    for (const { pk: transaction_pk } of transactions) {
      await attempt({ event: "transaction.updated", transaction_pk, status: "success", endpoint });
    }
  }
  await webhookRuns["webhook remove"](context(), { account, endpoint: "1", why: "not in use" });
  const sent = (await messages()).map((each) => deliveryMessage.parse(each));
  expect(sent.map((each) => each.endpoint)).toEqual(["1"]);
  for (const each of sent) await attempt(each);
  const { deliveries } = await deliveriesRuns["deliveries list"](context(), { account });
  const parked = deliveries.filter((each) => each.reference === referenceOf(transactions[2] ?? aTransaction()));
  expect(parked.map((each) => [each.endpoint, each.state, each.parked]).toSorted()).toEqual([
    ["1", "removed", false],
    ["2", "pending", true],
  ]);
});
