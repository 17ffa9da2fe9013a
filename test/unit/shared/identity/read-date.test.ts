import { describe, expect, test } from "vitest";
import { dateShape, readDate } from "../../../../shared/identity/read-date.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

describe("a date", () => {
  test.each([
    "1990-01-02",
    "1990/01/02",
    "1990-1-2",
    "1990.1.2",
    "1990 Jan 2",
    "02-01-1990",
    "2/1/1990",
    "02.01.1990",
    "02 01 1990",
    "02-01-90",
    "2/1/90",
    "02-JAN-90",
    "2 January 1990",
    "2nd January, 1990",
    "02-Jan-1990",
    "2 jan. 1990",
    "Jan 2, 1990",
    "January 2nd 1990",
    "JAN-02-1990",
    "Jan 2, 90",
    "Tuesday, 2 January 1990",
    "Tue Jan 02 1990",
    "Tue Jan 02 1990 00:00:00 GMT+0100 (WAT)",
    "Tue Jan 02 1990 00:00:00 GMT+0100 (West Africa Standard Time)",
    "02/01/1990 00:00:00",
    "1990/01/02 13:45",
    "Jan 2, 1990 12:00:00 AM",
    "1990-01-02T00:00:00",
    "1990-01-01T23:00:00Z",
    "1990-01-02 00:00:00+01:00",
  ])("a date written %j is 2 January 1990 for a day-first upstream", (text) => {
    expect(readDate(text, "day-first", NOON_MS)).toBe("1990-01-02");
  });

  test.each([
    ["01/02/1990", "1990-01-02"],
    ["1-2-90", "1990-01-02"],
    ["12/31/1990", "1990-12-31"],
    ["2 January 1990", "1990-01-02"],
    ["1990/01/02", "1990-01-02"],
  ])("a date written %j is %s for a month-first upstream", (text, expected) => {
    expect(readDate(text, "month-first", NOON_MS)).toBe(expected);
  });

  test.each(["12/31/1990", "12-31-90"])(
    "written %j is unreadable for a day-first upstream, and not swapped",
    (text) => {
      expect(readDate(text, "day-first", NOON_MS)).toBeUndefined();
    },
  );

  test.each([
    ["20-11-26", "2026-11-20"],
    ["21-11-26", "2026-11-21"],
    ["22-11-26", "1926-11-22"],
    ["01-01-00", "2000-01-01"],
    ["31-12-99", "1999-12-31"],
    ["29-02-00", "2000-02-29"],
    ["29-02-28", "1928-02-29"],
    ["29-02-27", undefined],
  ])("a date with a two-digit year, %j, is %s, never in the future", (text, expected) => {
    expect(readDate(text, "day-first", NOON_MS)).toBe(expected);
  });

  test.each([
    "30-02-1990",
    "29-02-1900",
    "31 April 1990",
    "1990-13-01",
    "1990-00-10",
    "00-00-0000",
    "0000-00-00",
    "0090-01-02",
    "02-01-5",
    "02-01-190",
    "1990",
    "Jan 1990",
    "02-01-1990-05",
    "19900102",
    "2 Foo 1990",
    "2 Ja 1990",
    "unknown",
    "N/A",
    "1990-01-02T99:00:00Z",
    "1990-02-30T00:00:00Z",
    "1990-04-31 00:00:00+01:00",
    "1900-02-29 00:00:00.000 +0100",
    "١٩٩٠-٠١-٠٢",
  ])("text that is not a date, %j, is unreadable", (text) => {
    for (const order of ["day-first", "month-first"] as const) {
      expect(readDate(text, order, NOON_MS)).toBeUndefined();
    }
  });
});

test.each([
  ["spaces", " "],
  ["the letter T", "T"],
])("a text of 100,000 characters, most of them %s, is unreadable at once", (_title, filling) => {
  const before = process.cpuUsage();
  expect(readDate(`1990${filling.repeat(100_000)}x`, "day-first", NOON_MS)).toBeUndefined();
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
});

test("the shape of a text contains none of its digits and letters, and at most 40 characters", () => {
  expect(dateShape("2nd Januar, 1990")).toBe("9aa aaaaaa, 9999");
  expect(dateShape("١٩٩٠ Ọ̀ṣun")).not.toMatch(/[١٩٠Ọṣun]/u);
  expect(dateShape("1".repeat(100))).toBe("9".repeat(40));
});
