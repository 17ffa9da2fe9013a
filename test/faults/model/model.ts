import fc from "fast-check";
import { expect } from "vitest";
import { keptPersonalData } from "../invariants.ts";
import { openAppEndpoint } from "../stage.ts";
import { openWorld } from "../world/world.ts";
import { endPlay, openPlay } from "./play.ts";
import { programs } from "./steps.ts";

const PROGRAM_STEPS_MAX = 600;
/** Programs between two restarts of all functions. */
const RESTART_EVERY = 40;

export type ModelRun = { readonly seed: number; readonly programs: number; readonly steps: number };

/**
 * Runs random programs against the real handlers and stores until that many steps are done, and compares them with the books.
 * A failing one is shrunk and printed, with the seed and path that repeat it.
 */
export const runModel = async (
  stepsWanted: number,
  seed: number,
  tell: (run: ModelRun) => void = () => {},
): Promise<ModelRun> => {
  const world = await openWorld();
  const endpoint = await openAppEndpoint();
  let steps = 0;
  let count = 0;
  const property = fc.asyncProperty(programs(PROGRAM_STEPS_MAX), async (program) => {
    count += 1;
    if (count % RESTART_EVERY === 0) await world.restart();
    await world.strike("refresh-catalog");
    const play = await openPlay(world, endpoint);
    await fc.asyncModelRun(() => ({ model: {}, real: play }), program);
    await endPlay(play);
    steps += [...program].length;
  });
  try {
    for (let round = 0; steps < stepsWanted; round += 1) {
      await fc.assert(property, { seed: seed + round, numRuns: 10, endOnFailure: true });
      tell({ seed, programs: count, steps });
    }
    expect(await keptPersonalData(world)).toEqual([]);
    return { seed, programs: count, steps };
  } finally {
    world.plan = () => undefined;
    await endpoint.stop();
    await world.stop();
  }
};
