import { Readable } from "node:stream";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { jump } from "./clock.ts";
import { type Effect, type Fault, never, type Run, runs } from "./effects.ts";

/** How long our clients wait for an answer; see shared/platform/aws.ts. */
const PATIENCE_MS = 2_000;

type SentRequest = { readonly headers: Readonly<Record<string, string>>; readonly body?: unknown };
type Handler = { handle: (request: SentRequest, options: unknown) => Promise<unknown> };

/**
 * Puts itself where the SDK's requests leave the process, whichever client made them. What is not part of a run passes. Returns what
 * takes it away again.
 */
export const interceptAws = (): (() => void) => {
  const client = new DynamoDBClient({ region: "none" });
  // The clients share this class, which the SDK does not export.
  const prototype: Handler = Object.getPrototypeOf(client.config.requestHandler);
  const { handle } = prototype;
  const decided = new Map<string, Fault | undefined>();

  prototype.handle = async function (request, options) {
    const send = () => runs.exit(() => handle.call(this, request, options));
    const run = runs.getStore();
    if (run === undefined) return send();
    if (run.isDead) return never();
    const effect = effectOf(request);
    const call = request.headers["amz-sdk-invocation-id"] ?? "";
    if (!decided.has(call)) decided.set(call, run.plan(effect));
    return meet(decided.get(call), run, request, effect, send);
  };
  return () => {
    prototype.handle = handle;
  };
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

/** An answer that nobody reads would keep its connection. */
const sendAndForget = async (send: () => Promise<unknown>): Promise<void> => {
  answer.parse(await send()).response.body.resume();
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

/** As the SDK's own handler says it, with the time gone by. */
const timedOut = (): never => {
  jump(PATIENCE_MS);
  throw Object.assign(new Error("The request timed out"), { name: "TimeoutError" });
};

const refusal = (type: string, fields: Readonly<Record<string, unknown>> = {}) => ({
  response: {
    statusCode: 400,
    headers: { "content-type": "application/x-amz-json-1.0" },
    body: Readable.from([Buffer.from(JSON.stringify({ __type: type, message: type, ...fields }))]),
  },
});

const transaction = z.object({ TransactItems: z.array(z.unknown()) });

/** The emulator never raises one by itself. */
const conflict = ({ body }: SentRequest, { name }: Effect) => {
  if (name !== "TransactWriteItems") return refusal("TransactionConflictException");
  const { TransactItems } = transaction.parse(JSON.parse(z.string().parse(body)));
  const CancellationReasons = TransactItems.map((_, position) =>
    position === TransactItems.length - 1
      ? { Code: "TransactionConflict", Message: "Transaction is ongoing for the item" }
      : { Code: "None" },
  );
  return refusal("TransactionCanceledException", { CancellationReasons });
};
