import { expect, test, vi } from "vitest";
import * as z from "#zod";
import type { MessageResult } from "../../../../shared/call/message-result.ts";
import { queueHandler } from "../../../../shared/lambda/queue-handler.ts";
import { aLambdaContext } from "../../../builders/aws/lambda-context.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";

const message = z.object({ id: z.string() });
type Apply = (message: { id: string }) => Promise<MessageResult>;
const named = ({ id }: { id: string }) => ({ transaction: id });
const done: Apply = async () => ({ kind: "done", outcome: "applied" });

/** Handles the bodies as one batch. Resolves with the messages to retry, as `m` and their position. */
const retriedOf = async (bodies: readonly string[], apply: Apply): Promise<string[]> => {
  const Records = bodies.map((body, index) => ({ messageId: `m${index}`, body, receiptHandle: "r", attributes: {} }));
  const response = await queueHandler(message, named, apply, async () => {})({ Records }, aLambdaContext());
  return z
    .object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })) })
    .parse(response)
    .batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
};

const good = (id: string): string => JSON.stringify({ id });

test("10 valid messages are applied once each, and none is retried", async () => {
  const apply = vi.fn(done);
  expect(
    await retriedOf(
      Array.from({ length: 10 }, (_, index) => good(`${index}`)),
      apply,
    ),
  ).toEqual([]);
  expect(apply.mock.calls.map(([{ id }]) => id)).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
});

test("of 5 messages the one that is not JSON and the one with another shape are retried, and the other 3 are applied", async () => {
  const apply = vi.fn(done);
  expect(await retriedOf([good("a"), "{", good("b"), '{"id":7}', good("c")], apply)).toEqual(["m1", "m3"]);
  expect(apply.mock.calls.map(([{ id }]) => id)).toEqual(["a", "b", "c"]);
});

test("messages that throw or reject are retried and do not hold back the 2 around them", async () => {
  const applied: string[] = [];
  const apply: Apply = ({ id }) => {
    if (id === "throws") throw new Error("broken");
    if (id === "rejects") return Promise.reject(new Error("broken"));
    applied.push(id);
    return Promise.resolve({ kind: "done", outcome: "applied" });
  };
  const batch = [good("a"), good("throws"), good("rejects"), good("b")];
  expect(await retriedOf(batch, apply)).toEqual(["m1", "m2"]);
  expect(applied).toEqual(["a", "b"]);
});

test("only the message whose result is retry is retried", async () => {
  const apply: Apply = async ({ id }) =>
    id === "later" ? { kind: "retry", reason: "too_early" } : { kind: "done", outcome: "applied" };
  expect(await retriedOf([good("a"), good("later")], apply)).toEqual(["m1"]);
});

test("a message with afterS is hidden for that time, and is retried even if it cannot be hidden", async () => {
  const postpone = vi.fn(async (_receiptHandle: string, afterS: number) => {
    if (afterS > 10) throw new Error("SQS is unavailable");
  });
  const apply: Apply = async ({ id }) => ({ kind: "retry", reason: "not_taken", afterS: Number(id) });
  const Records = ["5", "60"].map((id) => ({ messageId: `m${id}`, receiptHandle: `r${id}`, body: good(id) }));
  const response = await queueHandler(message, named, apply, postpone)({ Records }, aLambdaContext());
  expect(response).toEqual({ batchItemFailures: [{ itemIdentifier: "m5" }, { itemIdentifier: "m60" }] });
  expect(postpone.mock.calls).toEqual([
    ["r5", 5],
    ["r60", 60],
  ]);
});

test("a message that AWS made fail returns when its visibility timeout ends, and every other failed one after 15 seconds", async () => {
  const postpone = vi.fn(async (_receiptHandle: string, _afterS: number) => {});
  const apply: Apply = async ({ id }) => {
    if (id === "throttled") throw Object.assign(new Error("slow down"), { name: "ThrottlingException" });
    if (id === "unanswered") throw Object.assign(new Error("no answer"), { name: "TimeoutError" });
    if (id === "aborted") throw Object.assign(new Error("aborted"), { name: "AbortError" });
    if (id === "fault") throw new Error("broken");
    return { kind: "retry", reason: "write_indeterminate" };
  };
  const bodies = [
    good("throttled"),
    good("unanswered"),
    good("aborted"),
    good("indeterminate"),
    good("fault"),
    "{",
    '{"id":7}',
  ];
  const Records = bodies.map((body, index) => ({ messageId: `m${index}`, receiptHandle: `r${index}`, body }));
  const { batchItemFailures } = await queueHandler(message, named, apply, postpone)({ Records }, aLambdaContext());
  expect(batchItemFailures).toHaveLength(7);
  expect(Object.fromEntries(postpone.mock.calls)).toEqual({ r4: 15, r5: 15, r6: 15 });
});

test("an unreadable message is logged without its content", async () => {
  const log = captureLog();
  await retriedOf(['{"phone":"08031234567"', '{"id":{"phone":"08031234567"}}'], done);
  expect(log.text()).not.toBe("");
  expect(log.text()).not.toContain("08031234567");
});

test("each line of a message names it and what it is about, unless it cannot be read", async () => {
  const log = captureLog();
  const apply: Apply = ({ id }) => (id === "b" ? Promise.reject(new Error("broken")) : done({ id }));
  await retriedOf([good("a"), good("b"), "{"], apply);
  const lines = log.lines().map(({ event, message_id, transaction }) => ({ event, message_id, transaction }));
  expect(lines).toHaveLength(5);
  expect(lines).toEqual(
    expect.arrayContaining([
      { event: "message.handled", message_id: "m0", transaction: "a" },
      { event: "message.failed", message_id: "m1", transaction: "b" },
      { event: "message.handled", message_id: "m1", transaction: "b" },
      { event: "message.failed", message_id: "m2", transaction: undefined },
      { event: "message.handled", message_id: "m2", transaction: undefined },
    ]),
  );
});

test("a queue event without records fails as a whole", async () => {
  await expect(queueHandler(message, named, done, async () => {})({ records: [] }, aLambdaContext())).rejects.toThrow();
});
