import { text } from "node:stream/consumers";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { terminal, writeMessage } from "./terminal.ts";

/** Reads a secret value, which must be neither on the command line nor in the shell's history. */
export const readStdin = async (name: string): Promise<string> => {
  const { stdin } = terminal();
  if (stdin.isTTY) writeMessage(`${name}, then Ctrl-D: `);
  const value = (await text(stdin)).trim();
  if (value === "") throw new OperatorError(`${name} is read from standard input, which is empty. Pipe it in: < FILE`);
  return value;
};
