import { Token } from "aws-cdk-lib";
import { CfnQueue } from "aws-cdk-lib/aws-sqs";
import { expect, test } from "vitest";
import { addStage } from "../../../../infra/constructs/stage.ts";
import { unbundledApp } from "../../../../infra/constructs/unbundled-app.ts";
import { settingsOf } from "../../../../infra/stages.ts";

test.each(["prod", "sandbox"])("cdk-nag has no finding in the stage %s", (stage) => {
  const app = unbundledApp();
  addStage(app, stage, settingsOf(stage));
  expect(() => app.synth()).not.toThrow();
});

test("cdk-nag has no finding in a stage with an existing VPC and a domain", () => {
  const app = unbundledApp();
  const egress = {
    kind: "existing",
    vpcId: "vpc-0a1b2c3d",
    subnetIds: ["subnet-0a1b2c3d"],
    addresses: ["203.0.113.1"],
  } as const;
  const certificateArn = "arn:aws:acm:us-east-1:000000000000:certificate/0a";
  const prod = { ...settingsOf("prod"), egress, domain: { name: "api.example.com", certificateArn } };
  addStage(app, "prod", settingsOf("prod", { prod }));
  expect(() => app.synth()).not.toThrow();
});

test("cdk-nag reports a queue without dead letters", () => {
  const app = unbundledApp();
  const { service } = addStage(app, "sandbox", settingsOf("sandbox"));
  new CfnQueue(service, "WithoutDeadLetters");
  expect(() => app.synth()).toThrow("AwsSolutions-SQS3");
});

test("the stacks of a stage that sells belong to its account and region, and those that keep state are protected", () => {
  const { data, network, service } = addStage(unbundledApp(), "prod", settingsOf("prod"));
  for (const stack of [data, network, service]) {
    expect([stack?.account, stack?.region]).toEqual(["000000000000", "us-east-1"]);
  }
  expect([data, network, service].map((stack) => stack?.terminationProtection)).toEqual([true, true, false]);
});

test("the stacks of the sandbox fit every account and can be deleted", () => {
  const { data, service } = addStage(unbundledApp(), "sandbox", settingsOf("sandbox"));
  expect([data, service].map((stack) => stack.terminationProtection)).toEqual([false, false]);
  expect(Token.isUnresolved(data.account)).toBe(true);
});
