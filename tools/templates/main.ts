import { parseArgs } from "node:util";
import { readStages } from "../../infra/read-stages.ts";
import { settingsOf } from "../../infra/stage-settings.ts";
import { readArguments } from "../usage/arguments.ts";
import { usage } from "../usage/usage.ts";
import { writeTemplates } from "./templates.ts";

/** `airtime templates`: a stage's templates and archives, for tools other than the CDK. */

const readOptions = (args: readonly string[]): { readonly stage: string; readonly output: string } => {
  const options = { stage: { type: "string" }, output: { type: "string" } } as const;
  const { stage, output } = parseArgs({ args: [...args], options }).values;
  if (stage !== undefined && output) return { stage, output };
  throw new Error("Name the stage and a folder.");
};

const { stage, output } = readArguments(usage.templates, readOptions);
const stacks = writeTemplates(stage, settingsOf(stage, await readStages()), output);
console.log(`${output} has the templates of ${stacks.join(", ")}, to be deployed in this order.`);
