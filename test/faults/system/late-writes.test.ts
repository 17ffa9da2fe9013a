import { expect, test } from "vitest";
import { advance } from "./clock.ts";
import { startSystem } from "./system.ts";

/** Goal: a system ends with what it left under way, because the files after it run in the same process. */
test("a write that never landed is gone with its system", async () => {
  const first = await startSystem();
  first.plan = ({ name }) => (name === "PutItem" ? "lands_late" : undefined);
  await first.runSchedule("refresh-catalog");
  await first.stop();

  const second = await startSystem();
  advance(3_600_000);
  expect(await second.landLateWrites()).toBe(0);
  await second.stop();
});
