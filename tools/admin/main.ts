import { Console } from "node:console";
import { logOutput } from "../../shared/platform/log.ts";
import { runAdmin } from "./run.ts";

// Standard output holds the result only: what shared code and packages log goes to standard error.
const stderr = new Console(process.stderr, process.stderr);
globalThis.console = stderr;
logOutput.write = (line) => stderr.log(line);
process.exitCode = await runAdmin(process.argv.slice(2));
