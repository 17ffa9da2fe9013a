import { functionNames } from "../../infra/functions.ts";
import { traced } from "./traced.ts";

const [given, ...line] = process.argv.slice(2);
const name = functionNames.find((known) => known === given);
if (name === undefined || line.length === 0) {
  process.stderr.write(`Usage: npm run trace -- FUNCTION 'LOG LINE'. The functions are ${functionNames.join(", ")}.\n`);
  process.exitCode = 1;
} else {
  process.stdout.write(`${await traced(name, line.join(" "))}\n`);
}
