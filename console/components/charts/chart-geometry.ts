/** The fewest distances between marks of an axis. */
const DISTANCES = 4;

/** Marks at round distances, from 0 or the least value to the highest: `0, 20, 40, 60`. */
export const roundMarks = (values: readonly number[]): readonly number[] => {
  const [min, max] = [Math.min(0, ...values), Math.max(0, ...values)];
  if (min === max) return [0, 1];
  const least = (max - min) / DISTANCES;
  const power = 10 ** Math.floor(Math.log10(least));
  const distance = (([1, 2, 5] as const).find((factor) => factor * power >= least) ?? 10) * power;
  // Counts have no half.
  const step = values.every(Number.isInteger) ? Math.max(1, distance) : distance;
  const first = Math.floor(min / step);
  const last = Math.ceil(max / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
};

/** Where a value is on an axis: 0 at the first mark, 1 at the last. */
export const placeOn =
  (marks: readonly number[], scale: "linear" | "log") =>
  (value: number): number => {
    const on = scale === "log" ? Math.log : (each: number) => each;
    const [first, last] = [on(marks[0] ?? 0), on(marks.at(-1) ?? 1)];
    return last === first ? 0 : (on(value) - first) / (last - first);
  };

/** The runs of values without a gap, each value with its index. */
export const runsOf = (
  values: readonly (number | null)[],
): readonly (readonly { readonly index: number; readonly value: number }[])[] => {
  const runs: { index: number; value: number }[][] = [];
  let run: { index: number; value: number }[] | undefined;
  for (const [index, value] of values.entries()) {
    if (value === null) {
      run = undefined;
      continue;
    }
    if (run === undefined) {
      run = [];
      runs.push(run);
    }
    run.push({ index, value });
  }
  return runs;
};

/** Which labels are shown: the last one, and others so that each has its room. */
export const labelledIndexes = (count: number, bandWidth: number, labelWidth: number): readonly number[] => {
  const every = Math.max(1, Math.ceil(labelWidth / Math.max(bandWidth, 0.1)));
  return Array.from({ length: count }, (_, index) => index).filter((index) => (count - 1 - index) % every === 0);
};
