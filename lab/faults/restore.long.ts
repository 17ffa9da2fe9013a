import { describe, expect, test } from "vitest";
import { MINUTE_MS } from "../../shared/contract/values/durations.ts";
import { seeded } from "../../test/builders/run/seeded.ts";
import { openDrill } from "../../test/faults/restore-drill.ts";

/** Restores of a busy ledger, each with other traffic and carry-overs that are killed at other moments. */
const ROUNDS = Number(process.env.RESTORE_ROUNDS ?? 12);
/** The seed of a printed run repeats it. */
const SEED = Number(process.env.RESTORE_SEED ?? Date.now() % 1_000_000_000);
const ORDERS = 40;
/** One more is killed once everything is copied, before the balances. */
const KILLS = 3;

describe.for(Array.from({ length: ROUNDS }, (_, round) => SEED + round))("restore, seed %i", (seed) => {
  test("a ledger and then an access table are restored to T: nothing is ordered twice, the money is exact", async () => {
    const random = seeded(seed);
    const kills = [...Array.from({ length: KILLS }, random), 1];
    const parts = kills.map((part) => `${Math.round(100 * part)} %`).join(", ");
    console.info(`restore, seed ${seed}: ${2 * ORDERS} orders, killed when ${parts} is copied`);
    const drill = await openDrill({ orders: ORDERS, kills, random });
    try {
      await drill.restoreLedger();
      await drill.examine();
      await drill.restoreAccess();
      await drill.examine();
    } finally {
      await drill.close();
    }
  });
});

test("a restored ledger without a carry-over orders again what was ordered after T", {
  timeout: MINUTE_MS,
}, async () => {
  const drill = await openDrill({ orders: 0, kills: [], random: () => 0 });
  try {
    expect(await drill.ordersTwiceWithoutCarryOver()).toBeGreaterThan(0);
  } finally {
    await drill.close();
  }
});
