import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { adminDetails, adminFileOf } from "../../infra/local/service-file.ts";
import { API_URL_OUTPUT, outputOf } from "../../infra/outputs.ts";
import { ADMIN, type AdminRun, type OperatedService, runProgram, startOperatedService } from "../builders/admin.ts";

/**
 * Goal: --stage finds a stage by its stack's outputs. Here the stack is a stand-in, whose outputs name the parts of a local service;
 * and so are the account's limits.
 */
let service: OperatedService;
let aws: Server;
let endpoint: string;
/** What Lambda says of the account. */
let AccountLimit = { ConcurrentExecutions: 1_000, UnreservedConcurrentExecutions: 900 };
beforeAll(async () => {
  service = await startOperatedService();
  const details = adminDetails.parse(JSON.parse(readFileSync(adminFileOf(service.serviceFile), "utf8")));
  const outputs = new Map([[API_URL_OUTPUT, details.base_url]]);
  for (const [variable, value] of Object.entries(details.environment)) outputs.set(outputOf(variable), value);
  aws = createServer(async (request, response) => {
    if (request.url === "/2016-08-19/account-settings") return void response.end(JSON.stringify({ AccountLimit }));
    const stack = new URLSearchParams(await text(request)).get("StackName");
    const found = stack === "Prod-Service" ? outputs : stack === "Old-Service" ? new Map<string, string>() : undefined;
    const [status, body] = found === undefined ? [400, noStack(stack ?? "")] : [200, described(found)];
    response.writeHead(status, { "content-type": "text/xml" }).end(body);
  });
  await new Promise<void>((listening) => aws.listen(0, "127.0.0.1", listening));
  const { port } = z.object({ port: z.number() }).parse(aws.address());
  endpoint = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  aws.close();
  await service.stop();
});

const NAMESPACE = 'xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"';

const described = (outputs: ReadonlyMap<string, string>): string => {
  const members = [...outputs].map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const stack = `<member><StackName>S</StackName><Outputs>${members.join("")}</Outputs></member>`;
  const result = `<DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult>`;
  return `<DescribeStacksResponse ${NAMESPACE}>${result}</DescribeStacksResponse>`;
};

const noStack = (stack: string): string => {
  const error = `<Code>ValidationError</Code><Message>Stack with id ${stack} does not exist</Message>`;
  return `<ErrorResponse ${NAMESPACE}><Error><Type>Sender</Type>${error}</Error></ErrorResponse>`;
};

/** The stage's parts of AWS are the local service's, which this process's environment names. */
const onStage = (stage: string, ...args: readonly string[]): Promise<AdminRun> =>
  runProgram(process.execPath, [ADMIN, ...args, "--stage", stage], {
    serviceFile: "/nowhere/service.json",
    env: { AWS_ENDPOINT_URL_CLOUDFORMATION: endpoint, AWS_ENDPOINT_URL_LAMBDA: endpoint },
  });

test("a command works on the stage's own parts", async () => {
  const made = await onStage("prod", "accounts", "create", "checkout", "--json");
  expect(made).toMatchObject({ code: 0, stderr: "" });
  const { account_id } = z.object({ account_id: z.string() }).parse(JSON.parse(made.stdout));
  expect((await service.admin(["accounts", "list"])).stdout).toContain(account_id);
});

test("doctor proves key and addresses by the catalog that the stage fetched", async () => {
  const { code, stdout } = await onStage("prod", "doctor");
  expect(code).toBe(0);
  expect(stdout).toMatch(/upstream key +ok +was taken .* ago, when the catalog was fetched/);
});

test.each([
  [1_000, 100, 0, "ok", "1000 executions at a time in this account and region, 900 of them reserved; each key may"],
  [10, 10, 1, "wrong", "only 10 executions at a time in this account and region, 0 of them reserved: more at a time"],
  [1_000, 99, 1, "wrong", "Ask AWS for 1001 or more: Service Quotas, AWS Lambda, Concurrent executions"],
])("doctor, in an account with %i executions at a time, %i of them unreserved", async (...given) => {
  const [ConcurrentExecutions, UnreservedConcurrentExecutions, exitCode, state, says] = given;
  AccountLimit = { ConcurrentExecutions, UnreservedConcurrentExecutions };
  const { code, stdout } = await onStage("prod", "doctor");
  expect(code).toBe(exitCode);
  expect(stdout).toMatch(new RegExp(`^limits +${state} .*${says}`, "m"));
});

test("what only the stage's addresses may ask is not asked from here", async () => {
  const refresh = await onStage("prod", "catalog", "refresh");
  expect([refresh.code, refresh.stderr]).toEqual([2, expect.stringContaining("from its own addresses")]);
});

test("a stage that is not there, or was deployed by an older version, is a sentence and exit code 2", async () => {
  const absent = await onStage("dev", "accounts", "list");
  expect([absent.code, absent.stderr]).toEqual([
    2,
    "The outputs of stage dev could not be found: there is no stack Dev-Service, deploy it first.\n",
  ]);
  const old = await onStage("old", "accounts", "list");
  expect([old.code, old.stderr]).toEqual([2, expect.stringContaining("by another version: deploy it again")]);
});
