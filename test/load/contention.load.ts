import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDynoxide } from "../../tools/local/dynamodb.ts";
import { type Contended, contend, PRICE_KOBO } from "../builders/contention.ts";
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
    const runs: Contended[] = [];
    for (const seed of SEEDS) runs.push(await contend(dynamodb.endpoint, one, seed));
    const outcomes = runs.flatMap((run) => run.outcomes);
    const cancelled = runs.reduce((sum, run) => sum + run.cancelled, 0) / outcomes.length;
    reportResults(`contention, ${one.debits} in ${one.withinMs} ms, held ${one.holdMs} ms`, {
      outcomes: tally(outcomes),
      ...spread(runs.flatMap(({ waitsMs }) => waitsMs)),
      cancelled: cancelled.toFixed(1),
      cancelledUnits: (cancelled * CANCELLED_UNITS).toFixed(0),
    });
    for (const run of runs) {
      const opened = run.outcomes.filter((kind) => kind === "opened").length;
      expect(run.takenKobo).toBe(opened * PRICE_KOBO);
      expect(1 - opened / one.debits).toBeLessThanOrEqual(one.refusedShareMax);
    }
  });
});
