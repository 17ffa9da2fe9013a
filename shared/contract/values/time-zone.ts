/** Days and months of a time zone by the runtime's own rules (Intl). */

import { HOUR_MS } from "./durations.ts";
import { isoTime } from "./iso-time.ts";

const formats = new Map<string, Intl.DateTimeFormat>();

/** A format is slow to make, and is needed for each line. */
const formatIn = (timeZone: string): Intl.DateTimeFormat => {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      ...{ year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" },
    });
    formats.set(timeZone, format);
  }
  return format;
};

/** Whether the runtime knows the zone by this name. Offsets such as +01:00 are no zones. */
export const isTimeZone = (name: string): boolean => {
  try {
    return /^[A-Za-z]/.test(name) && formatIn(name) !== undefined;
  } catch {
    return false;
  }
};

/** Zones begin in the 19th century. Before the year 100 `Date.UTC` and Intl do not read years as they are written. */
const BEFORE_ZONES_MS = Date.UTC(1000, 0);

/** How far the zone's clocks are ahead of UTC at a moment. */
export const offsetMs = (momentMs: number, timeZone: string): number => {
  const atMs = Math.max(momentMs, BEFORE_ZONES_MS);
  const parts = new Map(
    formatIn(timeZone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const localMs = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  return localMs - Math.floor(atMs / 1_000) * 1_000;
};

/** The date in the zone, `YYYY-MM-DD`. */
export const dateIn = (atMs: number, timeZone: string): string =>
  isoTime(atMs + offsetMs(atMs, timeZone)).slice(0, "2026-11-21".length);

/** A time as the zone's clocks show it, with the offset: `2026-11-21T10:30:00.000+01:00`. */
export const timeIn = (atMs: number, timeZone: string): string => {
  const offset = offsetMs(atMs, timeZone);
  const span = isoTime(Math.abs(offset)).slice("1970-01-01T".length, "1970-01-01T00:00".length);
  return `${isoTime(atMs + offset).slice(0, -1)}${offset < 0 ? "-" : "+"}${span}`;
};

/**
 * When a date begins in the zone. Where clocks change at that midnight, it is the first moment that has the date: the
 * offsets of the day before and of the day after are the only ones that it can have.
 */
export const dayStartMs = (date: string, timeZone: string): number => {
  const utcMs = Date.parse(`${date}T00:00:00.000Z`);
  const earlier = utcMs - offsetMs(utcMs - 24 * HOUR_MS, timeZone);
  const isStart = dateIn(earlier, timeZone) === date && dateIn(earlier - 1, timeZone) < date;
  return isStart ? earlier : utcMs - offsetMs(utcMs + 24 * HOUR_MS, timeZone);
};

/** `2026-11-21` to `2026-11`. */
export const monthOf = (date: string): string => date.slice(0, "2026-11".length);

/** `2026-10` to `2026-11`, by a number of months. */
export const monthAfter = (month: string, count = 1): string => {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return monthOf(isoTime(Date.UTC(year, number - 1 + count, 1)));
};

/** `2026-11-21` to `2026-11-22`, by a number of days. */
export const dateAfter = (date: string, days = 1): string =>
  isoTime(Date.parse(`${date}T00:00:00.000Z`) + days * 24 * HOUR_MS).slice(0, "2026-11-21".length);

/** A date and those before it, oldest first. */
export const datesUntil = (date: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => dateAfter(date, index - count + 1));

/** When a date begins in the zone, and when the date after it does. */
export const dayBounds = (date: string, timeZone: string): { readonly from: string; readonly to: string } => ({
  from: isoTime(dayStartMs(date, timeZone)),
  to: isoTime(dayStartMs(dateAfter(date), timeZone)),
});

/** The first and the last date of a month. */
export const datesOf = (month: string): { readonly from: string; readonly to: string } => ({
  from: `${month}-01`,
  to: dateAfter(`${monthAfter(month)}-01`, -1),
});

/** The first and last millisecond of a month in the zone. */
export const monthRange = (month: string, timeZone: string): { readonly from: string; readonly to: string } => ({
  from: isoTime(dayStartMs(`${month}-01`, timeZone)),
  to: isoTime(dayStartMs(`${monthAfter(month)}-01`, timeZone) - 1),
});
