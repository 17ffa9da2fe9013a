import { randomInt } from "node:crypto";
import { inspect, parseArgs } from "node:util";
import { runCommand } from "../../infra/run-command.ts";
import { SettingsError } from "../../infra/settings-error.ts";
import { logOutput } from "../../shared/platform/log.ts";
import { readArguments, wholeNumber } from "../usage/arguments.ts";
import { outliveReaders } from "../usage/ended-reader.ts";
import { temporaryFolder } from "../usage/temporary-folder.ts";
import { startKillableService } from "./killable-service.ts";
import { type RunOptions, runClient } from "./run.ts";
import { resultOf } from "./scorecard.ts";

/** `npm run conformance`: docs/conformance.md. */

const USAGE = 'npm run conformance -- --client "COMMAND" [--orders N] [--seed N] [--processes N] [--json]';
const SEEDS = 1_000_000;
/** An account is funded, and has keys, for this number of orders. */
const ORDERS_MAX = 10_000;
const PROCESSES_MAX = 40;
const PROGRESS_MS = 10_000;

const readOptions = (args: readonly string[]): RunOptions & { readonly json: boolean } => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      client: { type: "string" },
      orders: { type: "string", default: "500" },
      seed: { type: "string", default: String(randomInt(SEEDS)) },
      processes: { type: "string", default: "8" },
      json: { type: "boolean", default: false },
    },
  });
  const { client, json } = values;
  if (!client) throw new Error("Name the command that starts the client.");
  return {
    client,
    json,
    orders: wholeNumber("--orders", values.orders, 1, ORDERS_MAX),
    seed: wholeNumber("--seed", values.seed, 0, Number.MAX_SAFE_INTEGER),
    processes: wholeNumber("--processes", values.processes, 1, PROCESSES_MAX),
  };
};

const main = async (): Promise<number> => {
  const { json, ...options } = readArguments(USAGE, readOptions);
  const folder = temporaryFolder("conformance-");
  console.error(`Places ${options.orders} orders with seed ${options.seed}. Starting the service ...`);
  const service = await startKillableService(folder);
  let printedAtMs = performance.now();
  const onDecided = (decided: number): void => {
    if (performance.now() < printedAtMs + PROGRESS_MS) return;
    printedAtMs = performance.now();
    console.error(`${decided} of ${options.orders} orders are decided`);
  };
  try {
    const run = await runClient(service, { ...options, onDecided });
    const { text, exitCode } = resultOf(run, { json });
    console.log(text);
    return exitCode;
  } finally {
    await service.stop();
  }
};

outliveReaders();
// The kit writes to the service's tables too. Its log goes where that of the service goes, which is nowhere.
logOutput.write = () => {};
await runCommand(() =>
  main().catch((error: unknown) => {
    if (error instanceof SettingsError) throw error;
    // Node's own exit code of an error would say that the client does not conform.
    throw new SettingsError(`The kit could not run the client: ${inspect(error)}`, { cause: error });
  }),
);
