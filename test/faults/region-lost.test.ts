import { afterAll, beforeAll, test } from "vitest";
import { type Drill, openDrill } from "./restore-drill.ts";

/**
 * Goal: the commands of docs/recovery.md, "Recover in another region", make a stage from copies of the tables that is
 * exact, and that sells nothing before the operator says so. What AWS does in it, no emulator can show.
 */
let drill: Drill | undefined;
beforeAll(async () => {
  drill = await openDrill({ orders: 0, kills: [], random: () => 0 });
});
afterAll(() => drill?.close());

test("a stage in another region that adopts the copies of T sells nothing until the operator has settled what is missing, and is exact then", async () => {
  await drill?.recoverElsewhere();
});
