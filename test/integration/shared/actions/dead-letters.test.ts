import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQS,
} from "@aws-sdk/client-sqs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import * as z from "#zod";
import { deadLettersRuns } from "../../../../shared/actions/dead-letters.ts";
import { readAudit, SERVICE } from "../../../../shared/ledger/audit.ts";
import { transactionPk } from "../../../../shared/ledger/schema.ts";
import { referenceOf } from "../../../../shared/ledger/transaction.ts";
import {
  deadLettersOf,
  queueUrls,
  scheduleDeadLetters,
  streamDeadLetters,
} from "../../../../shared/platform/queue-names.ts";
import { type LocalQueues, startQueues } from "../../../../tools/local/queues.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { anActionContext } from "../../../builders/ledger/action-context.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";

/** Goal: what was given up is seen without its contents, and moves back without a loss. Method: the local SQS. */
let tables: Awaited<ReturnType<typeof freshTables>>;
let sqs: LocalQueues;
beforeEach(async () => {
  tables ??= await freshTables();
  const shape = { consumer: "", batchSize: 1, visibilityTimeoutS: 30, receivesMax: 3 };
  sqs = await startQueues({ outcomes: shape, delivery: shape });
});
afterEach(() => sqs.stop());

const context = (stage?: string, client: SQS = sqs.client) =>
  anActionContext(tables, {
    clock: () => Date.now() + 90_000,
    sqs: client,
    queues: queueUrls({ outcomes: sqs.url("outcomes"), delivery: sqs.url("delivery"), stage }),
  });

const giveUp = async (queueName: string, body: unknown, others: Partial<SendMessageCommand["input"]> = {}) => {
  const MessageBody = typeof body === "string" ? body : JSON.stringify(body);
  await sqs.client.send(new SendMessageCommand({ QueueUrl: sqs.url(queueName), MessageBody, ...others }));
};

const messagesOf = async (queueName: string) => {
  const command = new ReceiveMessageCommand({
    QueueUrl: sqs.url(queueName),
    MaxNumberOfMessages: 10,
    MessageAttributeNames: ["All"],
    MessageSystemAttributeNames: ["All"],
    VisibilityTimeout: 0,
  });
  return (await sqs.client.send(command)).Messages ?? [];
};

const attributes = z.custom<object>((value) => typeof value === "object" && value !== null);
const received = z.object({ Messages: z.optional(z.array(z.object({ Attributes: attributes }))) });
const addGroup = (answer: unknown, MessageGroupId: string): void => {
  for (const { Attributes } of received.parse(answer).Messages ?? []) Object.assign(Attributes, { MessageGroupId });
};

const list = async (stage?: string) => (await deadLettersRuns["dead-letters list"](context(stage), {})).queues;

test("the list has the number, the oldest age and what each message is about, and none of its contents", async () => {
  const transaction = aTransaction({ pk: transactionPk("1".padStart(26, "0")) });
  await tables.db.put({ TableName: tables.ledgerTable, Item: transaction });
  const event = { kind: "event", mode: "live", received_at: "2026-11-21T12:00:00.000Z", reference: "U-1" };
  const phone = { key: "secret-key", masked: "0803****567" };
  await giveUp(deadLettersOf("outcomes"), { ...event, status: "failed", phone });
  await giveUp(deadLettersOf("outcomes"), "not JSON 08031234567");
  const unmade = aTransaction({ phone_number: "*********67", description: "MTN 1GB data for *********67" });
  await giveUp(deadLettersOf("outcomes"), { kind: "void", item: unmade });
  await giveUp(deadLettersOf("delivery"), {
    event: "transaction.updated",
    endpoint: "1",
    transaction_pk: transaction.pk,
    status: "success",
  });
  await giveUp(deadLettersOf("delivery"), {
    event: "wallet.low",
    endpoint: "1",
    account_id: "acc_1",
    occurrence: "1",
    body: '{"balance":12}',
  });
  const [outcomes, delivery, ...others] = await list();
  expect(others).toEqual([]);
  expect(outcomes).toMatchObject({ queue: "outcomes", number: 3 });
  expect(outcomes?.messages).toHaveLength(3);
  expect(outcomes?.messages).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: "event", about: "U-1", why: "failed each time it was handled" }),
      expect.objectContaining({ kind: "void", about: referenceOf(unmade) }),
      expect.objectContaining({ kind: "unknown", about: null, why: "cannot be read" }),
    ]),
  );
  expect(outcomes?.oldest_s).toBeGreaterThanOrEqual(89);
  expect(outcomes?.oldest_s).toBeLessThan(120);
  expect(delivery?.messages.map(({ kind, about }) => [kind, about]).toSorted()).toEqual([
    ["transaction.updated", referenceOf(transaction)],
    ["wallet.low", expect.stringMatching(/^evt_[0-9a-f]{32}$/)],
  ]);
  expect(JSON.stringify(await list())).not.toMatch(/secret-key|0803|balance|MTN/);
});

test("a stage's list also has what its stream and its schedules gave up, with AWS's reason", async () => {
  for (const QueueName of [streamDeadLetters("prod"), scheduleDeadLetters("prod")]) {
    await sqs.client.send(new CreateQueueCommand({ QueueName }));
  }
  await giveUp(streamDeadLetters("prod"), {
    requestContext: { condition: "RecordAgeExceeded" },
    DDBStreamBatchInfo: { batchSize: 7, approximateArrivalOfFirstRecord: "2026-11-21T12:00:00Z", shardId: "s" },
  });
  const text = (StringValue: string) => ({ DataType: "String", StringValue });
  await giveUp(
    scheduleDeadLetters("prod"),
    { source: "aws.events" },
    {
      MessageAttributes: {
        ERROR_CODE: text("TOO_MANY_REQUESTS"),
        TARGET_ARN: text("arn:aws:lambda:eu-west-1:1:function:prod-airtime-refresh-catalog"),
      },
    },
  );
  const [, , stream, schedules] = await list("prod");
  expect(stream).toMatchObject({
    queue: "stream",
    number: 1,
    messages: [{ kind: "changes", about: "7 from 2026-11-21T12:00:00Z", why: "RecordAgeExceeded" }],
  });
  expect(schedules).toMatchObject({
    queue: "schedules",
    messages: [{ kind: "run", about: "prod-airtime-refresh-catalog", why: "TOO_MANY_REQUESTS" }],
  });
});

test("a message moves back with its body, its group and its attributes, after the audit entry", async () => {
  const body = { event: "transaction.updated", transaction_pk: "transaction#1", status: "success" };
  const MessageAttributes = { origin: { DataType: "String", StringValue: "test" } };
  await giveUp(deadLettersOf("delivery"), body, { MessageAttributes });
  const sent: unknown[] = [];
  const send = sqs.client.send.bind(sqs.client);
  // The emulator does not return the group that AWS returns.
  const spy = vi.spyOn(sqs.client, "send").mockImplementation(async (command: unknown) => {
    if (command instanceof SendMessageCommand) sent.push(command.input);
    const answer: unknown = await Reflect.apply(send, sqs.client, [command]);
    if (command instanceof ReceiveMessageCommand) addGroup(answer, "acc_1");
    return answer;
  });
  const moved = await deadLettersRuns["dead-letters redrive"](context(), { queue: "delivery", why: "ticket 5" });
  expect(moved).toEqual({ queue: "delivery", moved: 1, may_have_more: false });
  spy.mockRestore();
  expect(sent).toMatchObject([{ QueueUrl: sqs.url("delivery"), MessageGroupId: "acc_1" }]);
  expect(await messagesOf(deadLettersOf("delivery"))).toEqual([]);
  expect(await messagesOf("delivery")).toMatchObject([{ Body: JSON.stringify(body), MessageAttributes }]);
  expect(await messagesOf("outcomes")).toEqual([]);
  expect((await readAudit(context().ledger, SERVICE)).at(-1)).toMatchObject({
    action: "dead-letters redrive",
    why: "ticket 5",
    details: { queue: "delivery" },
  });
});

test("one call moves 50 messages at most, and the next call the others", async () => {
  for (let index = 0; index < 53; index += 1) await giveUp(deadLettersOf("outcomes"), { index });
  const redrive = () => deadLettersRuns["dead-letters redrive"](context(), { queue: "outcomes" });
  expect(await redrive()).toEqual({ queue: "outcomes", moved: 50, may_have_more: true });
  expect(await redrive()).toEqual({ queue: "outcomes", moved: 3, may_have_more: false });
});

test("a redrive that ends between send and delete leaves the message in both queues: it is repeated, not lost", async () => {
  await giveUp(deadLettersOf("outcomes"), { kind: "settlement" });
  const send = sqs.client.send.bind(sqs.client);
  const spy = vi.spyOn(sqs.client, "send").mockImplementation(async (command: unknown) => {
    if (command instanceof DeleteMessageCommand) throw new Error("The process has ended");
    return Reflect.apply(send, sqs.client, [command]);
  });
  await expect(deadLettersRuns["dead-letters redrive"](context(), { queue: "outcomes" })).rejects.toThrow("ended");
  spy.mockRestore();
  expect(await messagesOf("outcomes")).toHaveLength(1);
  expect(await list()).toMatchObject([{ queue: "outcomes", messages: [] }, {}]);
});

test("a redrive of which one message cannot be sent fails once the others are moved: nothing is moved after its answer", async () => {
  for (const kind of ["refused", "moved"]) await giveUp(deadLettersOf("outcomes"), { kind });
  const send = sqs.client.send.bind(sqs.client);
  const spy = vi.spyOn(sqs.client, "send").mockImplementation(async (command: unknown) => {
    const isRefused = command instanceof SendMessageCommand && command.input.MessageBody?.includes("refused");
    if (isRefused) throw new Error("No answer");
    const answer: unknown = await Reflect.apply(send, sqs.client, [command]);
    if (command instanceof DeleteMessageCommand) deleted += 1;
    return answer;
  });
  let deleted = 0;
  await expect(deadLettersRuns["dead-letters redrive"](context(), { queue: "outcomes" })).rejects.toThrow("No answer");
  expect(deleted).toBe(1);
  spy.mockRestore();
  expect(await messagesOf("outcomes")).toMatchObject([{ Body: JSON.stringify({ kind: "moved" }) }]);
});

test("without an audit entry nothing is moved", async () => {
  await giveUp(deadLettersOf("outcomes"), { kind: "settlement" });
  vi.spyOn(tables.db, "transactWrite").mockRejectedValueOnce(new Error("No answer"));
  await expect(deadLettersRuns["dead-letters redrive"](context(), { queue: "outcomes" })).rejects.toThrow("No answer");
  expect(await messagesOf("outcomes")).toEqual([]);
  expect(await messagesOf(deadLettersOf("outcomes"))).toHaveLength(1);
});
