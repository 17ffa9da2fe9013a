import { crashPoints } from "./crash-points.ts";

/** A twenty-fourth of the scenarios, each run others. The long form has every effect of all, under every setting of AWS. */
crashPoints({
  extent: { dies_after: ["unassisted"] },
  settings: ["everything"],
  seed: Date.now() % 1_000_000_000,
  every: 12,
  everyOfLong: 24,
  everyScenario: 24,
});
