import { crashPoints } from "./crash-points.ts";

const seed = Date.now() % 1_000_000_000;

/**
 * Some scenarios at an upstream that refuses what its document does not show, and at a sloppy one, each run others.
 * `UPSTREAM_MANNER=strict UPSTREAM_REFERENCES=documented npm run test:faults crash-points` has all of them.
 */
for (const upstreamKind of [
  { manner: "strict", references: "documented" },
  { manner: "sloppy", references: "all" },
] as const) {
  crashPoints({
    extent: { dies_after: ["unassisted"] },
    settings: ["perfect"],
    seed,
    every: 12,
    everyOfLong: 24,
    everyScenario: 8,
    upstreamKind,
  });
}
