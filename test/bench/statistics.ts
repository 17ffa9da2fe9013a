/** The middle of some numbers. */
export const median = (numbers: readonly number[]): number => quantile(numbers, 0.5);

/** The number that so large a share of all does not exceed. */
export const quantile = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((one, other) => one - other)[Math.max(0, Math.ceil(numbers.length * share) - 1)] ?? Number.NaN;

/** Each side's number over the other's in the same round, and the middle of these: what disturbs a round disturbs both. */
export const pairedRatio = (ones: readonly number[], others: readonly number[]): number =>
  median(ones.map((one, round) => one / (others[round] ?? Number.NaN)));
