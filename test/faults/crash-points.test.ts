import { crashPoints } from "./crash-points.ts";

/** Only every n-th effect of every twelfth scenario is hit, each run others, and of long scenarios half of these. */
const EVERY = Number(process.env.CRASH_POINTS_EVERY ?? 15);

/**
 * A kill before an effect equals a kill after the effect before it, and the model assists recoveries. `npm run
 * test:faults` adds both, every effect, and every other fault.
 */
crashPoints({
  extent: { dies_after: ["unassisted"] },
  settings: ["perfect"],
  seed: Date.now() % 1_000_000_000,
  every: EVERY,
  everyOfLong: 2 * EVERY,
  everyScenario: EVERY === 1 ? 1 : 12,
});
