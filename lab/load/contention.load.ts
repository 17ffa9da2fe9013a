import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Contended, type Contention, contend, PRICE_KOBO } from "../../test/builders/dynamodb/contention.ts";
import { startDynoxide } from "../../tools/local/dynoxide.ts";
import { reportResults, spread, tally } from "./results.ts";

/** Goal: measure what contention on one wallet costs in time and write units. The table is in docs/reliability.md. */
const folder = mkdtempSync(join(tmpdir(), "contention-"));
let dynamodb: Awaited<ReturnType<typeof startDynoxide>>;
beforeAll(async () => {
  dynamodb = await startDynoxide({
    pidFile: join(folder, "dynoxide.pid"),
    logFile: join(folder, "dynoxide.log"),
  });
});
afterAll(async () => {
  await dynamodb.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The most that AWS charges for a cancelled debit: two items of up to 1 KB, each prepared and committed. */
const CANCELLED_UNITS = 4;
const SEEDS = [1, 2, 3];

const bursts = [
  { debits: 20, withinMs: 0, refusedShareMax: 0 },
  { debits: 60, withinMs: 0, refusedShareMax: 0 },
  { debits: 120, withinMs: 0, refusedShareMax: 0 },
  { debits: 300, withinMs: 1_000, refusedShareMax: 0.01 },
];
const cases = bursts.flatMap((burst) => [8, 15, 25].map((holdMs) => ({ ...burst, holdMs })));

describe.each(cases)("$debits debits of one wallet within $withinMs ms, each holding it for $holdMs ms", (one) => {
  test(`${one.debits} debits within ${one.withinMs} ms are refused in at most ${one.refusedShareMax * 100} % of cases, and the wallet is debited exactly`, async () => {
    await measure(`contention, ${one.debits} in ${one.withinMs} ms, held ${one.holdMs} ms`, one, one.refusedShareMax);
  });
});

const SUSTAINED_S = 30;
/** The highest rate of each hold is what tools/scale counts on: 60 to 64 % of the time the wallet is held. */
const sustained = [
  { perS: 40, holdMs: 8 },
  { perS: 80, holdMs: 8 },
  { perS: 20, holdMs: 15 },
  { perS: 40, holdMs: 15 },
  { perS: 12, holdMs: 25 },
  { perS: 24, holdMs: 25 },
];

test.each(sustained)(
  "$perS debits a second of one wallet, at random moments and each holding it for $holdMs ms, are not refused",
  async ({ perS, holdMs }) => {
    const load = { debits: perS * SUSTAINED_S, withinMs: SUSTAINED_S * 1_000, arrivals: "random", holdMs } as const;
    await measure(`contention, ${perS} a second, held ${holdMs} ms`, load, 0);
  },
);

const measure = async (title: string, load: Contention, refusedShareMax: number): Promise<void> => {
  const runs: Contended[] = [];
  for (const seed of SEEDS) runs.push(await contend(dynamodb.endpoint, load, seed));
  const outcomes = runs.flatMap((run) => run.outcomes);
  const cancelled = runs.reduce((sum, run) => sum + run.cancelled, 0) / outcomes.length;
  reportResults(title, {
    outcomes: tally(outcomes),
    ...spread(runs.flatMap(({ waitsMs }) => waitsMs)),
    cancelled: cancelled.toFixed(1),
    cancelledUnits: (cancelled * CANCELLED_UNITS).toFixed(0),
  });
  for (const run of runs) {
    const opened = run.outcomes.filter((kind) => kind === "opened").length;
    expect(run.takenKobo).toBe(opened * PRICE_KOBO);
    expect(1 - opened / load.debits).toBeLessThanOrEqual(refusedShareMax);
  }
};
