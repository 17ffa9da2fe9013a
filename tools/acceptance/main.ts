import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { EXIT_FAILED, EXIT_REFUSED } from "../../infra/exit-codes.ts";
import { committedStages } from "../../infra/read-stages.ts";
import { SettingsError } from "../../infra/settings-error.ts";
import { MINUTE_MS } from "../../shared/contract/values/durations.ts";
import { readArguments } from "../usage/arguments.ts";
import { usage } from "../usage/usage.ts";
import type { Context, Wait } from "./context.ts";
import { requestCounts } from "./request-counts.ts";
import { exitCodeOf, isAccepted, type StepResult } from "./run-steps.ts";
import { assertNewStage, checkPlace, signInTo } from "./steps/check-place.ts";
import { cleanUp } from "./steps/clean-up.ts";

/** `npm run acceptance`: options and exit codes are in docs/acceptance.md. */

const readOptions = (args: readonly string[]) => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      stage: { type: "string" },
      region: { type: "string" },
      profile: { type: "string" },
      json: { type: "boolean", default: false },
      "clean-up": { type: "boolean", default: false },
    },
  });
  const { stage, region, "clean-up": isCleanUp, ...others } = values;
  // A variable of the shell that is not set leaves an empty option.
  if (stage && region) return { stage, region, isCleanUp, ...others };
  throw new Error("Name a stage that does not exist yet, and a region.");
};

const main = async (): Promise<number> => {
  const { stage, region, profile, json, isCleanUp } = readArguments(usage.acceptance, readOptions);
  const print = json ? console.error : console.log;
  const report = ({ state, duration_s, step, found }: StepResult): void =>
    print(`${state.padEnd(11)} ${`${duration_s} s`.padStart(8)}  ${step}: ${found}`);
  const known = await committedStages();
  assertNewStage(stage, known);
  const account = await signInTo({ stage, region, profile }, known);

  const startedAt = new Date();
  const interruption = new AbortController();
  const { signal } = interruption;
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(name, () => {
      print("Interrupted: deletes what was deployed, which takes some minutes. Do not end this process.");
      interruption.abort();
    });
  }
  const printWait = onceAMinute(print);
  const wait: Wait = (delayMs, what) => {
    printWait(`waits for ${what}`);
    return sleep(delayMs);
  };
  if (isCleanUp) {
    const outcome = await cleanUp(stage, wait);
    const found = "found" in outcome ? outcome.found : outcome.skipped;
    if (json) console.log(JSON.stringify({ stage, account, region, found }));
    else print(`Account ${account}, region ${region}: ${found}`);
    return 0;
  }
  const place = await checkPlace(stage, region, account);
  print(`Stage ${stage} in account ${account}, region ${region}. Everything with this name is deleted at the end.`);
  const waitUnlessInterrupted: Wait = (delayMs, what) => {
    printWait(`waits for ${what}`);
    return sleep(delayMs, undefined, { signal });
  };
  const context: Context = { stage, region, startedAt, signal, wait: waitUnlessInterrupted };
  // Loaded here, because they load the CDK, which what is refused above does not need.
  const [{ runAcceptance }, { estimateDollars }] = await Promise.all([
    import("./acceptance.ts"),
    import("./estimate.ts"),
  ]);
  const steps = await runAcceptance(context, place, report, wait);
  const accepted = isAccepted(steps);
  const duration_s = Math.round((Date.now() - startedAt.getTime()) / 1_000);
  const estimated_usd = Number(estimateDollars(requestCounts.requests, Date.now() - startedAt.getTime()).toFixed(4));
  if (json)
    console.log(
      JSON.stringify({
        accepted,
        stage,
        account,
        region,
        steps,
        duration_s,
        requests: requestCounts.requests,
        estimated_usd,
      }),
    );
  else print(summary(steps, accepted, duration_s));
  print(
    `Estimated cost: ${estimated_usd} USD for ${requestCounts.requests} requests (tools/costs/prices.ts; no bill was read).`,
  );
  return exitCodeOf(steps, signal.aborted);
};

const summary = (steps: readonly StepResult[], accepted: boolean, durationS: number): string => {
  const count = (state: StepResult["state"]): number => steps.filter((step) => step.state === state).length;
  const others = (["failed", "skipped", "interrupted"] as const).map((state) => `${count(state)} ${state}`).join(", ");
  return `${accepted ? "Accepted" : "Not accepted"} in ${durationS} s: ${count("ok")} steps ok, ${others}.`;
};

/** What a step waits for is printed once a minute at most. */
const onceAMinute = (print: (line: string) => void) => {
  let printedAtMs = 0;
  return (sentence: string): void => {
    if (Date.now() - printedAtMs < MINUTE_MS) return;
    printedAtMs = Date.now();
    print(`  ${sentence}`);
  };
};

try {
  process.exitCode = await main();
} catch (error) {
  const isRefusal = error instanceof SettingsError;
  console.error(isRefusal ? error.message : error instanceof Error ? `${error.name}: ${error.message}` : String(error));
  process.exitCode = isRefusal ? EXIT_REFUSED : EXIT_FAILED;
}
