import * as z from "zod";
import { readJsonFile, writeJsonFile } from "../../tools/local/json-file.ts";

/** What a run came to: counts, seconds, shares; and counts by name. */
export type Results = Readonly<Record<string, number | string | Readonly<Record<string, number>>>>;

const figuresFile = z.record(z.string(), z.unknown());

/** Says a run's figures in one line, and keeps them in the file that LOAD_FIGURES names. */
export const reportResults = (run: string, figures: Results): void => {
  const parts = Object.entries(figures).map(([name, value]) => `${name} ${textOf(value)}`);
  console.log(`${run}: ${parts.join(", ")}`);
  const path = process.env.LOAD_FIGURES;
  if (path === undefined) return;
  writeJsonFile(path, { ...readJsonFile(path, figuresFile), [run]: { at: new Date().toISOString(), ...figures } });
};

const textOf = (value: Results[string]): string => {
  if (typeof value !== "object") return String(value);
  return `{${Object.entries(value)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ")}}`;
};

/** How long things took: the middle, the slowest of a hundred, the slowest. */
export const spread = (durationsMs: readonly number[]) => {
  const sorted = durationsMs.toSorted((one, other) => one - other);
  const at = (share: number): number => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0);
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
};

/** How often each name occurs, the most frequent first. */
export const tally = (names: Iterable<string>): Record<string, number> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([, one], [, other]) => other - one));
};

/** Does the work for 0, 1, 2, ... up to `count`, so many at the same time. */
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
