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

test("cdk-nag reports a queue without dead letters", () => {
  const app = unbundledApp();
  const { service } = addStage(app, "sandbox", settingsOf("sandbox"));
  new CfnQueue(service, "WithoutDeadLetters");
  expect(() => app.synth()).toThrow("AwsSolutions-SQS3");
});
