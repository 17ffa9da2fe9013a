import fc from "fast-check";
import { expect } from "vitest";
import { chosenSettings, type StrictName, strictSettings } from "../../strict/settings.ts";
import { keptPersonalData } from "../invariants.ts";
import { startSystem } from "../system/system.ts";
import { openAppEndpoint } from "../test-account.ts";
import { endSession, openSession } from "./session.ts";
import { programs } from "./steps.ts";

const PROGRAM_STEPS_MAX = 600;
/** Programs in one system: a write of the DynamoDB emulator takes the longer the more was written before. */
const SYSTEM_PROGRAMS = 4;
/** Programs between two restarts of all functions. */
const RESTART_EVERY = 3;

export type ModelRun = {
  readonly seed: number;
  readonly programs: number;
  readonly steps: number;
  /** The same by the setting of AWS, with how often AWS did what the emulators would not have done. */
  readonly bySetting: ReadonlyMap<StrictName, Done>;
};
type Done = { readonly steps: number; readonly interventions: number };

/**
 * Runs random programs against the real handlers and stores until that many steps are done, and compares them with the books.
 * A failing one is printed, with the seed and path that repeat it.
 */
export const runModel = async (
  stepsWanted: number,
  seed: number,
  tell: (run: ModelRun) => void = () => {},
): Promise<ModelRun> => {
  const settings = chosenSettings();
  const bySetting = new Map<StrictName, Done>();
  let run: ModelRun = { seed, programs: 0, steps: 0, bySetting };
  for (let round = 0; run.steps < stepsWanted; round += 1) {
    const settingOf = (program: number): StrictName =>
      settings[(round * SYSTEM_PROGRAMS + program) % settings.length] ?? "perfect";
    for (const [name, done] of await runOnSystem(seed + round, settingOf)) {
      const before = bySetting.get(name) ?? { steps: 0, interventions: 0 };
      const interventions = before.interventions + done.interventions;
      bySetting.set(name, { steps: before.steps + done.steps, interventions });
      run = { ...run, steps: run.steps + done.steps };
    }
    run = { ...run, programs: run.programs + SYSTEM_PROGRAMS };
    tell(run);
  }
  return run;
};

/** Runs some programs, each under the setting that is its own. Resolves with what was done in each. */
const runOnSystem = async (
  seed: number,
  settingOf: (program: number) => StrictName,
): Promise<readonly (readonly [StrictName, Done])[]> => {
  const system = await startSystem();
  const endpoint = await openAppEndpoint();
  let programsRun = 0;
  const done: (readonly [StrictName, Done])[] = [];
  const property = fc.asyncProperty(programs(PROGRAM_STEPS_MAX), async (program) => {
    const name = settingOf(programsRun);
    programsRun += 1;
    if (programsRun % RESTART_EVERY === 0) await system.restart();
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
    done.push([name, { steps: [...program].length, interventions: system.strict()?.interventions() ?? 0 }]);
  });
  try {
    await fc.assert(property, { seed, numRuns: SYSTEM_PROGRAMS, endOnFailure: true });
    expect(await keptPersonalData(system)).toEqual([]);
    return done;
  } finally {
    system.plan = () => undefined;
    await endpoint.stop();
    await system.stop();
  }
};
