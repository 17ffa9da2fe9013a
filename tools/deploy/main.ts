import { runStageCommand } from "./stage-command.ts";

/** The npm scripts synth, diff, deploy and destroy. */
process.exitCode = await runStageCommand(process.argv.slice(2));
