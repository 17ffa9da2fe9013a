import fc from "fast-check";
import { expect } from "vitest";
import { keptPersonalData } from "../invariants.ts";
import { openAppEndpoint } from "../stage.ts";
import { openWorld } from "../world/world.ts";
import { endPlay, openPlay } from "./play.ts";
import { programs } from "./steps.ts";

const PROGRAM_STEPS_MAX = 600;
/** Programs in one world: a write of the DynamoDB emulator takes the longer the more was written before. */
const WORLD_PROGRAMS = 4;
/** Programs between two restarts of all functions. */
const RESTART_EVERY = 3;

export type ModelRun = { readonly seed: number; readonly programs: number; readonly steps: number };

/**
 * Runs random programs against the real handlers and stores until that many steps are done, and compares them with the books.
 * A failing one is printed, with the seed and path that repeat it.
 */
export const runModel = async (
  stepsWanted: number,
  seed: number,
  tell: (run: ModelRun) => void = () => {},
): Promise<ModelRun> => {
  let run: ModelRun = { seed, programs: 0, steps: 0 };
  for (let round = 0; run.steps < stepsWanted; round += 1) {
    const steps = await runInWorld(seed + round);
    run = { seed, programs: run.programs + WORLD_PROGRAMS, steps: run.steps + steps };
    tell(run);
  }
  return run;
};

/** Resolves with how many steps were done. */
const runInWorld = async (seed: number): Promise<number> => {
  const world = await openWorld();
  const endpoint = await openAppEndpoint();
  let programsRun = 0;
  let steps = 0;
  const property = fc.asyncProperty(programs(PROGRAM_STEPS_MAX), async (program) => {
    programsRun += 1;
    if (programsRun % RESTART_EVERY === 0) await world.restart();
    await world.strike("refresh-catalog");
    const play = await openPlay(world, endpoint);
    await fc.asyncModelRun(() => ({ model: {}, real: play }), program);
    await endPlay(play);
    steps += [...program].length;
  });
  try {
    await fc.assert(property, { seed, numRuns: WORLD_PROGRAMS, endOnFailure: true });
    expect(await keptPersonalData(world)).toEqual([]);
    return steps;
  } finally {
    world.plan = () => undefined;
    await endpoint.stop();
    await world.stop();
  }
};
