import { crashPoints } from "./crash-points.ts";

/** Without the short path of DynamoDB calls the effects are the same, which its own tests show (decision 0025). */
const isSample = process.env.AWS_CALLS === "sdk";

/**
 * A kill before an effect equals a kill after the effect before it, and the model assists recoveries. `npm run
 * test:faults` adds both, and every other fault.
 */
crashPoints({
  extent: { dies_after: ["unassisted"] },
  settings: ["perfect"],
  seed: Date.now() % 1_000_000_000,
  every: isSample ? 4 : 1,
  everyOfLong: isSample ? 12 : 3,
});
