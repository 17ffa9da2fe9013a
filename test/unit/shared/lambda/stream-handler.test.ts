import { marshall } from "@aws-sdk/util-dynamodb";
import { expect, test } from "vitest";
import type { Change } from "../../../../shared/call/change.ts";
import { streamBatchHandler, streamHandler } from "../../../../shared/lambda/stream-handler.ts";
import type { LogFields } from "../../../../shared/platform/log.ts";
import { aLambdaContext } from "../../../builders/aws/lambda-context.ts";
import { loggedByRuntime, rejectionOf } from "../../../builders/aws/logged-by-runtime.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";

const record = (sequence: number, before: object | undefined, after: object | undefined) => ({
  dynamodb: {
    SequenceNumber: String(sequence),
    ...(before && { OldImage: marshall(before) }),
    ...(after && { NewImage: marshall(after) }),
  },
});

/** Applies the records as one batch. Resolves with the changes that were passed on and the reported failures. */
const handle = async (
  Records: readonly unknown[],
  apply: (change: Change) => Promise<LogFields<"change.handled">> = async () => ({ outcome: "ignored" }),
) => {
  const changes: Change[] = [];
  const handler = streamHandler((change) => {
    changes.push(change);
    return apply(change);
  });
  const { batchItemFailures } = await handler({ Records }, aLambdaContext());
  return { changes, failed: batchItemFailures.map(({ itemIdentifier }) => itemIdentifier) };
};

test("a created, a changed and a deleted item reach apply as before and after", async () => {
  const { changes, failed } = await handle([
    record(1, undefined, { pk: "a" }),
    record(2, { pk: "a" }, { pk: "a", status: "success" }),
    record(3, { pk: "a" }, undefined),
  ]);
  expect(changes).toEqual([
    { before: undefined, after: { pk: "a" } },
    { before: { pk: "a" }, after: { pk: "a", status: "success" } },
    { before: { pk: "a" }, after: undefined },
  ]);
  expect(failed).toEqual([]);
});

test("a number beyond JavaScript's range does not make its change unreadable", async () => {
  const NewImage = { pk: { S: "a" }, version: { N: "123456789012345678901234567890" } };
  const { changes, failed } = await handle([{ dynamodb: { SequenceNumber: "1", NewImage } }]);
  expect(changes).toMatchObject([{ after: { pk: "a", version: { value: "123456789012345678901234567890" } } }]);
  expect(failed).toEqual([]);
});

test("of 3 changes only the one that fails is reported, and its log line has neither its item nor its message", async () => {
  const log = captureLog();
  const batch = ["a", "b", "c"].map((pk, index) => record(index + 1, undefined, { pk, phone: "08031234567" }));
  const { changes, failed } = await handle(batch, async ({ after }) => {
    if (JSON.stringify(after).includes('"b"')) throw new Error("Cannot send 08031234567");
    return { outcome: "sent" };
  });
  expect(changes).toHaveLength(3);
  expect(failed).toEqual(["2"]);
  expect(
    log
      .lines()
      .map(({ event }) => event)
      .toSorted(),
  ).toEqual(["change.failed", "change.handled", "change.handled"]);
  expect(log.text()).not.toContain("0803");
});

test("a stream event without records fails as a whole", async () => {
  await expect(
    streamHandler(async () => ({ outcome: "ignored" }))({ records: [] }, aLambdaContext()),
  ).rejects.toThrow();
});

test("a batch that fails as a whole rejects without the message and the items of its error", async () => {
  const failure = Object.assign(new Error("08031234567"), {
    CancellationReasons: [{ Item: { phone: "08031234567" } }],
  });
  const handler = streamBatchHandler("changes.counted", () => Promise.reject(failure));
  const rejected = await rejectionOf(handler({ Records: [record(1, undefined, { pk: "a" })] }));
  expect(loggedByRuntime(rejected)).toContain("stream-handler.test.ts");
  expect(loggedByRuntime(rejected)).not.toContain("0803");
});
