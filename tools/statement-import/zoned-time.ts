import { isoTime } from "../../shared/platform/time.ts";

const HOUR_MS = 3_600_000;
/** Hours whose offset is remembered: a statement has a day or a month. */
const HOURS_REMEMBERED_MAX = 10_000;

/** Converts what a clock in this zone shows, as if it were UTC, to the moment. */
export const zonedClock = (zone: string): ((shownMs: number) => number) => {
  const format = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" });
  const offsets = new Map<number, number>();
  const offsetMs = (atMs: number): number => {
    const hour = Math.floor(atMs / HOUR_MS);
    const known = offsets.get(hour);
    if (known !== undefined) return known;
    const name = format.formatToParts(atMs).find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, sign, hours, minutes] = /^GMT([+-])(\d\d):(\d\d)$/.exec(name) ?? [];
    const offset = sign === undefined ? 0 : (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === "-" ? -1 : 1);
    if (offsets.size >= HOURS_REMEMBERED_MAX) offsets.clear();
    offsets.set(hour, offset);
    return offset;
  };
  return (shownMs) => shownMs - offsetMs(shownMs - offsetMs(shownMs));
};

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
    const date = new Date(Date.UTC(...shown));
    const isReal = date.getUTCMonth() === shown[1] && date.getUTCDate() === shown[2] && date.getUTCHours() === hours;
    return isReal && Number(minute) < 60 && Number(second) < 60 ? isoTime(toMoment(date.getTime())) : undefined;
  };
};
