import { expect, test } from "vitest";
import { catalogMemory } from "../../../../shared/catalog/catalog-memory.ts";
import { sellablePlans } from "../../../../shared/catalog/sellable-plans.ts";
import { snapshotOf } from "../../../../shared/catalog/snapshot.ts";
import { DAY_MS } from "../../../../shared/contract/values/durations.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { aCatalog } from "../../../builders/upstream/catalog.ts";

test.each([
  ["a catalog of 24 hours", NOON_MS - DAY_MS, []],
  ["an older one", NOON_MS - DAY_MS - 1, [true]],
  ["none", undefined, [false]],
])("of %s live orders are placed, or refused with an alarm", async (_what, fetchedAtMs, alarms) => {
  const log = captureLog();
  const snapshot = fetchedAtMs === undefined ? undefined : snapshotOf(aCatalog(10), fetchedAtMs);
  const catalog = catalogMemory({ read: async () => snapshot }, () => NOON_MS);
  const selling = sellablePlans(catalog, "live", () => NOON_MS);
  if (alarms.length === 0) expect((await selling).plans.size).toBe(10);
  else await expect(selling).rejects.toMatchObject({ code: "provider_unavailable" });
  expect(log.lines("catalog.stale").map(({ filled, Alarms }) => [filled, Alarms])).toEqual(
    alarms.map((filled) => [filled, 1]),
  );
  expect((await sellablePlans(catalog, "test", () => NOON_MS)).plans.size).toBeGreaterThan(0);
});
