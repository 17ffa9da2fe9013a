import { randomUUID } from "node:crypto";
import { format } from "node:util";

// Preloaded with --import: the console as Lambda's Node runtime has it under the text format. Source:
// aws/aws-lambda-nodejs-runtime-interface-client, LogPatch.js.
const requestId = randomUUID();
const patched =
  (level: string) =>
  (message: unknown, ...params: readonly unknown[]) => {
    const line = `${new Date().toISOString()}\t${requestId}\t${level}\t${format(message, ...params)}`;
    process.stdout.write(`${line.replaceAll("\n", "\r")}\n`);
  };
Object.assign(console, {
  trace: patched("TRACE"),
  debug: patched("DEBUG"),
  info: patched("INFO"),
  log: patched("INFO"),
  warn: patched("WARN"),
  error: patched("ERROR"),
});
