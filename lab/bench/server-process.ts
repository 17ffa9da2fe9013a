import { startChild } from "./child.ts";
import { isShort } from "./extent.ts";
import { report } from "./server-report.ts";

/** A server of the benchmark in a process of its own. */
export type ServerProcess = {
  readonly origin: string;
  /** CPU time of all threads since the start. */
  readonly cpuUs: () => Promise<number>;
  readonly stop: () => Promise<void>;
};

/** The short form, which measures nothing, starts servers from what Node compiled before. */
const compiled = isShort ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } : {};

/** Starts `node <command>` with the given environment only; its output goes to the log file. */
export const startServer = async (
  command: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  logFile: string,
): Promise<ServerProcess> => {
  const { nextMessage, ask, stop } = startChild(
    [process.execPath, ...command],
    { ...environment, ...compiled },
    logFile,
    report,
  );
  const started = await nextMessage();
  if (!("port" in started)) throw new Error(`${command.join(" ")} did not report its port`);
  return {
    origin: `http://127.0.0.1:${started.port}`,
    cpuUs: async () => {
      const answer = await ask("cpu");
      return "cpuUs" in answer ? answer.cpuUs : Number.NaN;
    },
    stop,
  };
};
