import { expect, test, vi } from "vitest";
import * as z from "zod";
import { type MessageResult, queueHandler } from "../../../../shared/lambda/queue-handler.ts";
import { aLambdaContext } from "../../../builders/lambda-context.ts";

const message = z.object({ id: z.string() });
type Apply = (message: { id: string }) => Promise<MessageResult>;
const done: Apply = async () => ({ kind: "done", outcome: "applied" });

/** Hands these bodies over as one batch; the answer names the messages to repeat, by their position. */
const repeated = async (bodies: readonly string[], apply: Apply): Promise<string[]> => {
  const Records = bodies.map((body, index) => ({ messageId: `m${index}`, body, receiptHandle: "r", attributes: {} }));
  const answer = await queueHandler(message, apply)({ Records }, aLambdaContext());
  return z
    .object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })) })
    .parse(answer)
    .batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
};

const good = (id: string): string => JSON.stringify({ id });

test("of 10 good messages none is repeated and each is applied once", async () => {
  const apply = vi.fn(done);
  expect(
    await repeated(
      Array.from({ length: 10 }, (_, index) => good(`${index}`)),
      apply,
    ),
  ).toEqual([]);
  expect(apply.mock.calls.map(([{ id }]) => id)).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
});

test("of 5 messages the one that is no JSON and the one of another shape are repeated; the other 3 are applied", async () => {
  const apply = vi.fn(done);
  expect(await repeated([good("a"), "{", good("b"), '{"id":7}', good("c")], apply)).toEqual(["m1", "m3"]);
  expect(apply.mock.calls.map(([{ id }]) => id)).toEqual(["a", "b", "c"]);
});

test("a message that breaks, even at once, is repeated and does not hold back the 2 around it", async () => {
  const applied: string[] = [];
  const apply: Apply = ({ id }) => {
    if (id === "breaks at once") throw new Error("broken");
    if (id === "breaks later") return Promise.reject(new Error("broken"));
    applied.push(id);
    return Promise.resolve({ kind: "done", outcome: "applied" });
  };
  const batch = [good("a"), good("breaks at once"), good("breaks later"), good("b")];
  expect(await repeated(batch, apply)).toEqual(["m1", "m2"]);
  expect(applied).toEqual(["a", "b"]);
});

test("a message that asks to be repeated is, and only that one", async () => {
  const apply: Apply = async ({ id }) =>
    id === "later" ? { kind: "retry", reason: "too_early" } : { kind: "done", outcome: "applied" };
  expect(await repeated([good("a"), good("later")], apply)).toEqual(["m1"]);
});

test("a message that names its time is hidden for so long, and is repeated although it cannot be hidden", async () => {
  const postpone = vi.fn(async (_receiptHandle: string, afterS: number) => {
    if (afterS > 10) throw new Error("SQS is away");
  });
  const apply: Apply = async ({ id }) => ({ kind: "retry", reason: "not_taken", afterS: Number(id) });
  const Records = ["5", "60"].map((id) => ({ messageId: `m${id}`, receiptHandle: `r${id}`, body: good(id) }));
  const answer = await queueHandler(message, apply, postpone)({ Records }, aLambdaContext());
  expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: "m5" }, { itemIdentifier: "m60" }] });
  expect(postpone.mock.calls).toEqual([
    ["r5", 5],
    ["r60", 60],
  ]);
});

test("an unreadable message is logged without its content", async () => {
  const lines = vi.spyOn(console, "log").mockImplementation(() => {});
  await repeated(['{"phone":"08031234567"', '{"id":{"phone":"08031234567"}}'], done);
  expect(lines.mock.calls.length).toBeGreaterThan(0);
  expect(JSON.stringify(lines.mock.calls)).not.toContain("08031234567");
  lines.mockRestore();
});

test("an event that is no batch at all fails as a whole", async () => {
  await expect(queueHandler(message, done)({ records: [] }, aLambdaContext())).rejects.toThrow();
});
