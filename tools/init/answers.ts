import type { Interface } from "node:readline/promises";
import { SettingsError } from "../../infra/settings-error.ts";
import { type Answers, questions } from "./files.ts";

/** Asks for what is not given; an empty answer takes the example. */
export const askFor = async (given: Partial<Answers>, terminal: Pick<Interface, "question">): Promise<Answers> => {
  const answers = { "upstream-url": "", account: "", region: "", "alarm-email": "" };
  for (const { name, question, example } of questions) {
    const ask = async (): Promise<string> => (await terminal.question(`${question} [${example}]: `)).trim();
    answers[name] = given[name] ?? ((await ask().catch(asEnded)) || example);
  }
  return answers;
};

/** Node's own error of Ctrl-C and Ctrl-D would be printed with its stack. */
const asEnded = (error: unknown): never => {
  if (!(error instanceof Error && error.name === "AbortError")) throw error;
  throw new SettingsError("\nThe questions were ended. Nothing was changed.", { cause: error });
};
