import { expect, test } from "vitest";
import { runTraffic } from "../../test/faults/mixed-load/traffic.ts";
import { weather } from "../../test/faults/mixed-load/weather.ts";
import { metRealities, realities } from "../../test/faults/system/realities.ts";

/** An hour of traffic, in simulated time, in which everything of the fault world happens. */
const MINUTES = Number(process.env.MIXED_LOAD_MINUTES ?? 60);
const RUNS = Number(process.env.MIXED_LOAD_RUNS ?? 3);
/** The seed of a printed run repeats it. */
const SEED = Number(process.env.MODEL_SEED ?? Date.now() % 1_000_000_000);

const lines = (counts: Iterable<readonly [string, number]>): string =>
  [...counts].map(([name, count]) => `  ${name}: ${count}`).join("\n");

test.each(Array.from({ length: RUNS }, (_, run) => SEED + run))(
  `${MINUTES} minutes of traffic violate no guarantee, whatever happens at once (seed %i)`,
  { timeout: 12 * 3_600_000 },
  async (seed) => {
    const { counts, alarms, violations } = await runTraffic({ minutes: MINUTES, seed, accounts: 4, disturb: weather });
    const met = metRealities();
    console.info(`mixed load of ${MINUTES} minutes, seed ${seed}:\n${lines(Object.entries(counts))}`);
    console.info(`alarms by name:\n${lines(alarms)}\nrealities:\n${lines(met)}`);
    expect(violations).toEqual([]);
    expect(realities.filter((reality) => !met.has(reality))).toEqual([]);
  },
);
