import { type Serializable, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import type * as z from "zod";

/** Longer than any answer takes: the longest is a round of purchases. */
const ANSWER_MS_MAX = 120_000;
const STOP_MS_MAX = 2_000;
const SHOWN_CHARACTERS = 2_000;

/** A process of the benchmark that answers messages. It ends with the process that started it. */
export type Child<Message> = {
  readonly nextMessage: () => Promise<Message>;
  /** Sends a message. Resolves with the answer. */
  readonly ask: (question: Serializable) => Promise<Message>;
  readonly stop: () => Promise<void>;
};

/** Starts the command with the given environment only; its output goes to the log file. */
export const startChild = <Schema extends z.ZodType>(
  command: readonly [string, ...string[]],
  environment: Readonly<Record<string, string | undefined>>,
  logFile: string,
  schema: Schema,
): Child<z.output<Schema>> => {
  const log = openSync(logFile, "w");
  const env = { PATH: process.env.PATH, NODE_ENV: "production", ...environment };
  const [program, ...args] = command;
  const child = spawn(program, args, { stdio: ["ignore", log, log, "ipc"], env });
  closeSync(log);
  const exited = once(child, "exit");

  const nextMessage = async (): Promise<z.output<Schema>> => {
    const listening = new AbortController();
    const signal = AbortSignal.any([listening.signal, AbortSignal.timeout(ANSWER_MS_MAX)]);
    const died = once(child, "exit", { signal }).then(([code, killedBy]) => {
      // The file is deleted with the benchmark's temporary folder.
      const logged = readFileSync(logFile, "utf8").slice(-SHOWN_CHARACTERS);
      throw new Error(`${command.join(" ")} has exited (${killedBy ?? code}): ${logged}`);
    });
    try {
      const [message]: unknown[] = await Promise.race([once(child, "message", { signal }), died]);
      return schema.parse(message);
    } finally {
      died.catch(() => {});
      listening.abort();
    }
  };

  return {
    nextMessage,
    ask: (question) => {
      child.send(question);
      return nextMessage();
    },
    stop: async () => {
      if (child.connected) child.disconnect();
      const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
      await exited;
      clearTimeout(late);
    },
  };
};
