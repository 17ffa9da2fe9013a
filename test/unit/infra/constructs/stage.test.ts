import { Token } from "aws-cdk-lib";
import { CfnQueue } from "aws-cdk-lib/aws-sqs";
import { expect, test } from "vitest";
import { addStage } from "../../../../infra/constructs/stage.ts";
import { unbundledApp } from "../../../../infra/constructs/unbundled-app.ts";
import { settingsOf, stageSettings } from "../../../../infra/stages.ts";
import { stageVariants } from "../../../builders/stage-variants.ts";
import { changedSettings } from "../../../builders/templates.ts";

test("each setting has more than one value in the variants of stages that tests synthesise", () => {
  const variants = Object.values(stageVariants).map(([stage, changes]) => changedSettings(stage, changes));
  const constant = Object.keys(stageSettings.shape).filter((name) => {
    const values = variants.map((settings) => JSON.stringify(Object.entries(settings).find(([key]) => key === name)));
    return new Set(values).size === 1;
  });
  expect(constant).toEqual([]);
});

// The first of them also loads cdk-nag.
test.each(Object.entries(stageVariants))(
  "cdk-nag has no finding in this variant of a stage: %s",
  { timeout: 60_000 },
  (_, [stage, changes]) => {
    const app = unbundledApp();
    addStage(app, stage, changedSettings(stage, changes));
    expect(() => app.synth()).not.toThrow();
  },
);

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
