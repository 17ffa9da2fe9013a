import { expect, test } from "vitest";
import { runModel, totalOf } from "./model/model.ts";

/** Short enough for each run of CI; `npm run test:faults` runs a million. */
const STEPS = Number(process.env.MODEL_STEPS ?? 300);
/** Shorter programs than there, so that all settings of AWS have one. */
const PROGRAM_STEPS_MAX = 150;
/** The seed of a printed run repeats it. */
const SEED = Number(process.env.MODEL_SEED ?? Date.now() % 1_000_000_000);

test("random programs of callers, operators, events, faults and time leave two accounts as expected, whatever AWS does", async () => {
  const run = await runModel(STEPS, SEED, undefined, PROGRAM_STEPS_MAX);
  const { purchases, waited, limited, asked } = totalOf(run);
  console.info(
    `model: ${run.steps} steps in ${run.programs} programs, ${purchases} purchases, ${waited} waited, ${limited} beyond a limit, ${asked} asked for, seed ${run.seed}`,
    `traces ${run.traces.map((trace) => trace.slice(0, 8)).join(" ")}`,
  );
  expect(run.steps).toBeGreaterThanOrEqual(STEPS);
  expect(purchases).toBeGreaterThan(0);
  expect(waited).toBeGreaterThan(0);
  expect(limited).toBeGreaterThan(0);
  expect(asked).toBeGreaterThan(0);
});
