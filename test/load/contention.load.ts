import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDynoxide } from "../../infra/local/dynamodb.ts";
import { CANCELLED_UNITS, contend, PRICE_KOBO } from "../builders/contention.ts";
import { reportFigures, spread, tally } from "./figures.ts";

/**
 * Goal: what a busy wallet costs its callers in time, and us in write units. `refusedMax` is the aim where there is one; the
 * table is in docs/reliability.md.
 */
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

const atOnce = [20, 60, 120].map((debits) => ({ debits, within_ms: 0, refusedMax: 0 }));
const cases = [...atOnce, { debits: 300, within_ms: 1_000, refusedMax: 2 }].flatMap((one) =>
  [8, 15, 25].map((hold_ms) => ({ ...one, hold_ms })),
);
const SEEDS = [1, 2, 3];

describe.each(cases)("$debits debits of one wallet within $within_ms ms, each holding it for $hold_ms ms", (one) => {
  test(`are refused ${one.refusedMax} times at most, and the money is exact`, async () => {
    const runs = [];
    for (const seed of SEEDS) runs.push(await contend(dynamodb.endpoint, one, seed));
    const debits = one.debits * SEEDS.length;
    const cancelled = runs.reduce((sum, run) => sum + run.cancelled, 0) / debits;
    const written = runs.reduce((sum, run) => sum + run.writtenUnits, 0) / debits;
    const units = written + cancelled * CANCELLED_UNITS;
    reportFigures(`contention, ${one.debits} in ${one.within_ms} ms, held ${one.hold_ms} ms`, {
      outcomes: tally(runs.flatMap(({ outcomes }) => outcomes)),
      ...spread(runs.flatMap(({ waits_ms }) => waits_ms)),
      cancelled: cancelled.toFixed(1),
      units: units.toFixed(0),
    });
    for (const { outcomes, taken } of runs) {
      const opened = outcomes.filter((kind) => kind === "opened").length;
      expect(taken).toBe(opened * PRICE_KOBO);
      const refused = outcomes.filter((kind) => kind === "busy").length;
      expect(opened + refused).toBe(one.debits);
      expect(refused).toBeLessThanOrEqual(one.refusedMax);
    }
  });
});
