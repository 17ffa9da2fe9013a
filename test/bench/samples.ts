/** What many measurements of one thing come to: their middle, and the highest of a hundred. */
export type Spread = { readonly p50: number; readonly p99: number };

export const spreadOf = (samples: readonly number[]): Spread => {
  const sorted = samples.toSorted((one, other) => one - other);
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
};

export const median = (samples: readonly number[]): number => spreadOf(samples).p50;

/** The time that a piece of work takes. */
export const timed_ms = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};

/** Three digits that mean something, and no more: `0.123`, `12.3`, `1,234`. */
export const digits = (value: number): string =>
  value.toLocaleString("en-GB", value >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 });

export const milliseconds = (value_ms: number): string =>
  value_ms >= 10_000 ? `${digits(value_ms / 1_000)} s` : `${digits(value_ms)} ms`;
