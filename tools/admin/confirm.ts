import { once } from "node:events";
import { createInterface } from "node:readline";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { type Change, changesText } from "./changes.ts";
import { terminal, writeMessage } from "./terminal.ts";

/** Asks the person at the terminal, and refuses unless the answer is yes. */
export const confirm = async (command: string, stage: string, changes: readonly Change[]): Promise<void> => {
  const { stdin } = terminal();
  if (!stdin.isTTY) {
    throw new OperatorError(
      `${command} asks before it acts on a deployed stage, and there is no terminal: add --yes, or --json in a script`,
    );
  }
  const shown = changes.length === 0 ? "" : `${changesText(changes)}\n`;
  writeMessage(`${command} on the stage ${stage}\n${shown}Continue? [y/N] `);
  const lines = createInterface({ input: stdin });
  const [answer] = await Promise.race([once(lines, "line"), once(lines, "close")]);
  lines.close();
  if (!/^y(es)?$/i.test(String(answer).trim())) throw new OperatorError("Nothing was changed: the answer was not yes");
};
