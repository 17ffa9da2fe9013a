import { Readable } from "node:stream";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { advance } from "./clock.ts";
import { type Effect, type Fault, never, type Run, runs } from "./effects.ts";
import type { StrictAws } from "./strict-aws.ts";

/** The request time-out of our clients; see shared/platform/aws-clients.ts. */
const REQUEST_TIMEOUT_MS = 2_000;

type SentRequest = { readonly headers: Readonly<Record<string, string>>; readonly body?: unknown };
/** The writes whose fault is `lands_late`, in the order in which they were sent. */
const lateWrites: (() => Promise<unknown>)[] = [];

/** Lets them take effect now, each copy that was sent of them. Returns how many. */
export const landLateWrites = async (): Promise<number> => {
  const landing = lateWrites.splice(0);
  for (const send of landing) await sendAndForget(send);
  return landing.length;
};

type Handler = { handle: (request: SentRequest, options: unknown) => Promise<unknown> };

/**
 * Intercepts the SDK's requests where they leave the process, whichever client made them; only those of runs. Behind
 * the faults AWS is as `strict` says at that moment. Returns the function that undoes it.
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
    // The call's own signal is aborted by then.
    const sendLate = () =>
      sendStrictly(strict(), request, effect, () => runs.exit(() => handle.call(this, request, {})));
    const call = request.headers["amz-sdk-invocation-id"] ?? "";
    if (!decided.has(call)) decided.set(call, run.plan(effect));
    const fault = decided.get(call);
    if (fault === "lands_late") {
      lateWrites.push(sendLate);
      return timedOut();
    }
    return sendWithFault(fault, run, request, effect, send);
  };
  return () => {
    prototype.handle = handle;
  };
};

/** Sends a request to strict AWS, or to the emulator where there is none or it changes nothing. */
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
  if (given.lost || given.delayMs >= REQUEST_TIMEOUT_MS) return timedOut();
  advance(given.delayMs);
  return answerOf(given.status, given.body);
};

const sendWithFault = async (
  fault: Exclude<Fault, "lands_late"> | undefined,
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

/** Reads the answer, because an unread one would keep its connection. One that never comes may time out. */
const sendAndForget = async (send: () => Promise<unknown>): Promise<void> => {
  try {
    answer.parse(await send()).response.body.resume();
  } catch (error) {
    if (!(error instanceof Error && error.name === TIMED_OUT)) throw error;
  }
};

/** Services by the name in the SDK's request header. */
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

/** The error of the SDK's own handler, after its time-out. */
const timedOut = (): never => {
  advance(REQUEST_TIMEOUT_MS);
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

/** The SDK passes its JSON as bytes. */
const sentBody = z.instanceof(Uint8Array).transform((bytes) => new TextDecoder().decode(bytes));

const transaction = z.object({ TransactItems: z.array(z.unknown()) });

/** The answer to a write whose item another transaction holds, which the emulator never gives. */
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
