import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { MINUTE_MS } from "../../../shared/contract/values/durations.ts";

export type EndedCount = ActionOutput<"statistics show">["hours"][number]["counts"][number];

/** Orders that ended, counted together. */
export type Total = {
  readonly count: number;
  readonly successful: number;
  /** NGN of the successful ones. */
  readonly amount: number;
  /** Successful ones by their time. */
  readonly latency: readonly number[];
};

/** As the statistics name the network of an identity check. */
export const IDENTITY = "Identity checks";

export const networkOf = ({ network }: Pick<EndedCount, "network">): string => network ?? IDENTITY;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

export const totalOf = (counts: readonly EndedCount[]): Total => {
  const successful = counts.filter(({ status }) => status === "success");
  const buckets = Math.max(0, ...successful.map(({ latency }) => latency.length));
  return {
    count: sum(counts.map(({ count }) => count)),
    successful: sum(successful.map(({ count }) => count)),
    amount: sum(successful.map(({ amount }) => amount)),
    latency: Array.from({ length: buckets }, (_, bucket) => sum(successful.map(({ latency }) => latency[bucket] ?? 0))),
  };
};

/** One total for each network, in alphabetical order; identity checks come last. */
export const ofNetworks = (counts: readonly EndedCount[]): readonly (Total & { readonly network: string })[] =>
  [...new Set(counts.map(networkOf))]
    .sort((one, other) => Number(one === IDENTITY) - Number(other === IDENTITY) || one.localeCompare(other))
    .map((network) => ({ network, ...totalOf(counts.filter((count) => networkOf(count) === network)) }));

/** The share of which `withinMs` speaks. */
const SHARE = 0.95;

/**
 * The bound within which 95 of 100 ended; infinite if it is above all bounds, undefined without any. The true time is
 * between this bound and the one before.
 */
export const withinMs = (latency: readonly number[], boundsMs: readonly number[]): number | undefined => {
  const all = sum(latency);
  if (all === 0) return undefined;
  let counted = 0;
  for (const [bucket, number] of latency.entries()) {
    counted += number;
    if (counted >= all * SHARE) return boundsMs[bucket] ?? Number.POSITIVE_INFINITY;
  }
  return Number.POSITIVE_INFINITY;
};

export const secondsText = (ms: number): string => (ms >= MINUTE_MS ? `${ms / MINUTE_MS} min` : `${ms / 1_000} s`);

export const withinText = (latency: readonly number[], boundsMs: readonly number[]): string => {
  const ms = withinMs(latency, boundsMs);
  if (ms === undefined) return "–";
  return Number.isFinite(ms) ? secondsText(ms) : `more than ${secondsText(boundsMs.at(-1) ?? 0)}`;
};
