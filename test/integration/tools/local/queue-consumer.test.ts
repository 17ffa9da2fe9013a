import { writeFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { GetQueueAttributesCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import type { SQSEvent } from "aws-lambda";
import { expect, test } from "vitest";
import { deadLettersOf } from "../../../../shared/platform/queue-names.ts";
import { consumeQueue } from "../../../../tools/local/queue-consumer.ts";
import { startQueues } from "../../../../tools/local/queues.ts";
import { cleanups, temporaryFolder } from "../../../builders/run/cleanups.ts";
import { eventually } from "../../../builders/run/eventually.ts";
import { retriedAtOnce, VISIBILITY_TIMEOUT_S } from "../../../builders/upstream/retried-at-once.ts";

/** A queue with 2 receives, its consumer, and the events of its invocations. */
const consumedQueue = async (
  handle: (event: SQSEvent) => unknown,
  { dataDir, batchSize = 10 }: { readonly dataDir?: string; readonly batchSize?: number } = {},
) => {
  const shape = { consumer: "consumer", batchSize, visibilityTimeoutS: VISIBILITY_TIMEOUT_S, receivesMax: 2 };
  const sqs = await startQueues({ jobs: shape }, dataDir);
  const { client, url } = sqs;
  const events: SQSEvent[] = [];
  const invoke = async (_name: string, event: unknown): Promise<unknown> => {
    const sqsEvent: SQSEvent = JSON.parse(JSON.stringify(event));
    events.push(sqsEvent);
    return handle(sqsEvent);
  };
  const queueUrl = url("jobs");
  const consumer = consumeQueue({
    client,
    queueName: "jobs",
    queueUrl,
    batchSize,
    concurrencyMax: 10,
    functionName: "consumer",
    invoke: retriedAtOnce(client, queueUrl, invoke),
  });
  cleanups.push(sqs.stop, consumer.stop);
  const send = (body: string) => client.send(new SendMessageCommand({ QueueUrl: url("jobs"), MessageBody: body }));
  const count = async (queueName: string): Promise<number> => {
    const AttributeNames = ["All" as const];
    const { Attributes } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: url(queueName), AttributeNames }),
    );
    const { ApproximateNumberOfMessages: ready, ApproximateNumberOfMessagesNotVisible: inFlight } = Attributes ?? {};
    return Number(ready) + Number(inFlight);
  };
  const bodies = (): string[] => events.flatMap((event) => event.Records.map((record) => record.body));
  return { endpoint: sqs.endpoint, events, bodies, send, count };
};

test("a message is delivered as AWS's SQS event and deleted when the function succeeds", async () => {
  const { events, send, count } = await consumedQueue(() => ({ batchItemFailures: [] }));
  await send("hello");
  await eventually(async () => expect(await count("jobs")).toBe(0));
  expect(events[0]?.Records[0]).toMatchObject({
    body: "hello",
    md5OfBody: "5d41402abc4b2a76b9719d911017c592",
    messageAttributes: {},
    attributes: { ApproximateReceiveCount: "1", SentTimestamp: expect.stringMatching(/^\d{13}$/) },
    eventSource: "aws:sqs",
    eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:jobs",
    awsRegion: "us-east-1",
  });
});

test("only the failed messages of a batch are received again, and become dead letters after the last receive", async () => {
  const { bodies, send, count } = await consumedQueue(({ Records }) => {
    const failed = Records.filter((record) => record.body === "poison");
    return { batchItemFailures: failed.map((record) => ({ itemIdentifier: record.messageId })) };
  });
  await Promise.all([send("fine"), send("poison")]);
  await eventually(async () => expect(await count(deadLettersOf("jobs"))).toBe(1));
  expect(bodies().filter((body) => body === "poison")).toHaveLength(2);
  expect(bodies().filter((body) => body === "fine")).toHaveLength(1);
  expect(await count("jobs")).toBe(0);
});

test.each<[string, () => unknown]>([
  ["throws", () => Promise.reject(new Error("broken"))],
  ["names a message that is not in the batch", () => ({ batchItemFailures: [{ itemIdentifier: "another" }] })],
])("the whole batch is received again when the function %s", async (_what, handle) => {
  const { bodies, send } = await consumedQueue(handle);
  await send("again");
  await eventually(() => expect(bodies()).toEqual(["again", "again"]));
});

test("unhandled messages survive a restart of the queues", async () => {
  const dataDir = temporaryFolder();
  const { send, events } = await consumedQueue(() => new Promise(() => {}), { dataDir });
  await send("stored");
  await eventually(() => expect(events).toHaveLength(1));
  await cleanups.pop()?.();
  await cleanups.pop()?.();
  const { bodies } = await consumedQueue(() => undefined, { dataDir });
  await eventually(() => expect(bodies()).toEqual(["stored"]));
});

test("the queues start with a file that a run left empty, because it was killed while it made it", async () => {
  const dataDir = temporaryFolder();
  writeFileSync(join(dataDir, "fauxqs.db"), "");
  const { send, bodies } = await consumedQueue(() => undefined, { dataDir });
  await send("hello");
  await eventually(() => expect(bodies()).toEqual(["hello"]));
});

test("9 slow messages do not delay the message after them while 10 batches may be in work", async () => {
  const end = Promise.withResolvers<void>();
  const { bodies, send } = await consumedQueue(() => end.promise, { batchSize: 1 });
  await Promise.all(Array.from({ length: 9 }, () => send("slow")));
  await send("next");
  await eventually(() => expect(bodies()).toContain("next"));
  end.resolve();
});

const externalAddress = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

test.skipIf(externalAddress === undefined)("the queues listen on loopback only", async () => {
  const { endpoint } = await consumedQueue(() => undefined);
  expect((await fetch(`${endpoint}/health`)).status).toBe(200);
  await expect(fetch(`http://${externalAddress}:${new URL(endpoint).port}/health`)).rejects.toThrow();
});
