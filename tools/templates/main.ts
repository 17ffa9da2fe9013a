import { parseArgs } from "node:util";
import { readStages } from "../../infra/read-stages.ts";
import { runCommand } from "../../infra/run-command.ts";
import { SettingsError } from "../../infra/settings-error.ts";
import { settingsOf } from "../../infra/stage-settings.ts";
import { usage, usageError } from "../usage/usage.ts";
import { writeTemplates } from "./templates.ts";

/** `airtime templates`: a stage's templates and archives, for tools other than the CDK. */

const readOptions = (): { readonly stage: string; readonly output: string } => {
  try {
    const { values } = parseArgs({ options: { stage: { type: "string" }, output: { type: "string" } } });
    const { stage, output } = values;
    if (stage !== undefined && output) return { stage, output };
  } catch (error) {
    throw usageError("templates", error);
  }
  throw new SettingsError(`Name the stage and a folder: ${usage.templates}`);
};

const main = async (): Promise<undefined> => {
  const { stage, output } = readOptions();
  const stacks = writeTemplates(stage, settingsOf(stage, await readStages()), output);
  console.log(`${output} has the templates of ${stacks.join(", ")}, to be deployed in this order.`);
};

await runCommand(main);
