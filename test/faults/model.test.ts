import { expect, test } from "vitest";
import { runModel } from "./model/model.ts";

/** Short enough for each run of CI; `npm run test:faults` runs a million. */
const STEPS = 2_000;

test("random programs of callers, operators, events, faults and time leave two accounts as expected, whatever AWS does", {
  timeout: 300_000,
}, async () => {
  const run = await runModel(STEPS, Date.now() % 1_000_000_000);
  console.info(`model: ${run.steps} steps in ${run.programs} programs, seed ${run.seed}`);
  expect(run.steps).toBeGreaterThanOrEqual(STEPS);
});
