import { crashPoints } from "./crash-points.ts";

/**
 * A death before an effect is one after the effect before it, and a model repeats and reports; `npm run test:faults` adds all of it
 * here, and every other fault.
 */
crashPoints({ extent: { dies_after: ["nobody"] }, settings: ["perfect"], seed: Date.now() % 1_000_000_000 });
