import { App } from "aws-cdk-lib";
import { addStage } from "./constructs/stage.ts";
import { SettingsError } from "./settings-error.ts";
import { settingsOf } from "./stages.ts";

/** What `cdk` runs: the stage that `-c stage=NAME` names, the sandbox where it names none. */
const main = (): void => {
  const app = new App();
  const stage: unknown = app.node.tryGetContext("stage") ?? "sandbox";
  addStage(app, String(stage), settingsOf(String(stage)));
  app.synth();
};

try {
  main();
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
