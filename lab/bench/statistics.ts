/** The median and 99th percentile of samples. */
export type Spread = { readonly p50: number; readonly p99: number };

export const spreadOf = (samples: readonly number[]): Spread => ({
  p50: quantile(samples, 0.5),
  p99: quantile(samples, 0.99),
});

export const median = (samples: readonly number[]): number => quantile(samples, 0.5);

/** The value that this share of the samples does not exceed. */
export const quantile = (samples: readonly number[], share: number): number =>
  samples.toSorted((one, other) => one - other)[Math.max(0, Math.ceil(samples.length * share) - 1)] ?? Number.NaN;

/** The median of the ratios of each round, because a disturbance affects both sides of a round. */
export const pairedRatio = (ones: readonly number[], others: readonly number[]): number =>
  median(ones.map((one, round) => one / (others[round] ?? Number.NaN)));

/** The duration of the work. */
export const timedMs = async (work: () => Promise<unknown>): Promise<number> => {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
};

/** At most three significant digits below 100: `0.123`, `12.3`, `1,234`. */
export const digits = (value: number): string =>
  value.toLocaleString("en-GB", value >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 });

export const milliseconds = (valueMs: number): string =>
  valueMs >= 10_000 ? `${digits(valueMs / 1_000)} s` : `${digits(valueMs)} ms`;
