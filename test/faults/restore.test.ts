import { afterAll, beforeAll, expect, test } from "vitest";
import { type Drill, openDrill } from "./restore-drill.ts";

/**
 * Goal: after the procedure of docs/recovery.md nothing is bought twice, no kobo is lost and no revoked key is
 * admitted. The long form (`npm run test:faults`) has more orders, and kills the command while it runs.
 */
let drill: Drill | undefined;
beforeAll(async () => {
  drill = await openDrill({ orders: 0, kills: [], random: () => 0 });
});
afterAll(() => drill?.close());

test("a damaged ledger is restored to T, carried over and adopted: every second request is a replay, and none sends an order again", async () => {
  await drill?.restoreLedger();
  await drill?.examine();
  expect(await drill?.whitelist()).toEqual(["203.0.113.7", "198.51.100.0/24"]);
});

test("an access table is restored to T and reconciled: no revoked key is admitted, and no other is refused", async () => {
  await drill?.restoreAccess();
  await drill?.examine();
  // The other address was added after T, and only one of the two tables has it.
  expect(await drill?.whitelist()).toEqual(["203.0.113.7"]);
});
