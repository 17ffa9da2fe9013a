import { EXIT_FAILED } from "../../infra/exit-codes.ts";

/**
 * Nobody reads on after `| head`, or when the terminal is gone: this process finishes its work nevertheless. An exception
 * there would leave it half done, for example a stage that was deployed to be tried. A full disk has the exit code of a failure.
 */
export const outliveReaders = (): void => {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", reportUnlessReaderEnded);
};

let isReported = false;

const reportUnlessReaderEnded = (error: NodeJS.ErrnoException): void => {
  if (isReported || error.code === "EPIPE" || error.code === "EIO") return;
  isReported = true;
  process.once("exit", () => {
    if (process.exitCode !== undefined && process.exitCode !== 0) return;
    process.exitCode = EXIT_FAILED;
    process.stderr.write(`The output could not be written (${error.message}).\n`);
  });
};
