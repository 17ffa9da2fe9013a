import { type CrashPoints, crashPoints, otherUpstreams } from "./crash-points.ts";

const SEED = Date.now() % 1_000_000_000;
const chosen = SEED % otherUpstreams.length;
const sample: Omit<CrashPoints, "upstreamKind"> = {
  extent: { dies_after: ["unassisted"] },
  settings: ["perfect"],
  // What chose the upstream does not choose its scenarios too.
  seed: Math.floor(SEED / otherUpstreams.length),
  every: 12,
  everyOfLong: 24,
};

/**
 * Of the scenarios a thirtieth at one of the other upstreams, and one of those in which it is asked; each run others.
 * `UPSTREAM_MANNER=strict UPSTREAM_REFERENCES=documented npm run test:faults crash-points` has all of them, and `npm run
 * test:faults lookups` all in which the upstream is asked.
 */
for (const upstreamKind of otherUpstreams.filter((_, at) => at === chosen)) {
  crashPoints({ ...sample, everyScenario: 30, upstreamKind });
  crashPoints({ ...sample, scenariosOf: "a lookup", everyScenario: 5, upstreamKind });
}
/** The SDK makes all calls, as after the first answer that the short path does not expect (decision 0025). */
crashPoints({ ...sample, everyScenario: 30, awsCalls: "sdk" });
