import { sum } from "../../shared/platform/sum.ts";
import { crashPoints, everything, otherUpstreams } from "../../test/faults/crash-points.ts";

/** The seed of a printed run repeats it. */
const SEED = Number(process.env.MODEL_SEED ?? Date.now() % 1_000_000_000);

/** Every effect of the scenarios in which the upstream is asked, with every fault, at each of the other upstreams. */
for (const upstreamKind of otherUpstreams) {
  crashPoints({
    ...{ extent: everything, settings: ["perfect"], seed: SEED, scenariosOf: "a lookup", upstreamKind },
    report: ({ scenario, effects, cases }) => {
      const total = sum([...cases.values()]);
      console.info(`${upstreamKind.manner}, seed ${SEED}: ${scenario}: ${effects} effects, ${total} cases`);
    },
  });
}
