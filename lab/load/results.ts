/** The results of a run: values, and counts by name. */
export type Results = Readonly<Record<string, number | string | Readonly<Record<string, number>>>>;

/** Prints the results of a run in one line. */
export const reportResults = (run: string, results: Results): void => {
  const parts = Object.entries(results).map(([name, value]) => `${name} ${textOf(value)}`);
  console.log(`${run}: ${parts.join(", ")}`);
};

const textOf = (value: Results[string]): string => {
  if (typeof value !== "object") return String(value);
  return `{${Object.entries(value)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ")}}`;
};

/** The median, 99th percentile and maximum of durations. */
export const spread = (durationsMs: readonly number[]) => {
  const sorted = durationsMs.toSorted((one, other) => one - other);
  const at = (share: number): number => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0);
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
};

/** The count of each name, the most frequent first. */
export const tally = (names: Iterable<string>): Record<string, number> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([, one], [, other]) => other - one));
};

/** Runs the work for each index below `count`, with limited concurrency. */
export const inParallel = async (
  count: number,
  concurrency: number,
  work: (index: number) => Promise<void>,
): Promise<void> => {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await work(next - 1);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
};
