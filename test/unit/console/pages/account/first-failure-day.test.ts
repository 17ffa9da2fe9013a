import { expect, test } from "vitest";
import { firstFailureDay } from "../../../../../console/pages/account/first-failure-day.ts";
import { LATEST_DELIVERIES } from "../../../../../shared/contract/actions/deliveries.ts";

/** Goal: no failed webhook is left out of a replay because the day that is suggested for its beginning is too late. */
const NOON = "T12:00:00.000Z";
const delivery = (day: string, state: "delivered" | "exhausted" | "switched_off") => ({
  state,
  created_at: day + NOON,
});
const dayOf = (failingSince: string | null, latest: readonly ReturnType<typeof delivery>[]) =>
  firstFailureDay([{ failing_since: failingSince }, { failing_since: null }], latest, "Africa/Lagos");

test("is the first day of what failed, in the time zone of the stage", () => {
  const latest = [
    delivery("2026-11-21", "delivered"),
    delivery("2026-11-20", "exhausted"),
    delivery("2026-11-19", "delivered"),
  ];
  expect(dayOf(null, latest)).toBe("2026-11-20");
  expect(dayOf("2026-11-18T23:30:00.000Z", latest)).toBe("2026-11-19");
  expect(dayOf(null, [])).toBeUndefined();
});

test("is unknown if the latest deliveries do not reach back to a day before the first failure", () => {
  const failed = Array.from({ length: LATEST_DELIVERIES - 1 }, () => delivery("2026-11-21", "switched_off"));
  expect(dayOf(null, failed)).toBe("2026-11-21");
  expect(dayOf(null, [...failed, delivery("2026-11-21", "switched_off")])).toBeUndefined();
  expect(dayOf(null, [...failed, delivery("2026-11-21", "delivered")])).toBeUndefined();
  expect(dayOf(null, [...failed, delivery("2026-11-20", "delivered")])).toBe("2026-11-21");
  expect(dayOf(`2026-11-19${NOON}`, [...failed, delivery("2026-11-21", "switched_off")])).toBe("2026-11-19");
});
