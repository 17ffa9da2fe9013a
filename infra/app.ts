import { App } from "aws-cdk-lib";
import { addStage } from "./constructs/stage.ts";
import { readStages } from "./read-stages.ts";
import { runCommand } from "./run-command.ts";
import { settingsOf } from "./stage-settings.ts";

/** The program that `cdk` runs: it synthesises the stage of `-c stage=NAME`, by default the sandbox. */
const main = async (): Promise<undefined> => {
  const app = new App();
  const stage: unknown = app.node.tryGetContext("stage") ?? "sandbox";
  addStage(app, String(stage), settingsOf(String(stage), await readStages()));
  app.synth();
};

await runCommand(main);
