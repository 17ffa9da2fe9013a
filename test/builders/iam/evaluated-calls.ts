import { execFileSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, rmSync } from "node:fs";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { HttpResponse } from "@smithy/core/protocols";
import * as z from "#zod";
import { CallHandler } from "../../../shared/platform/aws/call-handler.ts";
import { runningFunction } from "../../../tools/local/functions.ts";
import { requestsOf, type WireCall } from "./call-requests.ts";
import { evaluate, type IamRequest, type Statement, statementsIn } from "./evaluate.ts";
import { arnOf } from "./resolve.ts";

/**
 * Each call that a function makes to AWS in a test is evaluated with the policies of its role, and refused as AWS does.
 * Code that no function runs has no role, and is not evaluated.
 */
export type Roles = ReadonlyMap<string, readonly Statement[]>;

/** How many calls of each function were evaluated in this process. */
export const evaluatedCalls = new Map<string, number>();
const denied = new Set<string>();

/** The calls that no role allowed since the last time, each once. */
export const takeDeniedCalls = (): readonly string[] => {
  const taken = [...denied];
  denied.clear();
  return taken;
};

const { ROLES_FILE } = process.env;
/** AWS adds it to all that a function's code asks. Source: AWS, "Using source function ARN to control function access behavior". */
const ARN = arnOf("AWS::Lambda::Function", "Function");
const WRITER = fileURLToPath(new URL("write-roles.ts", import.meta.url));
const POLL_MS = 50;
const waiting = new Int32Array(new SharedArrayBuffer(4));

const isFirst = (lock: string): boolean => {
  try {
    closeSync(openSync(lock, "wx"));
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
};

/** If the stage cannot be synthesised, each process that waits fails for that reason too, instead of waiting for ever. */
const writeRoles = (file: string): void => {
  try {
    execFileSync(process.execPath, [WRITER, file], { stdio: "inherit" });
  } catch (error) {
    rmSync(`${file}.lock`);
    throw error;
  }
};

/** To synthesise a stage takes 3 s: the first process of a run that needs the roles does, and the others wait for it. */
const readRoles = (): Roles => {
  const file = z.string().parse(ROLES_FILE);
  while (!existsSync(file)) {
    if (isFirst(`${file}.lock`)) writeRoles(file);
    else Atomics.wait(waiting, 0, 0, POLL_MS);
  }
  const written = z.array(z.tuple([z.string(), z.unknown()])).parse(JSON.parse(readFileSync(file, "utf8")));
  return new Map(
    written.map(([name, statements]) => [name, statementsIn({ Version: "2012-10-17", Statement: statements })]),
  );
};
let roles: Roles | undefined;

/** A call that cannot be evaluated, such as one for a secret that is not in the table, fails the test whatever its function does. */
const askedBy = (name: string, call: WireCall, environment: Running["environment"]): readonly IamRequest[] => {
  try {
    return requestsOf(call, environment);
  } catch (error) {
    denied.add(`${name}: ${call.target ?? call.body}, which is not evaluated`);
    throw error;
  }
};

type Running = NonNullable<ReturnType<typeof runningFunction.getStore>>;
/** Whether the role of a function allows a call. */
const isAllowed = ({ name, environment }: Running, call: WireCall): boolean => {
  roles ??= readRoles();
  const statements = roles.get(name) ?? [];
  evaluatedCalls.set(name, (evaluatedCalls.get(name) ?? 0) + 1);
  const refused = askedBy(name, call, environment).filter(
    ({ context, ...request }) =>
      evaluate(statements, { ...request, context: { ...context, "lambda:SourceFunctionArn": ARN } }) !== "allowed",
  );
  for (const { action, resource, context } of refused)
    denied.add(`${name}: ${action} on ${resource} ${JSON.stringify(context)}`);
  return refused.length === 0;
};

/** As DynamoDB, SQS, Secrets Manager and KMS answer. Source: AWS, "Common error types" of each. */
const accessDenied = (): HttpResponse => {
  const message = "The role of the function does not allow this";
  const body = Buffer.from(JSON.stringify({ __type: "AccessDeniedException", message }));
  const headers = { "content-type": "application/x-amz-json-1.0" };
  return new HttpResponse({ statusCode: 400, headers, body: Readable.from([body]) });
};

const { handle } = CallHandler.prototype;
CallHandler.prototype.handle = function (request, options) {
  const running = runningFunction.getStore();
  const { "x-amz-target": target } = request.headers;
  const isSent = running !== undefined && options?.first === undefined;
  return isSent && !isAllowed(running, { target, body: String(request.body) })
    ? Promise.resolve({ response: accessDenied() })
    : handle.call(this, request, options);
};
