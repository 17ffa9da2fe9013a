import { createServer } from "node:http";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { documentClient, queueClient, secretsClient } from "../../../../shared/platform/aws-clients.ts";
import { runningFunction } from "../../../../tools/local/functions.ts";
import { localAwsEnvironment } from "../../../../tools/local/local-aws.ts";
import { listenOnLoopback } from "../../../../tools/local/loopback.ts";
import { takeDeniedCalls } from "../../../builders/iam/evaluated-calls.ts";

/** Goal: a test with a call that a function's role does not allow fails, and the call does not reach AWS. */
const reached: string[] = [];
/** Does some work as the code of a function. */
const runAs = <Result>(name: string, work: () => Promise<Result>): Promise<Result> =>
  runningFunction.run({ name, environment: process.env }, work);
const server = createServer((request, response) => {
  reached.push(String(request.headers["x-amz-target"]));
  request
    .resume()
    .once("end", () => response.writeHead(200, { "content-type": "application/x-amz-json-1.0" }).end("{}"));
});
beforeAll(async () => {
  const endpoint = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  const environment = localAwsEnvironment({ dynamodb: endpoint, sqs: endpoint, secretsManager: endpoint });
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  vi.stubEnv("LEDGER_TABLE", "ledger");
});
afterAll(() => void server.close());

test.each(["short", "sdk"])("a call that the role of its function allows is sent, by the path %s", async (path) => {
  vi.stubEnv("AWS_CALLS", path);
  await runAs("deliver-webhook", () => documentClient().put({ TableName: "ledger", Item: { pk: "delivery#1" } }));
  expect(reached.splice(0)).toEqual(["DynamoDB_20120810.PutItem"]);
  expect(takeDeniedCalls()).toEqual([]);
});

test.each(["short", "sdk"])("any other is refused as AWS does, and named, by the path %s", async (path) => {
  vi.stubEnv("AWS_CALLS", path);
  const putWallet = () => documentClient().put({ TableName: "ledger", Item: { pk: "wallet#1" } });
  await expect(runAs("deliver-webhook", putWallet)).rejects.toMatchObject({
    name: "AccessDeniedException",
  });
  const message = { QueueUrl: "http://127.0.0.1/0/outcomes", MessageBody: "x" };
  await expect(runAs("not-found", () => queueClient().sendMessage(message))).rejects.toMatchObject({
    name: "AccessDeniedException",
  });
  expect(reached).toEqual([]);
  expect(takeDeniedCalls()).toEqual([
    expect.stringMatching(/^deliver-webhook: dynamodb:PutItem on arn:\S+table\/Ledger .*wallet#1/),
    expect.stringMatching(/^not-found: sqs:SendMessage on arn:\S+:OutcomesQueue/),
  ]);
});

test("a call that cannot be evaluated is not sent, and named although its function goes on", async () => {
  const readSecret = () => secretsClient().getSecretValue({ SecretId: "another-stage" });
  await runAs("deliver-webhook", () => readSecret().catch(() => undefined));
  expect(reached).toEqual([]);
  expect(takeDeniedCalls()).toEqual(["deliver-webhook: secretsmanager.GetSecretValue, which is not evaluated"]);
});

test("code that no function runs has no role", async () => {
  await documentClient().put({ TableName: "ledger", Item: { pk: "wallet#1" } });
  expect(reached.splice(0)).toHaveLength(1);
});
