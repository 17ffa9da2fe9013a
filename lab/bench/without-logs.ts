import { logOutput } from "../../shared/platform/log.ts";

/** Runs work of the service in this process without its log lines, which would mix with the results. */
export const withoutLogs = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  const { write } = logOutput;
  logOutput.write = (): void => {};
  try {
    return await work();
  } finally {
    logOutput.write = write;
  }
};
