/** Lengths of time in milliseconds. A day is 24 hours, whatever a zone's clocks do. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const UNITS = [
  ["d", DAY_MS],
  ["h", HOUR_MS],
  ["min", MINUTE_MS],
] as const;

/** `3 min`, `5 h`, `2 d`. */
export const duration = (spanMs: number): string => {
  const [unit, unitMs] = UNITS.find(([, lengthMs]) => spanMs >= lengthMs) ?? ["s", 1_000];
  return `${Math.max(0, Math.floor(spanMs / unitMs))} ${unit}`;
};
