import { crashPoints } from "./crash-points.ts";

/**
 * A kill before an effect equals a kill after the effect before it, and the model assists recoveries. `npm run
 * test:faults` adds both, and every other fault.
 */
crashPoints({
  extent: { dies_after: ["unassisted"] },
  settings: ["perfect"],
  seed: Date.now() % 1_000_000_000,
  everyOfLong: 3,
});
