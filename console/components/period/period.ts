import { DAY_MS } from "../../../shared/contract/values/durations.ts";
import { dateAfter, dateIn, datesOf, monthAfter, monthOf } from "../../../shared/contract/values/time-zone.ts";

/** Dates, both included; a missing one is no limit. */
export type Period = { readonly from?: string | undefined; readonly to?: string | undefined };

/** A period that people name. Empty text is no limit. */
export type Preset = { readonly name: string; readonly from: string; readonly to: string };

/** What is wrong with a period, beside its last day; undefined if it can be read. */
export const periodError = ({ from = "", to = "" }: Period, daysMax = Number.POSITIVE_INFINITY): string | undefined => {
  if (from === "" || to === "") return undefined;
  if (to < from) return "Must not be before the first day";
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  return days > daysMax ? `At most ${daysMax} days can be shown at once` : undefined;
};

/** In place of the fields on paper: `Period: 2026-11-01 to 2026-11-30, days in Africa/Lagos`. */
export const periodText = ({ from = "", to = "" }: Period, timeZone: string): string => {
  if (from === "" && to === "") return "Period: any time";
  const days = from === "" ? `until ${to}` : to === "" ? `from ${from}` : `${from} to ${to}`;
  return `Period: ${days}, days in ${timeZone}`;
};

/** `-2026-11-01-to-2026-11-30`, for the name of a file. */
export const periodName = ({ from, to }: Period): string =>
  `${from === undefined ? "" : `-${from}`}${to === undefined ? "" : `-to-${to}`}`;

/** The periods that are asked for most, by the days of the stage's time zone. */
export const presets = (nowMs: number, timeZone: string): readonly Preset[] => {
  const today = dateIn(nowMs, timeZone);
  return [
    { name: "Any time", from: "", to: "" },
    { name: "Today", from: today, to: today },
    yesterday(nowMs, timeZone),
    lastSevenDays(nowMs, timeZone),
    thisMonth(nowMs, timeZone),
    { name: "Last month", ...datesOf(monthAfter(monthIn(nowMs, timeZone), -1)) },
  ];
};

/** Whose days the dates are, for a person who is in another time zone. */
export const daysNote = (stageZone: string, ownZone: string): string | undefined =>
  stageZone === ownZone ? undefined : `Days in ${stageZone}`;

/** The months before the last one, the newest first. */
export const earlierMonths = (nowMs: number, timeZone: string, count: number): readonly Preset[] => {
  const month = monthIn(nowMs, timeZone);
  return Array.from({ length: count }, (_, index) => {
    const name = monthAfter(month, -2 - index);
    return { name, ...datesOf(name) };
  });
};

export const yesterday = (nowMs: number, timeZone: string): Preset => {
  const day = dateAfter(dateIn(nowMs, timeZone), -1);
  return { name: "Yesterday", from: day, to: day };
};

const lastSevenDays = (nowMs: number, timeZone: string): Preset => {
  const today = dateIn(nowMs, timeZone);
  return { name: "Last 7 days", from: dateAfter(today, -6), to: today };
};

const monthIn = (nowMs: number, timeZone: string): string => monthOf(dateIn(nowMs, timeZone));

export const thisMonth = (nowMs: number, timeZone: string): Preset => ({
  name: "This month",
  ...datesOf(monthIn(nowMs, timeZone)),
});

/** The preset that has these dates. */
export const presetOf = ({ from, to }: Omit<Preset, "name">, named: readonly Preset[]): Preset | undefined =>
  named.find((preset) => preset.from === from && preset.to === to);
