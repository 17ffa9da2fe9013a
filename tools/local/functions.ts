import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { extname } from "node:path";
import type { Context } from "aws-lambda";
import * as z from "#zod";
import { functionNames, specOf } from "../../infra/functions.ts";
import { API_FUNCTION_TIMEOUT_S } from "../../shared/platform/time-budgets.ts";
import { ACCOUNT_ID, REGION } from "./local-aws.ts";

const MEMORY_MB = "512";

type InvocationContext = Omit<Context, "done" | "fail" | "succeed">;
export type Handler = (event: unknown, context: InvocationContext) => Promise<unknown>;

/** Runs one function with an event, as Lambda does. `timeoutMs`: another time-out than its own. */
export type Invoke = (functionName: string, event: unknown, timeoutMs?: number) => Promise<unknown>;

class FunctionTimedOut extends Error {
  override readonly name = "FunctionTimedOut";
}

/**
 * The function whose code runs, because one process has them all, and the environment with which it was loaded: tests evaluate
 * what it asks of AWS with its role.
 */
export const runningFunction = new AsyncLocalStorage<{
  readonly name: string;
  readonly environment: NodeJS.ProcessEnv;
}>();

const handlerModule = z.object({ handler: z.custom<Handler>((value) => typeof value === "function") });
let loads = 0;

/** `.ts`, or `.js` in the package. */
const EXTENSION = extname(import.meta.url);

/**
 * Loads functions/<name>/handler.ts. Set the environment first, because handlers read it when they load. Each call
 * loads a new module, so a second service in the process reads its own environment.
 */
export const loadHandler = async (name: string, folder: URL): Promise<Handler> => {
  loads += 1;
  const url = new URL(`${name}/handler${EXTENSION}?load=${loads}`, folder);
  const running = { name, environment: { ...process.env } };
  const module: unknown = await runningFunction.run(running, () => import(/* @vite-ignore */ url.href));
  const { handler } = handlerModule.parse(module);
  return (event, context) => runningFunction.run(running, () => handler(event, context));
};

/** Loads the handler of each name and returns what invokes them in this process. */
export const loadFunctions = async (names: Iterable<string>, folder: URL): Promise<Invoke> => {
  const loaded = [...new Set(names)].map(async (name) => [name, await loadHandler(name, folder)] as const);
  return invokeWith(new Map(await Promise.all(loaded)));
};

/** The invocations that run in this process, by function. */
const running = new Map<string, Set<Promise<unknown>>>();

/** Resolves once no invocation of this function runs: one that has timed out runs on here, and AWS ends it. */
export const untilNoneRuns = async (functionName: string): Promise<void> => {
  const runs = running.get(functionName);
  while (runs !== undefined && runs.size > 0) await Promise.allSettled(runs);
};

/** Keeps an invocation in `running` until it ends. */
const noteRun = (functionName: string, run: Promise<unknown>): Promise<unknown> => {
  const runs = running.get(functionName) ?? new Set();
  running.set(functionName, runs.add(run));
  return run.finally(() => runs.delete(run));
};

/** Invokes handlers with a Lambda context and a time-out, by default the one that the function has on AWS. */
export const invokeWith =
  (handlers: ReadonlyMap<string, Handler>, timeoutMsOverride?: number): Invoke =>
  async (functionName, event, timeoutMs = timeoutMsOverride ?? timeoutMsOf(functionName)) => {
    const handler = handlers.get(functionName);
    if (handler === undefined) throw new Error(`There is no function ${functionName}`);
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(() => timeout.reject(new FunctionTimedOut(functionName)), timeoutMs);
    const run = noteRun(functionName, handler(event, contextOf(functionName, Date.now() + timeoutMs)));
    try {
      return await Promise.race([run, timeout.promise]);
    } finally {
      clearTimeout(timer);
    }
  };

export const timeoutMsOf = (functionName: string): number => {
  const known = functionNames.find((name) => name === functionName);
  return (known === undefined ? API_FUNCTION_TIMEOUT_S : specOf(known).timeoutS) * 1_000;
};

/** Lambda's context of an invocation that must end at this time. */
export const contextOf = (functionName: string, deadlineMs: number): InvocationContext => ({
  awsRequestId: randomUUID(),
  callbackWaitsForEmptyEventLoop: true,
  functionName,
  functionVersion: "$LATEST",
  invokedFunctionArn: `arn:aws:lambda:${REGION}:${ACCOUNT_ID}:function:${functionName}`,
  logGroupName: `/aws/lambda/${functionName}`,
  logStreamName: "local",
  memoryLimitInMB: MEMORY_MB,
  getRemainingTimeInMillis: () => Math.max(0, deadlineMs - Date.now()),
});
