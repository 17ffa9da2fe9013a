import { startChild } from "./child.ts";
import { isShort } from "./extent.ts";
import { report } from "./server-report.ts";

export type ServerProcess = Awaited<ReturnType<typeof startServer>>;

/** The short form, which measures nothing, starts servers from what Node compiled before. */
const compiled = isShort ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } : {};

/** Starts a server of the benchmark, `node <command>`, in a process of its own with the given environment only; its output goes to the log file. */
export const startServer = async (
  command: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  logFile: string,
) => {
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
    /** CPU time of all threads since the start. */
    cpuUs: async (): Promise<number> => {
      const answer = await ask("cpu");
      return "cpuUs" in answer ? answer.cpuUs : Number.NaN;
    },
    stop,
  };
};
