import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { projectRoot } from "../../infra/bundle/bundle.ts";
import { checkOutCommit } from "./checkout.ts";
import { deletedByUpgrade, hasPreviousRelease, previousRelease, SKIPPED } from "./previous-release.ts";

/**
 * Goal: an update from the previous release replaces nothing that keeps state, or an address that others know, except
 * for what docs/upgrading.md describes.
 */
const execute = promisify(execFile);
const scratch = mkdtempSync(join(tmpdir(), "releases-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** What CloudFormation replaces a resource for, and the generator of a secret, whose change makes another value. */
const replacingProperties: Readonly<Record<string, readonly string[]>> = {
  "AWS::ApiGatewayV2::Api": ["ProtocolType"],
  "AWS::ApiGatewayV2::Stage": ["StageName", "ApiId"],
  "AWS::DynamoDB::Table": ["TableName", "KeySchema", "LocalSecondaryIndexes"],
  "AWS::EC2::EIP": ["Domain", "NetworkBorderGroup"],
  "AWS::EC2::NatGateway": ["SubnetId", "AllocationId"],
  "AWS::EC2::SecurityGroup": ["GroupName", "GroupDescription", "VpcId"],
  "AWS::EC2::VPC": ["CidrBlock"],
  "AWS::SNS::Topic": ["TopicName"],
  "AWS::SQS::Queue": ["QueueName", "FifoQueue"],
  "AWS::SecretsManager::Secret": ["Name", "GenerateSecretString"],
};

const template = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) }),
  ),
});
const cdkJson = z.object({ context: z.record(z.string(), z.unknown()) });

/** The replacing properties of each stateful resource of prod, as the program in a folder synthesises it. */
const statefulOf = async (folder: string, output: string): Promise<Map<string, unknown>> => {
  const { context } = cdkJson.parse(JSON.parse(readFileSync(join(folder, "cdk.json"), "utf8")));
  const CDK_CONTEXT_JSON = JSON.stringify({ ...context, stage: "prod", "aws:cdk:bundling-stacks": [] });
  const env = { ...process.env, CDK_CONTEXT_JSON, CDK_OUTDIR: output };
  await execute(process.execPath, ["infra/app.ts"], { cwd: folder, env });
  const resources = readdirSync(output)
    .filter((name) => name.endsWith(".template.json"))
    .flatMap((name) => Object.entries(template.parse(JSON.parse(readFileSync(join(output, name), "utf8"))).Resources));
  return new Map(
    resources.flatMap(([id, { Type, Properties }]) => {
      const properties = replacingProperties[Type];
      if (properties === undefined) return [];
      return [[`${Type} ${id}`, Object.fromEntries(properties.map((name) => [name, Properties[name]]))] as const];
    }),
  );
};

test.skipIf(!hasPreviousRelease)(
  `an update from the previous release replaces no table, secret, queue, address or API of prod but what Upgrading names ${SKIPPED}`,
  async () => {
    const { folder, remove } = await checkOutCommit(previousRelease.commit);
    onTestFinished(remove);
    const before = await statefulOf(folder, join(scratch, "before"));
    const after = await statefulOf(projectRoot, join(scratch, "after"));
    expect(new Set([...before.keys()].map((key) => key.split(" ")[0]))).toEqual(
      new Set(Object.keys(replacingProperties)),
    );
    expect(new Set([...before.keys()].filter((key) => !after.has(key)))).toEqual(new Set(deletedByUpgrade));
    for (const [key, properties] of before) {
      if (after.has(key)) expect([key, after.get(key)]).toEqual([key, properties]);
    }
  },
);

test("the previous release is the newest one in CHANGELOG.md", () => {
  const [, version] = /^## (\d+\.\d+\.\d+) /m.exec(readFileSync(`${projectRoot}CHANGELOG.md`, "utf8")) ?? [];
  expect(previousRelease.version).toBe(version);
});
