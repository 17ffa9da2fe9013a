import { expect, test } from "vitest";
import { runModel } from "./model/model.ts";

/** Small enough for every run of CI; `npm run test:faults` makes a million. */
const STEPS = 2_000;

test("random programs of apps, operators, events, faults and time leave both accounts as the books say, whatever AWS does", {
  timeout: 120_000,
}, async () => {
  const run = await runModel(STEPS, Date.now() % 1_000_000_000);
  console.info(`model: ${run.steps} steps in ${run.programs} programs, seed ${run.seed}`);
  expect(run.steps).toBeGreaterThanOrEqual(STEPS);
});
