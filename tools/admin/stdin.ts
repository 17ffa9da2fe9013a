import { text } from "node:stream/consumers";
import { OperatorError } from "../../shared/platform/operator-error.ts";

/** A value that should stand neither on a command line nor in a shell's history. */
export const readStdin = async (what: string): Promise<string> => {
  if (process.stdin.isTTY) process.stderr.write(`${what}, then Ctrl-D: `);
  const value = (await text(process.stdin)).trim();
  if (value === "") throw new OperatorError(`${what} is read from standard input, and nothing came`);
  return value;
};
