import { describe, expect, test } from "vitest";
import * as z from "#zod";
import { timeRange } from "../../../../shared/ledger/list-transactions.ts";

describe("a range with one end", () => {
  test.each(["0000-01-01", "0026-11-28", "9999-12-31", "9999-12-31T23:59:59.999Z"])(
    "%s is neither before nor after all times",
    (moment) => {
      expect(timeRange({ from: moment })).toBeDefined();
      expect(timeRange({ to: moment })).toBeDefined();
    },
  );

  test("a date ends with its last millisecond, in the first century too", () => {
    expect(timeRange({ from: "0026-11-28", to: "0026-11-28" })).toEqual({
      from: "0026-11-28T00:00:00.000Z",
      to: "0026-11-28T23:59:59.999Z",
    });
  });

  test.each(["UTC", "Africa/Lagos", "America/New_York"])("the first and the last date have a range in %s", (zone) => {
    const range = timeRange({ from: "0000-01-01", to: "9999-12-31" }, zone);
    const time = z.iso.datetime();
    expect([time.safeParse(range?.from).success, time.safeParse(range?.to).success]).toEqual([true, true]);
    expect((range?.from ?? "") < "0000-01-02" && (range?.to ?? "") > "9999-12-31").toBe(true);
  });
});
