import { SettingsError } from "../../infra/settings-error.ts";
import { errorFields } from "../../shared/platform/log.ts";
import { localLog } from "./local-log.ts";
import { startService } from "./service.ts";
import { help, readSettings } from "./settings.ts";
import { welcome } from "./welcome.ts";

const EXIT_SETTINGS = 2;
const PARENT_CHECK_MS = 200;

/** A signal sent to npm may end it, or its shell, without reaching us: then we notice that our parent is another. */
const whenNpmIsGone = (act: () => void): void => {
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event === undefined) return;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    act();
  }, PARENT_CHECK_MS).unref();
};

const main = async (): Promise<void> => {
  const settings = readSettings(process.argv.slice(2), process.env);
  if (settings === undefined) {
    console.log(help);
    return;
  }
  // Until everything runs there is nothing to finish: what was started ends with this process.
  let end = (code: number): void => process.exit(code);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => end(0));
  whenNpmIsGone(() => end(0));

  // On AWS a promise that a function forgot spoils one invocation; here it must not end everything.
  process.on("unhandledRejection", (error) => localLog.error("promise.unhandled", errorFields(error)));

  const service = await startService({ ...settings, say: (sentence) => console.log(`${sentence} ...`) });
  end = (code) => {
    // A second Ctrl-C does not wait.
    end = () => process.exit(1);
    console.log("Stopping ...");
    void service.stop().finally(() => process.exit(code));
  };
  void service.broke.then((sentence) => {
    console.error(sentence);
    end(1);
  });
  console.log(await welcome(service.details, settings.upstream !== undefined));
};

try {
  await main();
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exit(EXIT_SETTINGS);
}
