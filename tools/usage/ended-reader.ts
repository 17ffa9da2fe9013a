import { EXIT_FAILED } from "../../infra/exit-codes.ts";

/**
 * Nobody reads on after `| head`, or when the terminal is gone: this process finishes its work nevertheless. An exception
 * there would leave it half done, for example a stage that was deployed to be tried. Output that does not fit on the disk makes
 * the command a failed one.
 */
export const outliveReaders = (): void => {
  let unwritten: Error | undefined;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE" && error.code !== "EIO") unwritten = error;
    });
  }
  process.once("exit", () => {
    if (unwritten === undefined || process.exitCode) return;
    process.exitCode = EXIT_FAILED;
    process.stderr.write(`The output could not be written (${unwritten.message}).\n`);
  });
};
