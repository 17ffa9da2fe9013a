import { expect, test } from "vitest";
import { runModel, totalOf } from "./model/model.ts";

/** Short enough for each run of CI; `npm run test:faults` runs a million. */
const STEPS = 500;
/** The seed of a printed run repeats it. */
const SEED = Number(process.env.MODEL_SEED ?? Date.now() % 1_000_000_000);

test("random programs of callers, operators, events, faults and time leave two accounts as expected, whatever AWS does", {
  timeout: 900_000,
}, async () => {
  const run = await runModel(STEPS, SEED);
  const { purchases, waited } = totalOf(run);
  console.info(
    `model: ${run.steps} steps in ${run.programs} programs, ${purchases} purchases, ${waited} waited, seed ${run.seed}`,
    `traces ${run.traces.map((trace) => trace.slice(0, 8)).join(" ")}`,
  );
  expect(run.steps).toBeGreaterThanOrEqual(STEPS);
  expect(purchases).toBeGreaterThan(0);
  expect(waited).toBeGreaterThan(0);
});
