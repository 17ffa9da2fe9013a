/** A formatted amount, or time; null if there is none. */
export const orNull = <Formatted>(value: number | undefined, format: (value: number) => Formatted): Formatted | null =>
  value === undefined ? null : format(value);

const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
] as const;

/** `3 min`, `5 h`, `2 d`. */
export const duration = (spanMs: number): string => {
  const spanS = Math.max(0, Math.floor(spanMs / 1_000));
  const [unit, unitS] = UNITS.find(([, lengthS]) => spanS >= lengthS) ?? ["s", 1];
  return `${Math.floor(spanS / unitS)} ${unit}`;
};
