import { runCommand } from "../../infra/run-command.ts";
import { runStageCommand } from "./stage-command.ts";

/** The npm scripts synth, diff, deploy and destroy. */
await runCommand(() => runStageCommand(process.argv.slice(2)));
