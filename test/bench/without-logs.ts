/** Runs work of the service in this process without its log lines, which would mix with the results. */
export const withoutLogs = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  const { log } = console;
  console.log = (): void => {};
  try {
    return await work();
  } finally {
    console.log = log;
  }
};
