import { afterAll } from "vitest";
import { sum } from "../../shared/platform/sum.ts";
import { crashPoints, everything, otherUpstreams } from "../../test/faults/crash-points.ts";

/** The seed of a printed run repeats it. */
const SEED = Number(process.env.MODEL_SEED ?? Date.now() % 1_000_000_000);

/** Every effect of the scenarios in which the upstream is asked, with every fault, at each of the other upstreams. */
let cases = 0;
for (const upstreamKind of otherUpstreams) {
  crashPoints({
    ...{ extent: everything, settings: ["perfect"], seed: SEED, scenariosOf: "a lookup", upstreamKind },
    report: (count) => {
      cases += sum([...count.cases.values()]);
    },
  });
}
afterAll(() => console.info(`lookups: ${cases} cases, seed ${SEED}`));
