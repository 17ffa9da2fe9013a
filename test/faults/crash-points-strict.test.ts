import { crashPoints } from "./crash-points.ts";

/** A separate file runs in parallel. The long form has every effect under every setting of AWS. */
crashPoints({
  extent: { dies_after: ["unassisted"] },
  settings: ["everything"],
  seed: Date.now() % 1_000_000_000,
  every: 12,
  everyOfLong: 24,
});
