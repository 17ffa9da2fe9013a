import { expect, test } from "vitest";
import { runModel } from "../model/model.ts";

/** Two files run at the same time, one a core. */
const STEPS = Number(process.env.MODEL_STEPS ?? 1_000_000) / 2;
/** What repeats a run that was printed. */
const SEED = Number(process.env.MODEL_SEED ?? Date.now() % 1_000_000_000);
const DAY_MS = 24 * 3_600_000;

/** A half of the long run. */
export const longModel = (part: string): void => {
  test(`${STEPS} steps of random programs leave both accounts as the books say (${part})`, {
    timeout: DAY_MS,
  }, async () => {
    // Far apart, so that the halves do not run the same programs.
    const seed = part === "a" ? SEED : SEED + 1_000_000;
    const run = await runModel(STEPS, seed, ({ steps, programs }) => {
      console.info(`model ${part}: ${steps} of ${STEPS} steps in ${programs} programs, seed ${seed}`);
    });
    expect(run.steps).toBeGreaterThanOrEqual(STEPS);
  });
};
