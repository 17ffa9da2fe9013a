import fc from "fast-check";
import { expect } from "vitest";
import { chosenSettings, type StrictName, strictSettings } from "../../strict/settings.ts";
import { keptPersonalData } from "../invariants.ts";
import { startSystem } from "../system/system.ts";
import { openAppEndpoint } from "../test-account.ts";
import { endSession, type Met, nothingMet, openSession } from "./session.ts";
import { programs } from "./steps.ts";

const PROGRAM_STEPS_MAX = 600;
/** Programs on one system: the more the DynamoDB emulator has written, the longer a write takes. */
const SYSTEM_PROGRAMS = 4;
/** A short run goes on, to at most this multiple of its steps, until it has met what few programs do. */
const LONGER_MAX = 6;
/** Programs between two restarts of all functions. */
const RESTART_EVERY = 3;

export type ModelRun = {
  readonly seed: number;
  readonly programs: number;
  readonly steps: number;
  /** What happened on each system: the same in each run of the seed. */
  readonly traces: readonly string[];
  /** By setting of AWS, with how often AWS did what the emulators never do. */
  readonly bySetting: ReadonlyMap<StrictName, Progress>;
};
type Progress = Readonly<Met> & { readonly steps: number; readonly interventions: number };
const noProgress: Progress = { steps: 0, interventions: 0, ...nothingMet() };

const addProgress = (one: Progress, other: Progress): Progress => ({
  steps: one.steps + other.steps,
  interventions: one.interventions + other.interventions,
  purchases: one.purchases + other.purchases,
  waited: one.waited + other.waited,
  sent: one.sent + other.sent,
  refunded: one.refunded + other.refunded,
  limited: one.limited + other.limited,
  asked: one.asked + other.asked,
});

/** All settings together. */
export const totalOf = ({ bySetting }: ModelRun): Progress => [...bySetting.values()].reduce(addProgress, noProgress);

const hasMetAll = (run: ModelRun): boolean => {
  const { purchases, waited, limited, asked } = totalOf(run);
  return Math.min(purchases, waited, limited, asked) > 0;
};

/**
 * Runs random programs against the real handlers and stores until that many steps are done, and compares the results
 * with the expected accounts. Prints a failing program, with the seed and path that repeat it.
 */
export const runModel = async (
  stepsWanted: number,
  seed: number,
  report: (run: ModelRun) => void = () => {},
  programStepsMax = PROGRAM_STEPS_MAX,
): Promise<ModelRun> => {
  const settings = chosenSettings();
  const bySetting = new Map<StrictName, Progress>();
  let run: ModelRun = { seed, programs: 0, steps: 0, traces: [], bySetting };
  const goesOn = (): boolean => run.steps < stepsWanted || (!hasMetAll(run) && run.steps < LONGER_MAX * stepsWanted);
  for (let round = 0; goesOn(); round += 1) {
    const settingOf = (program: number): StrictName =>
      settings[(seed + round * SYSTEM_PROGRAMS + program) % settings.length] ?? "perfect";
    const { done: programsDone, trace } = await runOnSystem(seed + round, settingOf, programStepsMax);
    for (const [name, done] of programsDone) {
      bySetting.set(name, addProgress(bySetting.get(name) ?? noProgress, done));
      run = { ...run, steps: run.steps + done.steps };
    }
    run = { ...run, programs: run.programs + SYSTEM_PROGRAMS, traces: [...run.traces, trace] };
    report(run);
  }
  return run;
};

/** Runs programs on one system, each under its own setting. Returns the progress of each, and the system's trace. */
export const runOnSystem = async (
  seed: number,
  settingOf: (program: number) => StrictName,
  stepsMax = PROGRAM_STEPS_MAX,
): Promise<{ readonly done: readonly (readonly [StrictName, Progress])[]; readonly trace: string }> => {
  const system = await startSystem({ seed });
  const endpoint = await openAppEndpoint();
  let programsRun = 0;
  const done: (readonly [StrictName, Progress])[] = [];
  const property = fc.asyncProperty(programs(stepsMax), async (program) => {
    const name = settingOf(programsRun);
    programsRun += 1;
    if (programsRun % RESTART_EVERY === 0) system.fleet.end();
    system.setStrict(undefined, 0);
    await system.runSchedule("refresh-catalog");
    const session = await openSession(system, endpoint);
    system.setStrict(strictSettings[name], seed * SYSTEM_PROGRAMS + programsRun);
    try {
      await fc.asyncModelRun(() => ({ model: {}, real: session }), program);
      await endSession(session);
    } catch (error) {
      console.error(`Failed under the setting "${name}", program ${programsRun} of the system of seed ${seed}`);
      throw error;
    }
    const interventions = system.strict()?.interventions() ?? 0;
    done.push([name, { steps: [...program].length, interventions, ...session.met }]);
  });
  try {
    await fc.assert(property, { seed, numRuns: SYSTEM_PROGRAMS, endOnFailure: true });
    expect(await keptPersonalData(system)).toEqual([]);
    return { done, trace: system.trace() };
  } finally {
    system.plan = () => undefined;
    await endpoint.stop();
    await system.stop();
  }
};
