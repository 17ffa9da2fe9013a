import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { InvokeStore } from "@aws/lambda-invoke-store";
import { type DynamoDBDocumentClient, TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { bodyOf, type Command, type Output, outputOf } from "./json.ts";
import { INVOCATION_ID, learnRequest, type RequestContext, type RequestTemplate } from "./signed-request.ts";

/**
 * Options of a command's middleware that acts only on failed attempts. The short path leaves it out of an attempt that
 * succeeds; the SDK runs it for each attempt that failed, behind its own retries.
 */
export const failedAttempts = {
  step: "finalizeRequest",
  priority: "low",
  name: "failedAttempts",
  // The document client adds a command's middleware twice.
  override: true,
} as const;

/** The only options of a document client whose rules json.ts follows. */
const KNOWN_OPTIONS = JSON.stringify({ marshallOptions: { removeUndefinedValues: true } });
/** The SDK does not correct its clock with a response that took longer. */
const CLOCK_SAMPLE_MS_MAX = 900_000;

type Args = readonly [command: Command, options: { readonly abortSignal?: AbortSignal }];
type Attempt = (request: unknown) => { readonly response: Response } | undefined;
type Response = { readonly statusCode: number; readonly headers: Readonly<Record<string, string>>; body: unknown };

const isKnown = (command: unknown): command is Command =>
  (command instanceof UpdateCommand || command instanceof TransactWriteCommand) &&
  command.middlewareStack.identify().every((middleware) => middleware.startsWith(`${failedAttempts.name} `));

const knownOptions = z
  .strictObject({ abortSignal: z.instanceof(AbortSignal).refine(({ aborted }) => !aborted) })
  .partial()
  .default({});

/**
 * Lets `db` send UpdateItem and TransactWriteItems without the SDK's middlewares (decision 0025). The first call of
 * each kind goes through the SDK and shows what it sends. From then on the short path makes a call's first attempt. If
 * the response is not a 200 that it can read, the SDK treats that response, or the error, as its own first attempt and
 * decides what follows. The input of a command must not change until its promise has settled.
 */
export const withShortPath = (db: DynamoDBDocumentClient): DynamoDBDocumentClient => {
  const { config, middlewareStack, send: sendBySdk } = db;
  if (JSON.stringify(config.translateConfig) !== KNOWN_OPTIONS) return db;
  const middlewares = middlewareStack.identify().join();
  const templates = new Map<unknown, RequestTemplate>();

  const bySdk = (args: readonly unknown[]): Promise<unknown> => Reflect.apply(sendBySdk, db, args);

  /** Sends through the SDK. Its first attempt is made by `attempt`, if that returns a response or throws. */
  const bySdkAfter = (args: Args, invocationId: string, attempt: Attempt): Promise<unknown> => {
    const stack = middlewareStack.clone();
    let isFirst = true;
    stack.add(
      (next) => async (sent) => {
        if (!isFirst) return next(sent);
        isFirst = false;
        return attempt(sent.request) ?? next(sent);
      },
      { step: "deserialize", priority: "low" },
    );
    stack.addRelativeTo(
      <Sent extends { request: unknown }, Result>(next: (sent: Sent) => Promise<Result>) =>
        (sent: Sent) => {
          if (hasHeaders(sent.request)) sent.request.headers[INVOCATION_ID] = invocationId;
          return next(sent);
        },
      { relation: "before", toMiddleware: "awsAuthMiddleware" },
    );
    return Reflect.apply(sendBySdk, { config, middlewareStack: stack }, args);
  };

  /** Undefined if the SDK is configured in a way that the short path does not know. */
  const currentContext = async (): Promise<RequestContext | undefined> => {
    const { retryMode, disableClockSkewCorrection } = config;
    const mode = typeof retryMode === "function" ? await retryMode() : retryMode;
    const invocation = await InvokeStore.getInstanceAsync();
    if (mode !== "standard" || (await disableClockSkewCorrection()) || invocation.getTraceparent?.()) return undefined;
    const { AWS_LAMBDA_FUNCTION_NAME, _X_AMZN_TRACE_ID } = process.env;
    const traceId = invocation.getXRayTraceId() ?? _X_AMZN_TRACE_ID;
    return { credentials: await config.credentials(), traceId: (AWS_LAMBDA_FUNCTION_NAME && traceId) || undefined };
  };

  const sendByShortPath = async (args: Args, body: Buffer): Promise<unknown> => {
    const [command, options] = args;
    const context = await currentContext();
    if (context === undefined) return bySdk(args);
    const invocationId = randomUUID();
    const template = templates.get(command.constructor);
    if (!template?.fits(context)) {
      return bySdkAfter(args, invocationId, (request) => {
        const learned = learnRequest(request, body, context);
        if (learned) templates.set(command.constructor, learned);
        return undefined;
      });
    }

    const sentMs = Date.now();
    const date = new Date(sentMs + config.systemClockOffset).toISOString().replace(/[-:]|\.\d{3}/g, "");
    let response: Response;
    try {
      const request = template.request(body, context.traceId, invocationId, date);
      ({ response } = await config.requestHandler.handle(request, options));
    } catch (error) {
      return bySdkAfter(args, invocationId, () => {
        throw error;
      });
    }
    const output = await readOutput(command, response);
    if (output === undefined) return bySdkAfter(args, invocationId, () => ({ response }));

    const { headers } = response;
    const dateMs = Date.parse(headers.date ?? "");
    const receivedMs = Date.now();
    if (!Number.isNaN(dateMs) && headers.age === undefined && receivedMs - sentMs <= CLOCK_SAMPLE_MS_MAX) {
      config.systemClockOffset = dateMs - receivedMs;
    }
    const retries = await config.retryStrategy();
    if ("recordSuccess" in retries) retries.recordSuccess(await retries.acquireInitialRetryToken(""));
    const requestId = headers["x-amzn-requestid"] ?? headers["x-amzn-request-id"] ?? headers["x-amz-request-id"];
    const ids = { requestId, extendedRequestId: headers["x-amz-id-2"], cfId: headers["x-amz-cf-id"] };
    return { ...output, $metadata: { httpStatusCode: 200, ...ids, attempts: 1, totalRetryDelay: 0 } };
  };

  const send = (...args: readonly unknown[]): Promise<unknown> => {
    const [command, given, callback] = args;
    const { data: options } = knownOptions.safeParse(given);
    const isUnchanged = () => middlewareStack.identify().join() === middlewares;
    if (!isKnown(command) || !options || callback !== undefined || !isUnchanged()) return bySdk(args);
    const body = bodyOf(command);
    return body ? sendByShortPath([command, options], body) : bySdk(args);
  };
  return Object.assign(db, { send });
};

const hasHeaders = (request: unknown): request is { readonly headers: Record<string, string> } =>
  typeof request === "object" && request !== null && "headers" in request;

/** The output of a 200, or undefined: then `response` has a body for the SDK, with the same bytes or the same error. */
const readOutput = async (command: Command, response: Response): Promise<Output | undefined> => {
  const { body } = response;
  if (!(body instanceof Readable)) return undefined;
  // The SDK may wait for credentials before it reads, and would never end if the connection broke during the wait.
  const read = await new Promise<Buffer | Readable>((resolve) => {
    const chunks: Buffer[] = [];
    body.on("data", (chunk: Buffer) => chunks.push(chunk));
    body.once("end", () => resolve(Buffer.concat(chunks)));
    body.once("error", (error) => resolve(failingBody(error)));
  });
  response.body = read;
  return response.statusCode === 200 && read instanceof Buffer ? outputOf(command, read.toString()) : undefined;
};

/** Fails when it is read, and not before. */
const failingBody = (error: Error): Readable =>
  Readable.from({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) });
