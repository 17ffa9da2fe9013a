import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { GetQueueAttributesCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { SQSEvent } from "aws-lambda";
import { afterEach, expect, test, vi } from "vitest";
import { sleep } from "../../../../shared/platform/time.ts";
import { endLeftOverDynoxide, startDynoxide } from "../../../../tools/local/dynamodb.ts";
import { localClient } from "../../../../tools/local/local-aws.ts";
import { consumeQueue } from "../../../../tools/local/queue-consumer.ts";
import { deadLettersOf, startQueues } from "../../../../tools/local/queues.ts";
import { loadSecrets, startSecretsManager } from "../../../../tools/local/secrets.ts";
import { createTables, tableNames } from "../../../../tools/local/tables.ts";

const cleanups: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "runner-test-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

test("the real Secrets Manager client gets a secret, by name or ARN, and learns that another is absent", async () => {
  const stub = await startSecretsManager({ "reference-key": "s3cret" });
  cleanups.push(stub.stop);
  const client = new SecretsManagerClient(localClient(stub.endpoint));
  const byName = await client.send(new GetSecretValueCommand({ SecretId: "reference-key" }));
  expect(byName).toMatchObject({ Name: "reference-key", SecretString: "s3cret", VersionStages: ["AWSCURRENT"] });
  expect((await client.send(new GetSecretValueCommand({ SecretId: byName.ARN }))).SecretString).toBe("s3cret");
  await expect(client.send(new GetSecretValueCommand({ SecretId: "toString" }))).rejects.toMatchObject({
    name: "ResourceNotFoundException",
  });
});

test("a secret that is set anew has its value before under AWSPREVIOUS, also after a restart", async () => {
  const path = join(temporaryFolder(), "secrets.json");
  const value = async (client: SecretsManagerClient, VersionStage: string): Promise<string | undefined> =>
    (await client.send(new GetSecretValueCommand({ SecretId: "webhook-token", VersionStage }))).SecretString;
  const secrets = loadSecrets(path);
  const first = await startSecretsManager(secrets, path);
  const client = new SecretsManagerClient(localClient(first.endpoint));
  await expect(value(client, "AWSPREVIOUS")).rejects.toMatchObject({ name: "ResourceNotFoundException" });
  await client.send(new PutSecretValueCommand({ SecretId: "webhook-token", SecretString: "anew" }));
  expect(await value(client, "AWSCURRENT")).toBe("anew");
  await first.stop();

  const second = await startSecretsManager(loadSecrets(path), path);
  cleanups.push(second.stop);
  const later = new SecretsManagerClient(localClient(second.endpoint));
  expect(await value(later, "AWSCURRENT")).toBe("anew");
  expect(await value(later, "AWSPREVIOUS")).toBe(secrets["webhook-token"]);
});

test("a secret that the file did not hold is not kept in it", async () => {
  const path = join(temporaryFolder(), "secrets.json");
  const stub = await startSecretsManager({ ...loadSecrets(path), "upstream-key": "of a provider elsewhere" }, path);
  cleanups.push(stub.stop);
  const client = new SecretsManagerClient(localClient(stub.endpoint));
  await client.send(new PutSecretValueCommand({ SecretId: "upstream-key", SecretString: "its next one" }));
  expect(readFileSync(path, "utf8")).not.toMatch(/elsewhere|next/);
});

test("tables and items outlive a kill -9 of the database, and making the tables again changes nothing", async () => {
  const folder = temporaryFolder();
  const files = { databaseFile: join(folder, "tables.db"), pidFile: join(folder, "pid"), logFile: join(folder, "log") };
  const first = await startDynoxide(files);
  await createTables(first.endpoint);
  const write = new PutCommand({ TableName: tableNames.ledger, Item: { pk: "kept", owner: "o", created_at: "now" } });
  await DynamoDBDocumentClient.from(new DynamoDBClient(localClient(first.endpoint))).send(write);
  if (first.pid !== undefined) process.kill(first.pid, "SIGKILL");
  await first.broke;
  await first.stop();

  const second = await startDynoxide(files);
  cleanups.push(second.stop);
  await createTables(second.endpoint);
  const read = new GetCommand({ TableName: tableNames.ledger, Key: { pk: "kept" } });
  const { Item } = await DynamoDBDocumentClient.from(new DynamoDBClient(localClient(second.endpoint))).send(read);
  expect(Item?.owner).toBe("o");
});

test("a database left behind is ended only if it is dynoxide on our file", async () => {
  const folder = temporaryFolder();
  const files = { databaseFile: join(folder, "tables.db"), pidFile: join(folder, "pid"), logFile: join(folder, "log") };
  const database = await startDynoxide(files);
  cleanups.push(database.stop);
  await endLeftOverDynoxide({ databaseFile: join(folder, "other.db"), pidFile: files.pidFile });
  expect(readFileSync(`/proc/${database.pid}/cmdline`, "utf8")).toContain("dynoxide");

  writeFileSync(files.pidFile, String(database.pid));
  await endLeftOverDynoxide(files);
  await database.broke;
  expect(existsSync(`/proc/${database.pid}`)).toBe(false);
});

/** A queue whose messages come back after a second, with a consumer, and what it was given. */
const consumedQueue = async (
  handle: (event: SQSEvent) => unknown,
  { dataDir = temporaryFolder(), batchSize = 10 } = {},
) => {
  const shape = { consumer: "consumer", batchSize, visibilityTimeoutS: 1, receivesMax: 2 };
  const sqs = await startQueues({ jobs: shape }, dataDir);
  const { client, url } = sqs;
  const given: SQSEvent[] = [];
  const invoke = async (_name: string, event: unknown): Promise<unknown> => {
    const sqsEvent: SQSEvent = JSON.parse(JSON.stringify(event));
    given.push(sqsEvent);
    return handle(sqsEvent);
  };
  const mapping = { client, queueName: "jobs", queueUrl: url("jobs"), batchSize, functionName: "consumer", invoke };
  const consumer = consumeQueue(mapping);
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
  const bodies = (): string[] => given.flatMap((event) => event.Records.map((record) => record.body));
  return { endpoint: sqs.endpoint, given, bodies, send, count };
};

test("a message becomes an SQS event of AWS's shape and is deleted when the function succeeds", async () => {
  const { given, send, count } = await consumedQueue(() => ({ batchItemFailures: [] }));
  await send("hello");
  await vi.waitFor(async () => expect(await count("jobs")).toBe(0), 5_000);
  expect(given[0]?.Records[0]).toMatchObject({
    body: "hello",
    md5OfBody: "5d41402abc4b2a76b9719d911017c592",
    messageAttributes: {},
    attributes: { ApproximateReceiveCount: "1", SentTimestamp: expect.stringMatching(/^\d{13}$/) },
    eventSource: "aws:sqs",
    eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:jobs",
    awsRegion: "us-east-1",
  });
});

test("only the failed messages of a batch come back, and after the last try they are dead letters", async () => {
  const { bodies, send, count } = await consumedQueue(({ Records }) => {
    const failed = Records.filter((record) => record.body === "poison");
    return { batchItemFailures: failed.map((record) => ({ itemIdentifier: record.messageId })) };
  });
  await Promise.all([send("fine"), send("poison")]);
  await vi.waitFor(async () => expect(await count(deadLettersOf("jobs"))).toBe(1), { timeout: 8_000, interval: 100 });
  expect(bodies().filter((body) => body === "poison")).toHaveLength(2);
  expect(bodies().filter((body) => body === "fine")).toHaveLength(1);
  expect(await count("jobs")).toBe(0);
});

test.each<[string, () => unknown]>([
  ["throws", () => Promise.reject(new Error("broken"))],
  ["names a message that it was not given", () => ({ batchItemFailures: [{ itemIdentifier: "another" }] })],
])("the whole batch comes back when the function %s", async (_what, handle) => {
  const { bodies, send } = await consumedQueue(handle);
  await send("again");
  await vi.waitFor(() => expect(bodies()).toEqual(["again", "again"]), { timeout: 5_000, interval: 100 });
});

test("messages that nobody has handled survive a restart of the queues", async () => {
  const dataDir = temporaryFolder();
  const { send, given } = await consumedQueue(() => Promise.reject(new Error("not yet")), { dataDir });
  await send("kept");
  await vi.waitFor(() => expect(given).toHaveLength(1));
  await cleanups.pop()?.();
  await cleanups.pop()?.();
  const { bodies } = await consumedQueue(() => undefined, { dataDir });
  await vi.waitFor(() => expect(bodies()).toEqual(["kept"]), { timeout: 5_000, interval: 100 });
});

test("where each message is a batch of its own, one that failed comes back, and is a dead letter after its last try", async () => {
  const { bodies, send, count } = await consumedQueue(() => Promise.reject(new Error("broken")), { batchSize: 1 });
  await send("poison");
  await vi.waitFor(async () => expect(await count(deadLettersOf("jobs"))).toBe(1), { timeout: 8_000, interval: 100 });
  expect(bodies()).toEqual(["poison", "poison"]);
});

test("where each message is a batch of its own, 40 that take long do not hold up the one behind them", async () => {
  const { bodies, send } = await consumedQueue(() => sleep(900), { batchSize: 1 });
  await Promise.all(Array.from({ length: 40 }, () => send("slow")));
  await send("behind");
  const sentMs = Date.now();
  await vi.waitFor(() => expect(bodies()).toContain("behind"), { timeout: 5_000, interval: 10 });
  expect(Date.now() - sentMs).toBeLessThan(800);
});

const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

test.skipIf(outside === undefined)("the queues answer nobody from outside this machine's loopback", async () => {
  const { endpoint } = await consumedQueue(() => undefined);
  expect((await fetch(`${endpoint}/health`)).status).toBe(200);
  await expect(fetch(`http://${outside}:${new URL(endpoint).port}/health`)).rejects.toThrow();
});
