import { EXIT_FAILED } from "../../infra/exit-codes.ts";
import { runCommand } from "../../infra/run-command.ts";
import { errorFields, logOutput } from "../../shared/platform/log.ts";
import { localLog } from "./local-log.ts";
import { help, parseSettings } from "./settings.ts";
import { welcome } from "./welcome.ts";

const PARENT_CHECK_MS = 200;
/** Everything has stopped by then; a signal after it ends this process at once. */
const STOP_MS_MAX = 3_000;

/** A signal to npm may end npm or its shell without reaching this process, which then gets another parent. */
const onNpmExit = (callback: () => void): void => {
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event === undefined) return;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, PARENT_CHECK_MS).unref();
};

/** Holds the functions' log lines until the service is ready, so that a start shows its steps. */
const holdLog = () => {
  const { write } = logOutput;
  const held: string[] = [];
  logOutput.write = (line) => void held.push(line);
  const print = (lines: readonly string[]): void => {
    logOutput.write = write;
    for (const line of lines) write(line);
  };
  const isProblem = (line: string): boolean => /"level":"(warn|error)"/.test(line);
  return { printAll: () => print(held), printProblems: () => print(held.filter(isProblem)) };
};

const main = async (): Promise<undefined> => {
  const settings = parseSettings(process.argv.slice(2), process.env);
  if (settings === undefined) {
    console.log(help);
    return;
  }
  // Until the service runs there is no work to finish: everything that was started ends with this process.
  let exit = (code: number): void => process.exit(code);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => exit(0));
  onNpmExit(() => exit(0));
  // `| head` has read enough, or the terminal is gone.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => exit(0));

  // On AWS an unhandled rejection fails one invocation; here it must not end all functions.
  process.on("unhandledRejection", (error) => localLog.error("promise.unhandled", errorFields(error)));

  const log = holdLog();
  // Most of what a start loads, which --help and a wrong setting do not need.
  const { startService } = await import("./service.ts");
  const onProgress = (sentence: string): void => console.log(`${sentence} ...`);
  const service = await startService({ ...settings, sampleBooks: settings.upstream === undefined, onProgress }).catch(
    (error) => {
      log.printAll();
      throw error;
    },
  );
  exit = (code) => {
    const longestEndMs = performance.now() + STOP_MS_MAX;
    // npm sends on each signal, which a terminal has sent to this process already.
    exit = () => {
      if (performance.now() > longestEndMs) process.exit(EXIT_FAILED);
    };
    console.log("Stopping ...");
    void service.stop().finally(() => process.exit(code));
  };
  void service.failure.then((sentence) => {
    console.error(sentence);
    exit(EXIT_FAILED);
  });
  log.printProblems();
  console.log(welcome(service.details, settings));
};

await runCommand(main);
// What was started before the error would keep this process.
if (process.exitCode !== undefined) process.exit();
