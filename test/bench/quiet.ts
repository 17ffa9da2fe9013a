/** Does work of the service in this process, whose log lines would stand between the figures. */
export const quietly = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  const { log } = console;
  console.log = (): void => {};
  try {
    return await work();
  } finally {
    console.log = log;
  }
};
