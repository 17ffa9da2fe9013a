import fc from "fast-check";
import { expect, test } from "vitest";
import {
  dateIn,
  datesOf,
  dayBounds,
  dayStartMs,
  isTimeZone,
  monthAfter,
  monthRange,
  timeIn,
} from "../../../../../shared/contract/values/time-zone.ts";

test("a month in Lagos begins and ends an hour before that of UTC", () => {
  expect(monthRange("2026-10", "Africa/Lagos")).toEqual({
    from: "2026-09-30T23:00:00.000Z",
    to: "2026-10-31T22:59:59.999Z",
  });
  expect(monthRange("2026-12", "Africa/Lagos").to).toBe("2026-12-31T22:59:59.999Z");
  expect(monthRange("2028-02", "UTC")).toEqual({ from: "2028-02-01T00:00:00.000Z", to: "2028-02-29T23:59:59.999Z" });
  expect(monthRange("2026-11", "Asia/Kathmandu").from).toBe("2026-10-31T18:15:00.000Z");
});

test("a month has all its dates, also in a leap year and at the end of a year", () => {
  expect(datesOf("2028-02")).toEqual({ from: "2028-02-01", to: "2028-02-29" });
  expect(datesOf("2026-12")).toEqual({ from: "2026-12-01", to: "2026-12-31" });
});

test("a month in which clocks change has the offset of each of its ends", () => {
  expect(monthRange("2026-03", "Europe/London")).toEqual({
    from: "2026-03-01T00:00:00.000Z",
    to: "2026-03-31T22:59:59.999Z",
  });
  expect(monthRange("2026-10", "Europe/London")).toEqual({
    from: "2026-09-30T23:00:00.000Z",
    to: "2026-10-31T23:59:59.999Z",
  });
});

test.each([
  ["a day of 23 hours", "2026-03-29", "Europe/London", 23],
  ["a day of 25 hours", "2026-10-25", "Europe/London", 25],
  ["a day that begins at 01:00, because clocks go forward at midnight", "2026-04-24", "Africa/Cairo", 23],
  ["the day before clocks go back to 23:00 at midnight", "2026-10-29", "Africa/Cairo", 25],
  ["a day west of UTC", "2026-11-01", "America/New_York", 25],
])("%s has all its hours (%s in %s)", (_name, date, zone, hours) => {
  const { from, to } = dayBounds(date, zone);
  expect(Date.parse(to) - Date.parse(from)).toBe(hours * 3_600_000);
  expect([dateIn(Date.parse(from), zone), dateIn(Date.parse(to) - 1, zone)]).toEqual([date, date]);
});

test("each moment is in the range of its own date, and days follow each other without a gap", () => {
  const zones = [
    "Africa/Lagos",
    "Africa/Cairo",
    "Europe/London",
    "America/Havana",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
  ];
  const moments = fc.integer({ min: Date.UTC(2015, 0, 1), max: Date.UTC(2035, 0, 1) });
  fc.assert(
    fc.property(moments, fc.constantFrom(...zones), (atMs, zone) => {
      const date = dateIn(atMs, zone);
      const { from, to } = dayBounds(date, zone);
      expect(Date.parse(from)).toBeLessThanOrEqual(atMs);
      expect(Date.parse(to)).toBeGreaterThan(atMs);
      expect(dayStartMs(dateIn(Date.parse(to), zone), zone)).toBe(Date.parse(to));
      expect(Date.parse(timeIn(atMs, zone))).toBe(atMs);
    }),
  );
});

test.each(["0000-01-01", "0026-11-28", "0099-12-31", "9999-12-31"])("%s begins in UTC in its own year", (date) => {
  expect(dayBounds(date, "UTC").from).toBe(`${date}T00:00:00.000Z`);
});

test("a time is shown as the zone's clocks show it, with the offset", () => {
  expect(timeIn(Date.parse("2026-10-31T23:30:00.125Z"), "Africa/Lagos")).toBe("2026-11-01T00:30:00.125+01:00");
  expect(timeIn(Date.parse("2026-11-21T12:00:00.000Z"), "America/St_Johns")).toBe("2026-11-21T08:30:00.000-03:30");
  expect(timeIn(0, "UTC")).toBe("1970-01-01T00:00:00.000+00:00");
});

test("months are counted over the end of a year", () => {
  expect([monthAfter("2026-12"), monthAfter("2026-01", -1), monthAfter("2026-10", 3)]).toEqual([
    "2027-01",
    "2025-12",
    "2027-01",
  ]);
});

test.each([
  ["Africa/Lagos", true],
  ["UTC", true],
  ["Lagos", false],
  ["+01:00", false],
  ["", false],
])("%j is a time zone: %s", (name, is) => {
  expect(isTimeZone(name)).toBe(is);
});
