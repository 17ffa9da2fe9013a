import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { DynamoDBStreamEvent } from "aws-lambda";
import { expect, onTestFinished, test, vi } from "vitest";
import { listenOnLoopback } from "../../../../tools/local/loopback.ts";
import { consumeStream } from "../../../../tools/local/stream-consumer.ts";
import { dynamodbEndpoint } from "../../../builders/dynamodb/emulator.ts";
import { addStream, freshTables } from "../../../builders/dynamodb/tables.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { cleanups, temporaryFolder } from "../../../builders/run/cleanups.ts";
import { eventually } from "../../../builders/run/eventually.ts";

const RECORD_AGE_MAX_S = 3_600;
const EMULATOR = (): string => dynamodbEndpoint;

/** Forwards calls to the emulator, but never answers the first one of an operation, or breaks off within its answer. */
const aSilentProxy = async (operation: string, isBegun: boolean): Promise<string> => {
  let isSilent = true;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (isSilent && String(request.headers["x-amz-target"]).endsWith(`.${operation}`)) {
      isSilent = false;
      if (isBegun) response.writeHead(200, { "content-length": "100" }).write("{");
      return;
    }
    const names = ["authorization", "content-type", "x-amz-date", "x-amz-target"];
    const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name])]));
    const answer = await fetch(EMULATOR(), { method: "POST", headers, body });
    response.writeHead(answer.status, { "content-type": "application/x-amz-json-1.0" }).end(await answer.text());
  });
  cleanups.push(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${await listenOnLoopback(server)}`;
};

test.for([
  ["DescribeTable", false],
  ["DescribeStream", false],
  ["GetShardIterator", false],
  ["GetRecords", false],
  ["GetRecords", true],
] as const)(
  "a call of %s that is never answered (its answer begun: %s) is given up, logged and made again",
  async ([operation, isBegun]) => {
    const { settle, consume } = await aStream();
    await settle("one");
    const log = captureLog();
    const { seen } = consume(undefined, { endpoint: await aSilentProxy(operation, isBegun), answerMs: 500 });
    await eventually(() => expect(seen).toEqual(["one"]));
    expect(log.text()).toMatch(/"event":"stream.unreadable".*"error":"TimeoutError"/);
  },
);

/** A ledger table with a stream, and what consumes it with the function `handle`. */
const aStream = async () => {
  const { db, ledgerTable } = await freshTables();
  await addStream(db, ledgerTable);
  const checkpointPath = join(temporaryFolder(), "checkpoint.json");
  const put = (pk: string, status: string) =>
    db.put({ TableName: ledgerTable, Item: { pk, status, bytes: new Uint8Array([1, 2, 3]) } });
  const settle = async (pk: string): Promise<void> => {
    await put(pk, "processing");
    await put(pk, "success");
  };
  const consume = (
    handle: (event: DynamoDBStreamEvent) => unknown = () => undefined,
    slow: { readonly endpoint: string; readonly answerMs: number } = { endpoint: EMULATOR(), answerMs: 10_000 },
    startingPosition: "TRIM_HORIZON" | "LATEST" = "TRIM_HORIZON",
  ) => {
    const seen: string[] = [];
    const consumer = consumeStream({
      ...slow,
      table: ledgerTable,
      startingPosition,
      batchSize: 100,
      pollMs: 100,
      recordAgeMaxS: RECORD_AGE_MAX_S,
      patterns: [
        { dynamodb: { OldImage: { status: { S: ["processing"] } }, NewImage: { status: { S: ["success"] } } } },
        { dynamodb: { Keys: { pk: { S: [{ prefix: "wallet#" }] } } } },
      ],
      functionName: "consumer",
      invoke: async (_name, event) => {
        const streamEvent: DynamoDBStreamEvent = JSON.parse(JSON.stringify(event));
        seen.push(...streamEvent.Records.map(({ dynamodb }) => dynamodb?.Keys?.pk?.S ?? ""));
        return handle(streamEvent);
      },
      checkpointPath,
    });
    cleanups.push(consumer.stop);
    return { seen, ready: consumer.ready, stop: consumer.stop };
  };
  return { settle, put, consume, checkpointPath };
};

test("a change that matches the pattern is delivered as AWS's stream event, and other changes do not invoke the function", async () => {
  const { settle, put, consume } = await aStream();
  await put("other", "success");
  await settle("one");
  const events: DynamoDBStreamEvent[] = [];
  consume((event) => void events.push(event));
  await eventually(() => expect(events).toHaveLength(1));
  expect(events[0]?.Records).toEqual([
    {
      eventID: expect.any(String),
      eventName: "MODIFY",
      eventVersion: "1.1",
      eventSource: "aws:dynamodb",
      eventSourceARN: expect.stringMatching(/^arn:aws:dynamodb:.*\/stream\//),
      awsRegion: "us-east-1",
      dynamodb: {
        ApproximateCreationDateTime: expect.any(Number),
        Keys: { pk: { S: "one" } },
        OldImage: { pk: { S: "one" }, status: { S: "processing" }, bytes: { B: "AQID" } },
        NewImage: { pk: { S: "one" }, status: { S: "success" }, bytes: { B: "AQID" } },
        SequenceNumber: expect.any(String),
        SizeBytes: expect.any(Number),
        StreamViewType: "NEW_AND_OLD_IMAGES",
      },
    },
  ]);
});

test("a change that matches the second pattern by the prefix of its key is delivered too", async () => {
  const { put, consume } = await aStream();
  await put("wallets", "none");
  await put("wallet#acc_1", "none");
  const { seen } = consume();
  await eventually(() => expect(seen).toEqual(["wallet#acc_1"]));
});

/** A function that fails on the changes of one item while `fails` is true. */
const failingOn =
  (name: string, fails: () => boolean = () => true) =>
  ({ Records }: DynamoDBStreamEvent) => {
    const failed = Records.filter(({ dynamodb }) => dynamodb?.Keys?.pk?.S === name && fails());
    return { batchItemFailures: failed.map(({ dynamodb }) => ({ itemIdentifier: dynamodb?.SequenceNumber })) };
  };

test("the stream is retried from the first failed change, which is skipped once it is too old", async () => {
  const { settle, consume } = await aStream();
  for (const pk of ["one", "poison", "three"]) await settle(pk);
  const { seen } = consume(failingOn("poison"));
  const triesOf = (name: string): number => seen.filter((pk) => pk === name).length;
  await eventually(() => expect(triesOf("poison")).toBeGreaterThan(1));
  const { now } = Date;
  const later = vi.spyOn(Date, "now").mockImplementation(() => now() + (RECORD_AGE_MAX_S + 1) * 1_000);
  onTestFinished(() => later.mockRestore());
  await eventually(() => expect(triesOf("three")).toBe(triesOf("poison") + 1));
  expect(triesOf("one")).toBe(1);
});

test("a change that is not too old is retried however often it fails, until it is handled", async () => {
  const { settle, consume } = await aStream();
  for (const pk of ["one", "two"]) await settle(pk);
  let tries = 0;
  const { seen } = consume(
    failingOn("one", () => {
      tries += 1;
      return tries <= 8;
    }),
  );
  await eventually(() => expect(seen.filter((pk) => pk === "one")).toHaveLength(9));
  await eventually(() => expect(seen.at(-1)).toBe("two"));
});

test("a function that throws is invoked with all changes again", async () => {
  const { settle, consume } = await aStream();
  await settle("one");
  let calls = 0;
  const { seen } = consume(() => {
    calls += 1;
    if (calls === 1) throw new Error("broken");
  });
  await eventually(() => expect(seen).toEqual(["one", "one"]));
});

test("a restarted consumer continues after the last handled change, not after the last read one", async () => {
  const { settle, consume, checkpointPath } = await aStream();
  await settle("one");
  const first = consume();
  await eventually(() => expect(first.seen).toEqual(["one"]));
  await eventually(() => expect(readFileSync(checkpointPath, "utf8")).toContain("sequence"));
  await first.stop();

  await settle("two");
  const second = consume(() => Promise.reject(new Error("broken")));
  await eventually(() => expect(second.seen).toContain("two"));
  await second.stop();
  const third = consume();
  await eventually(() => expect(third.seen).toEqual(["two"]));
});

test("a consumer that begins at the end of the stream gets the changes after it was ready, and continues at its checkpoint", async () => {
  const { settle, consume } = await aStream();
  await settle("before");
  const first = consume(undefined, undefined, "LATEST");
  await first.ready;
  await settle("one");
  await eventually(() => expect(first.seen).toEqual(["one"]));
  await first.stop();
  await settle("two");
  const second = consume(undefined, undefined, "LATEST");
  await eventually(() => expect(second.seen).toEqual(["two"]));
});
