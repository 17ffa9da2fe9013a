import { Console } from "node:console";
import { Writable } from "node:stream";
import { logOutput } from "../../shared/platform/log.ts";
import { runAdmin } from "./run.ts";
import { printMessage, writeMessage } from "./terminal.ts";

// Standard output holds the result only: what shared code and packages log goes to standard error.
const messages = new Writable({
  decodeStrings: false,
  write: (text, _encoding, done) => {
    writeMessage(String(text));
    done();
  },
});
globalThis.console = new Console(messages);
logOutput.write = printMessage;
process.exitCode = await runAdmin(process.argv.slice(2));
