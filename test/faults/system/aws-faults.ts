import { Readable } from "node:stream";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { advance } from "./clock.ts";
import { type Effect, type Fault, never, type Run, runs } from "./effects.ts";
import type { StrictAws } from "./strict-aws.ts";

/** How long our clients wait for an answer; see shared/platform/aws-clients.ts. */
const PATIENCE_MS = 2_000;

type SentRequest = { readonly headers: Readonly<Record<string, string>>; readonly body?: unknown };
type Handler = { handle: (request: SentRequest, options: unknown) => Promise<unknown> };

/**
 * Puts itself where the SDK's requests leave the process, whichever client made them. What is not part of a run passes. Behind the
 * faults AWS is as `strict` says at that moment. Returns what takes it away again.
 */
export const interceptAws = (strict: () => StrictAws | undefined): (() => void) => {
  const client = new DynamoDBClient({ region: "none" });
  // The clients share this class, which the SDK does not export.
  const prototype: Handler = Object.getPrototypeOf(client.config.requestHandler);
  const { handle } = prototype;
  const decided = new Map<string, Fault | undefined>();

  prototype.handle = async function (request, options) {
    const pass = () => runs.exit(() => handle.call(this, request, options));
    const run = runs.getStore();
    if (run === undefined) return pass();
    if (run.isDead) return never();
    const effect = effectOf(request);
    const send = () => sendStrictly(strict(), request, effect, pass);
    const call = request.headers["amz-sdk-invocation-id"] ?? "";
    if (!decided.has(call)) decided.set(call, run.plan(effect));
    return meet(decided.get(call), run, request, effect, send);
  };
  return () => {
    prototype.handle = handle;
  };
};

/** As strict AWS answers; the emulators as they are where there is none, and for what it does not change. */
const sendStrictly = async (
  strict: StrictAws | undefined,
  { body }: SentRequest,
  { place, name }: Effect,
  pass: () => Promise<unknown>,
): Promise<unknown> => {
  if (strict === undefined) return pass();
  if (place === "secrets" && strict.throttlesSecrets()) return refusal("ThrottlingException");
  if (place !== "dynamodb") return pass();
  const given = await runs.exit(() => strict.dynamodb.handle(name, sentBody.parse(body)));
  if (given.lost || given.delayMs >= PATIENCE_MS) return timedOut();
  advance(given.delayMs);
  return answerOf(given.status, given.body);
};

const meet = async (
  fault: Fault | undefined,
  run: Run,
  request: SentRequest,
  effect: Effect,
  send: () => Promise<unknown>,
): Promise<unknown> => {
  switch (fault) {
    case undefined:
      return send();
    case "dies_before":
      run.die();
      return never();
    case "dies_after":
      await sendAndForget(send);
      run.die();
      return never();
    case "throttled":
      return refusal("ThrottlingException");
    case "conflict":
      return conflict(request, effect);
    case "answer_lost":
      await sendAndForget(send);
      return timedOut();
    case "never_arrives":
      return timedOut();
  }
};

const answer = z.object({ response: z.object({ body: z.instanceof(Readable) }) });

/** An answer that nobody reads would keep its connection. One that never comes is missed by nobody. */
const sendAndForget = async (send: () => Promise<unknown>): Promise<void> => {
  try {
    answer.parse(await send()).response.body.resume();
  } catch (error) {
    if (!(error instanceof Error && error.name === TIMED_OUT)) throw error;
  }
};

const places: Readonly<Record<string, Effect["place"]>> = {
  DynamoDB_20120810: "dynamodb",
  AmazonSQS: "sqs",
  secretsmanager: "secrets",
};

const effectOf = ({ headers }: SentRequest): Effect => {
  const [service = "", name = ""] = (headers["x-amz-target"] ?? "").split(".");
  const place = places[service];
  if (place === undefined) throw new Error(`A call to an AWS service that no fault is planned for: ${service}.${name}`);
  return { place, name };
};

const TIMED_OUT = "TimeoutError";

/** As the SDK's own handler says it, with the time gone by. */
const timedOut = (): never => {
  advance(PATIENCE_MS);
  throw Object.assign(new Error("The request timed out"), { name: TIMED_OUT });
};

const answerOf = (statusCode: number, body: string) => ({
  response: {
    statusCode,
    headers: { "content-type": "application/x-amz-json-1.0" },
    body: Readable.from([Buffer.from(body)]),
  },
});

const refusal = (type: string, fields: Readonly<Record<string, unknown>> = {}) =>
  answerOf(400, JSON.stringify({ __type: type, message: type, ...fields }));

/** The SDK hands over the bytes of its JSON. */
const sentBody = z.instanceof(Uint8Array).transform((bytes) => new TextDecoder().decode(bytes));

const transaction = z.object({ TransactItems: z.array(z.unknown()) });

/** The emulator never raises one by itself. */
const conflict = ({ body }: SentRequest, { name }: Effect) => {
  if (name !== "TransactWriteItems") return refusal("TransactionConflictException");
  const { TransactItems } = transaction.parse(JSON.parse(sentBody.parse(body)));
  const CancellationReasons = TransactItems.map((_, position) =>
    position === TransactItems.length - 1
      ? { Code: "TransactionConflict", Message: "Transaction is ongoing for the item" }
      : { Code: "None" },
  );
  return refusal("TransactionCanceledException", { CancellationReasons });
};
