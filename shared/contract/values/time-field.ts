import * as z from "#zod";

/** A time whose year in UTC has four digits: the ledger sorts times as texts. */
export const timeField = z.iso
  .datetime({ offset: true, error: "Must be a time with its offset, such as 2026-11-21T09:30:00Z" })
  .check(
    z.refine((time) => new Date(time).getUTCFullYear() >= 0 && new Date(time).getUTCFullYear() <= 9_999, {
      error: "Must be a time of the years 0 to 9999 in UTC",
    }),
  );
