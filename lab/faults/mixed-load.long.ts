import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HOUR_MS, MINUTE_MS } from "../../shared/contract/values/durations.ts";
import { alarmsIn, shownAlarm, urgencyOf, writeMetricsOfStage } from "../../test/faults/alarms/observed-alarms.ts";
import { runTraffic, type TrafficReport } from "../../test/faults/mixed-load/traffic.ts";
import { weather } from "../../test/faults/mixed-load/weather.ts";
import { metRealities, realities } from "../../test/faults/system/realities.ts";

/** An hour of traffic, in simulated time, in which everything of the fault world happens. */
const MINUTES = Number(process.env.MIXED_LOAD_MINUTES ?? 60);
const RUNS = Number(process.env.MIXED_LOAD_RUNS ?? 3);
/** The seed of a printed run repeats it. */
const SEED = Number(process.env.MODEL_SEED ?? Date.now() % 1_000_000_000);

/** An alarm belongs to what needs a person if both are at most this far apart. */
const NEAR_MS = 15 * MINUTE_MS;

const ACCOUNT_ERROR = '"event":"upstream.account_error"';

beforeEach(writeMetricsOfStage);
afterEach(() => vi.unstubAllEnvs());

type Raised = { readonly alarm: string; readonly atMs: number; readonly isNeeded: boolean };

/** The alarms that notified a person during the traffic. */
const raisedIn = ({ observed, beganMs, endedMs, neededMs }: TrafficReport): readonly Raised[] => {
  const deadLettersMs = observed.samples.flatMap((sample) =>
    sample.kind === "queue" && sample.deadLetters > 0 ? [sample.atMs] : [],
  );
  // Only a person can pay the upstream, or give it another key.
  const refusedMs = observed.lines.flatMap(({ line, atMs }) => (line.includes(ACCOUNT_ERROR) ? [atMs] : []));
  const needed = [...neededMs, ...deadLettersMs, ...refusedMs];
  return alarmsIn(observed, beganMs, endedMs).map(({ alarm, atMs }) => ({
    ...{ alarm, atMs },
    isNeeded: needed.some((minuteMs) => Math.abs(minuteMs - atMs) <= NEAR_MS),
  }));
};

const lines = (counts: Iterable<readonly [string, number]>): string =>
  [...counts].map(([name, count]) => `  ${name}: ${count}`).join("\n");
const counted = (raised: readonly Raised[]): string =>
  lines([...Map.groupBy(raised, ({ alarm }) => shownAlarm(alarm))].map(([alarm, all]) => [alarm, all.length]));

test.each(Array.from({ length: RUNS }, (_, run) => SEED + run))(
  `${MINUTES} minutes of traffic violate no guarantee and page nobody in vain, whatever happens at once (seed %i)`,
  { timeout: 12 * HOUR_MS },
  async (seed) => {
    const report = await runTraffic({ minutes: MINUTES, seed, accounts: 4, disturb: weather });
    const met = metRealities();
    const raised = raisedIn(report);
    console.info(`mixed load of ${MINUTES} minutes, seed ${seed}:\n${lines(Object.entries(report.counts))}`);
    console.info(`raised alarms:\n${counted(raised)}\nrealities:\n${lines(met)}`);
    const inVain = raised.filter(({ isNeeded }) => !isNeeded);
    console.info(`raised alarms while nobody must act:\n${counted(inVain)}`);
    expect(report.violations).toEqual([]);
    expect(inVain.filter(({ alarm }) => urgencyOf(alarm) === "page")).toEqual([]);
    expect(realities.filter((reality) => !met.has(reality))).toEqual([]);
  },
);
