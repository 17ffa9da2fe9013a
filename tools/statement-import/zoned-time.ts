import { HOUR_MS } from "../../shared/contract/values/durations.ts";
import { offsetMs } from "../../shared/contract/values/time-zone.ts";
import { isoTime } from "../../shared/platform/time.ts";

/** Hours whose offset is remembered: a statement has a day or a month. */
const HOURS_REMEMBERED_MAX = 10_000;

/** Converts what a clock in this zone shows, as if it were UTC, to the moment. */
const zonedClock = (zone: string): ((shownMs: number) => number) => {
  const offsets = new Map<number, number>();
  const offsetAt = (atMs: number): number => {
    const hour = Math.floor(atMs / HOUR_MS);
    const known = offsets.get(hour);
    if (known !== undefined) return known;
    const offset = offsetMs(atMs, zone);
    if (offsets.size >= HOURS_REMEMBERED_MAX) offsets.clear();
    offsets.set(hour, offset);
    return offset;
  };
  return (shownMs) => shownMs - offsetAt(shownMs - offsetAt(shownMs));
};

/** The format of times with an offset. */
export const ISO = "ISO 8601";

/** Parts of a format, and what each matches. */
const tokens: Readonly<Record<string, string>> = {
  YYYY: "(?<year>\\d{4})",
  MM: "(?<month>\\d{2})",
  DD: "(?<day>\\d{2})",
  HH: "(?<hour>\\d{2})",
  hh: "(?<hour>\\d{1,2})",
  mm: "(?<minute>\\d{2})",
  ss: "(?<second>\\d{2})",
  A: "(?<half>[AaPp][Mm])",
};
const TOKEN = /YYYY|MM|DD|HH|hh|mm|ss|A/g;

/** Letters that stand for parts of a time in formats elsewhere, such as `YY`, `D`, `MMM`, `SSS` and `Z`. */
const OTHER_PART = /[YyMDdHhmsSXZ]/;
const NEEDED = ["YYYY", "MM", "DD"];
export const TIME_FORMAT_RULE = `Must be "${ISO}", or have YYYY, MM and DD once each, and at most once HH (or hh with A), mm and ss`;

/** Whether all of a format is understood: what is not would refuse each row, or shift its time. */
export const isTimeFormat = (format: string): boolean => {
  if (format === ISO) return true;
  const parts: readonly string[] = format.match(TOKEN) ?? [];
  const has = (part: string): boolean => parts.includes(part);
  return (
    new Set(parts).size === parts.length &&
    NEEDED.every(has) &&
    has("hh") === has("A") &&
    !(has("hh") && has("HH")) &&
    !OTHER_PART.test(format.replaceAll(TOKEN, ""))
  );
};

/** What stands between the parts stands for itself. */
const patternOf = (format: string): RegExp => {
  const escaped = format.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped.replaceAll(TOKEN, (token) => tokens[token] ?? token)}$`);
};

/** Reads times in a format such as `DD/MM/YYYY HH:mm`. Undefined for another text, and for a day that no month has. */
export const timeReader = (format: string, zone: string): ((text: string) => string | undefined) => {
  const pattern = patternOf(format);
  const toMoment = zonedClock(zone);
  return (text) => {
    const { year, month, day, hour = "0", minute = "0", second = "0", half } = pattern.exec(text)?.groups ?? {};
    if (year === undefined || month === undefined || day === undefined) return undefined;
    const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toUpperCase() === "PM" ? 12 : 0);
    const shown = [Number(year), Number(month) - 1, Number(day), hours, Number(minute), Number(second)] as const;
    // `Date.UTC` takes the years before 100 for those of the 20th century.
    const date = new Date(0);
    date.setUTCFullYear(shown[0], shown[1], shown[2]);
    date.setUTCHours(hours, shown[4], shown[5]);
    const isReal = date.getUTCMonth() === shown[1] && date.getUTCDate() === shown[2] && date.getUTCHours() === hours;
    return isReal && Number(minute) < 60 && Number(second) < 60 ? isoTime(toMoment(date.getTime())) : undefined;
  };
};
