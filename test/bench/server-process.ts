import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import type * as z from "zod";
import { report } from "./server-report.ts";

/** A server of the benchmark in a process of its own. */
export type ServerProcess = {
  readonly origin: string;
  /** CPU time of all threads since the start. */
  readonly cpuUs: () => Promise<number>;
  readonly stop: () => Promise<void>;
};

/** Starts `node <command>` with the given environment only; its output goes to the log file. */
export const startServer = async (
  command: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  logFile: string,
): Promise<ServerProcess> => {
  const log = openSync(logFile, "w");
  const env = { PATH: process.env.PATH, NODE_ENV: "production", ...environment };
  const child = spawn(process.execPath, command, { stdio: ["ignore", log, log, "ipc"], env });
  closeSync(log);
  const started = await heard(child, logFile);
  if (!("port" in started)) throw new Error(`${command.join(" ")} did not report its port`);
  return {
    origin: `http://127.0.0.1:${started.port}`,
    cpuUs: async () => {
      child.send("cpu");
      const answer = await heard(child, logFile);
      return "cpuUs" in answer ? answer.cpuUs : Number.NaN;
    },
    stop: async () => {
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
};

const heard = async (child: ChildProcess, logFile: string): Promise<z.infer<typeof report>> => {
  const listening = new AbortController();
  const { signal } = listening;
  const died = once(child, "exit", { signal }).then(() => {
    throw new Error(`A server has exited: see ${logFile}`);
  });
  try {
    const [message]: unknown[] = await Promise.race([once(child, "message", { signal }), died]);
    return report.parse(message);
  } finally {
    died.catch(() => {});
    listening.abort();
  }
};
