/**
 * Nobody reads on after `| head`, or when the terminal is gone: this process finishes its work nevertheless. An exception
 * there would leave it half done, for example a stage that was deployed to be tried.
 */
export const outliveReaders = (): void => {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
};
