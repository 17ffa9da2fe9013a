import { expect, test } from "vitest";
import { runModel, totalOf } from "./model/model.ts";

/** Short enough for each run of CI; `npm run test:faults` runs a million. */
const STEPS = 2_000;

test("random programs of callers, operators, events, faults and time leave two accounts as expected, whatever AWS does", {
  timeout: 300_000,
}, async () => {
  const run = await runModel(STEPS, Date.now() % 1_000_000_000);
  const { purchases, waited } = totalOf(run);
  console.info(
    `model: ${run.steps} steps in ${run.programs} programs, ${purchases} purchases, ${waited} waited, seed ${run.seed}`,
  );
  expect(run.steps).toBeGreaterThanOrEqual(STEPS);
  expect(purchases).toBeGreaterThan(0);
  expect(waited).toBeGreaterThan(0);
});
