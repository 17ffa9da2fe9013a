import { SettingsError } from "../../infra/settings-error.ts";
import { runStageCommand } from "./stage-command.ts";

/** The npm scripts synth, diff, deploy and destroy. */
try {
  process.exitCode = await runStageCommand(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
