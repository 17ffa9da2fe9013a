import { CloudFormationClient, CreateStackCommand, ListStacksCommand } from "@aws-sdk/client-cloudformation";
import { CloudWatchClient, PutMetricDataCommand } from "@aws-sdk/client-cloudwatch";
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DynamoDBClient,
  ListTablesCommand,
} from "@aws-sdk/client-dynamodb";
import { CreateSecretCommand, ListSecretsCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "#zod";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { commonSchedules } from "../../infra/schedules.ts";
import { sleep } from "../../shared/platform/time.ts";
import { simulatorStackName } from "../../tools/acceptance/context.ts";
import { checkPlace } from "../../tools/acceptance/steps/check-place.ts";
import { cleanUp } from "../../tools/acceptance/steps/clean-up.ts";
import { readLagAndConflicts } from "../../tools/acceptance/steps/lag-and-conflicts.ts";
import { acceptanceStage } from "../builders/aws/acceptance-stage.ts";
import { createToolkit } from "./deployed-stage.ts";
import { ACCOUNT, REGION, startEmulator } from "./emulator.ts";

/**
 * Goal: `npm run acceptance` runs whole, says what it skips, and leaves nothing of its stage and all of what is not.
 */

const emulator = await startEmulator();
afterAll(() => emulator.stop());
Object.assign(process.env, emulator.environment);
const cloudFormation = new CloudFormationClient({});
const dynamoDb = new DynamoDBClient({});
const secretsManager = new SecretsManagerClient({});

const npm = ["npm", "run", "--silent", "acceptance", "--"] as const;
const acceptance = (...args: readonly string[]) => emulator.run(projectRoot, ...npm, ...args);
const THROW_AWAY_STAGE_IS_SET = `THROW_AWAY_STAGE=${JSON.stringify({ stage: "try", region: REGION, upstreamBaseUrl: "https://upstream.example.com/v1" })}`;

const stackNames = async () => {
  const { StackSummaries = [] } = await cloudFormation.send(new ListStacksCommand({}));
  return StackSummaries.filter(({ StackStatus }) => StackStatus !== "DELETE_COMPLETE").map((each) => each.StackName);
};

const createTable = (table: Pick<CreateTableCommandInput, "TableName" | "Tags">) =>
  dynamoDb.send(
    new CreateTableCommand({
      ...table,
      AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
      KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
      BillingMode: "PAY_PER_REQUEST",
    }),
  );

/** The names of all stacks, tables and secrets of the account. */
const contents = async () => {
  const { TableNames = [] } = await dynamoDb.send(new ListTablesCommand({}));
  const { SecretList = [] } = await secretsManager.send(new ListSecretsCommand({}));
  return {
    stacks: await stackNames(),
    tables: TableNames,
    secrets: SecretList.map(({ Name }) => Name),
  };
};

test.each([
  [["--stage", "try", "--region", ""], "Name a stage that does not exist yet, and a region"],
  [["--stage", "try", "--region", REGION], `is not bootstrapped. Run npx cdk bootstrap aws://${ACCOUNT}/${REGION}`],
])("acceptance with the options %j is refused with one sentence, and exit code 2", async (options, sentence) => {
  // As docs/acceptance.md sets it for the operator's commands.
  const { code, stdout, stderr } = await emulator.run(projectRoot, "env", THROW_AWAY_STAGE_IS_SET, ...npm, ...options);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(sentence);
});

describe("in a bootstrapped account with resources of others", () => {
  const others = {
    stacks: ["CDKToolkit-airtime", "Other-Service"],
    tables: ["Try-Data-Other", "Try-Data-Restored-2026"],
    secrets: ["other"],
  };

  beforeAll(async () => {
    await createToolkit();
    const TemplateBody = JSON.stringify({ Resources: { Topic: { Type: "AWS::SNS::Topic" } } });
    await cloudFormation.send(new CreateStackCommand({ StackName: "Other-Service", TemplateBody }));
    for (const TableName of others.tables) await createTable({ TableName });
    await secretsManager.send(new CreateSecretCommand({ Name: "other", SecretString: "kept" }));
  });

  const report = z.object({
    accepted: z.boolean(),
    steps: z.array(z.object({ step: z.string(), state: z.string(), found: z.string() })),
    requests: z.int(),
    estimated_usd: z.number(),
  });

  const command = ["node", "tools/airtime/main.ts", "acceptance", "--region", REGION];

  test("a throw-away stage is deployed, passes every step that the emulator can run, and is deleted, although nobody reads the progress to its end", async () => {
    const { child, exitCode, stdout, untilPrinted } = emulator.start(
      projectRoot,
      "env",
      ...command,
      "--stage",
      "try",
      "--json",
    );
    await untilPrinted("Everything with this name is deleted at the end.");
    child.stderr?.destroy();
    const code = await exitCode;
    const { accepted, steps, requests, estimated_usd } = report.parse(JSON.parse(stdout()));
    const failures = steps.filter(({ state }) => state === "failed");
    expect({ code, accepted, failures }).toEqual({ code: 0, accepted: true, failures: [] });
    expect(steps.map(({ step, state }) => `${step}: ${state}`)).toEqual([
      "deploy the simulator: ok",
      "deploy the stage: ok",
      "set the secrets: ok",
      "tables: ok",
      "contract suite: ok",
      "orders settled by upstream events: ok",
      "webhooks to a caller: ok",
      "20 simultaneous purchases on one wallet: ok",
      "100 simultaneous purchases on one wallet: skipped",
      "rotation of secrets under purchases: ok",
      "restore of the ledger: ok",
      "errors, lag and conflicts in CloudWatch: skipped",
      "cdk diff: ok",
      "doctor: ok",
      "every alarm notifies: ok",
      "clean up: ok",
    ]);
    for (const { state, found } of steps) if (state === "skipped") expect(found).toMatch(/^the emulator /);
    expect(requests).toBeGreaterThan(100);
    expect(estimated_usd).toBeGreaterThan(0.01);
    expect(await contents()).toEqual(others);
  });

  test("an acceptance that is interrupted during a deployment deletes what exists by then, and ends with 130", async () => {
    const before = await contents();
    const { child, exitCode, output } = emulator.start(projectRoot, "env", ...command, "--stage", "cut");
    // Until its first stack begins to exist, or the run ends without it.
    const first = simulatorStackName("cut");
    while (child.exitCode === null && !(await stackNames()).includes(first)) await sleep(500);
    child.kill("SIGINT");
    expect(await exitCode, output()).toBe(130);
    const lines = output().split("\n");
    expect(lines.filter((line) => line.startsWith("interrupted"))).toHaveLength(1);
    expect(lines.find((line) => line.includes("deploy the simulator"))).toMatch(/^interrupted/);
    expect(lines.find((line) => line.includes("clean up"))).toMatch(/^ok/);
    expect(await contents()).toEqual(before);
  });

  test("a table that an earlier run left is named before anything is deployed, and deleted by a clean-up", async () => {
    const before = await contents();
    await createTable({ TableName: "Left-Data-Ledger", Tags: [{ Key: "throw-away-stage", Value: "left" }] });
    await expect(checkPlace("left", REGION, ACCOUNT)).rejects.toThrow(
      `An earlier run of stage "left" left Left-Data-Ledger in account ${ACCOUNT}. Add --clean-up`,
    );
    const { stdout } = await acceptance("--stage", "left", "--region", REGION, "--clean-up", "--json");
    expect(JSON.parse(stdout)).toEqual({
      ...{ stage: "left", account: ACCOUNT, region: REGION },
      found: "deleted 0 stacks, 1 tables and 0 secrets that they leave behind",
    });
    expect(await contents()).toEqual(before);
    expect(await cleanUp("left", () => Promise.resolve())).toEqual({ found: 'there is nothing of stage "left"' });
  });

  test("acceptance --clean-up leaves a stack alone that it did not deploy, and ends with 1", async () => {
    const before = await contents();
    const { code, stderr } = await acceptance("--stage", "other", "--region", REGION, "--clean-up");
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("Other-Service") });
    expect(await contents()).toEqual(before);
  });
});

/** The step that the emulator cannot run by itself, on metrics that are put there. */
describe("errors, lag and conflicts in CloudWatch", () => {
  const cloudWatch = new CloudWatchClient({});
  const put = async (Namespace: string, MetricName: string, dimension: readonly [string, string], Value: number) => {
    const Dimensions = [{ Name: dimension[0], Value: dimension[1] }];
    const MetricData = [{ MetricName, Dimensions, Value }];
    await cloudWatch.send(new PutMetricDataCommand({ Namespace, MetricData }));
  };
  const read = (stage: string) => {
    const [startedAt, { signal }] = [new Date(Date.now() - 600_000), new AbortController()];
    const context = { stage, region: REGION, startedAt, signal, wait: () => Promise.resolve() };
    const outputs = { ApiUrl: `https://${stage}.example.com/v1`, LedgerTable: stage };
    return readLagAndConflicts(context, acceptanceStage({ outputs }));
  };

  test("counts are summed, ages are the highest, and what has no metric is 0", async () => {
    await put("AWS/Lambda", "IteratorAge", ["FunctionName", "fast-airtime-enqueue-webhooks"], 1_200);
    await put("AWS/Lambda", "Throttles", ["FunctionName", "fast-airtime-purchase"], 2);
    await put("AWS/SQS", "ApproximateAgeOfOldestMessage", ["QueueName", "fast-airtime-delivery"], 9);
    await put("AWS/SQS", "ApproximateAgeOfOldestMessage", ["QueueName", "fast-airtime-delivery"], 4);
    for (const count of [3, 4]) await put("AWS/DynamoDB", "TransactionConflict", ["TableName", "fast"], count);
    for (const name of commonSchedules)
      await put("AWS/Lambda", "Invocations", ["FunctionName", `fast-airtime-${name}`], 1);
    expect(await read("fast")).toEqual({
      found:
        "stream 1200 ms behind and messages 9 s old at most; ledger: 7 transaction conflicts, 0 failed conditions, 0 write throttles; functions: 0 errors, 2 throttles",
    });
  });

  test.each([
    ["AWS/Lambda", "Errors", ["FunctionName", "a-airtime-purchase"], 1, "functions crashed or timed out: purchase"],
    ["AWS/Lambda", "IteratorAge", ["FunctionName", "b-airtime-enqueue-webhooks"], 61_000, "stream was 61000 ms behind"],
    ["AWS/SQS", "ApproximateAgeOfOldestMessage", ["QueueName", "c-airtime-outcomes"], 61, "a message waited for 61 s"],
    ["AWS/Lambda", "Invocations", ["FunctionName", "d-airtime-refresh-catalog"], 9, "no schedule has run requeue-del"],
  ] as const)("%s %s of %j with the value %i fails the step", async (namespace, name, dimension, value, sentence) => {
    await put(namespace, name, dimension, value);
    await expect(read(dimension[1].split("-")[0] ?? "")).rejects.toThrow(sentence);
  });
});
