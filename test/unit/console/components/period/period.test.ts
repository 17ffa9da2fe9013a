import { expect, test } from "vitest";
import {
  daysNote,
  earlierMonths,
  periodError,
  periodName,
  periodText,
  presetOf,
  presets,
  thisMonth,
} from "../../../../../console/components/period/period.ts";

const LAGOS = "Africa/Lagos";
const named = (now: string) =>
  Object.fromEntries(presets(Date.parse(now), LAGOS).map(({ name, from, to }) => [name, [from, to]]));

test("the periods with a name are days of the stage's zone, which begin an hour before those of UTC", () => {
  expect(named("2026-12-31T23:30:00Z")).toEqual({
    "Any time": ["", ""],
    Today: ["2027-01-01", "2027-01-01"],
    Yesterday: ["2026-12-31", "2026-12-31"],
    "Last 7 days": ["2026-12-26", "2027-01-01"],
    "This month": ["2027-01-01", "2027-01-31"],
    "Last month": ["2026-12-01", "2026-12-31"],
  });
  expect(named("2028-03-01T12:00:00Z")["Last month"]).toEqual(["2028-02-01", "2028-02-29"]);
});

test("earlier months are whole, from the one before the last on, over the end of a year", () => {
  expect(earlierMonths(Date.parse("2028-03-31T23:30:00Z"), LAGOS, 3)).toEqual([
    { name: "2028-02", from: "2028-02-01", to: "2028-02-29" },
    { name: "2028-01", from: "2028-01-01", to: "2028-01-31" },
    { name: "2027-12", from: "2027-12-01", to: "2027-12-31" },
  ]);
});

test("a period is known by its dates, and has them in the name of a file", () => {
  const now = Date.parse("2026-11-25T12:00:00Z");
  const month = thisMonth(now, LAGOS);
  expect(presetOf(month, presets(now, LAGOS))?.name).toBe("This month");
  expect(presetOf({ from: "2026-11-02", to: "" }, presets(now, LAGOS))).toBeUndefined();
  expect(periodName(month)).toBe("-2026-11-01-to-2026-11-30");
  expect(periodName({ from: "2026-11-02" })).toBe("-2026-11-02");
});

test.each([
  [{}, undefined],
  [{ from: "2026-11-30" }, undefined],
  [{ to: "2026-11-01" }, undefined],
  [{ from: "2026-11-30", to: "2026-11-30" }, undefined],
  [{ from: "2026-12-01", to: "2026-11-30" }, "Must not be before the first day"],
  [{ from: "2026-10-01", to: "2026-12-31" }, undefined],
  [{ from: "2026-10-01", to: "2027-01-01" }, "At most 92 days can be shown at once"],
])("the period %j of at most 92 days has the error %j", (period, error) => {
  expect(periodError(period, 92)).toBe(error);
});

test("a person in another time zone reads whose days the dates are", () => {
  expect(daysNote(LAGOS, "Europe/London")).toBe("Days in Africa/Lagos");
  expect(daysNote(LAGOS, LAGOS)).toBeUndefined();
});

test("a period on paper names its days and whose they are, also without a first or a last one", () => {
  expect(periodText({}, LAGOS)).toBe("Period: any time");
  expect(periodText({ from: "2026-11-01", to: "2026-11-30" }, LAGOS)).toBe(
    "Period: 2026-11-01 to 2026-11-30, days in Africa/Lagos",
  );
  expect(periodText({ from: "2026-11-01" }, LAGOS)).toBe("Period: from 2026-11-01, days in Africa/Lagos");
  expect(periodText({ from: "", to: "2026-11-30" }, LAGOS)).toBe("Period: until 2026-11-30, days in Africa/Lagos");
});
