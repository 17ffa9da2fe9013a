import { crashPoints } from "./crash-points.ts";

/** A file of its own, so that it runs beside the other one. The long form has every effect under every setting of AWS. */
crashPoints({
  extent: { dies_after: ["nobody"] },
  settings: ["everything"],
  seed: Date.now() % 1_000_000_000,
  every: 3,
});
