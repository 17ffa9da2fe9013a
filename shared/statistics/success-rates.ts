import { DAY_MS } from "../contract/values/durations.ts";
import type { Table } from "../ledger/ledger.ts";
import { sum } from "../platform/sum.ts";
import { type EndedCount, QUARTER_MS, readHours } from "./hourly-counts.ts";

/**
 * The share of a network's orders that were delivered: in the last 15 to 30 minutes, and in the day before. Those that an
 * operator resolved are left out.
 */
export type SuccessRate = {
  readonly network: string;
  /** Orders that ended in that time. */
  readonly count: number;
  /** 0 to 1. */
  readonly rate: number;
  readonly norm: number;
};

/** Of fewer orders chance alone makes a low rate. */
const COUNT_MIN = 20;
/** Of 20 orders at a norm of 95 %, chance alone is as far below it in 1 quarter of 400. */
const BELOW_NORM = 0.15;

export const isBelowNorm = ({ count, rate, norm }: SuccessRate): boolean =>
  count >= COUNT_MIN && rate < norm - BELOW_NORM;

type Tally = { readonly ended: number; readonly delivered: number };

/** The networks that had orders in the last quarters of an hour and in the day before them. */
export const readSuccessRates = async (cache: Table, nowMs: number): Promise<readonly SuccessRate[]> => {
  const recentFromMs = Math.floor(nowMs / QUARTER_MS - 1) * QUARTER_MS;
  const counts = (await readHours(cache, nowMs - DAY_MS, nowMs)).flatMap((hour) =>
    hour.counts.map((count) => ({ ...count, recent: recentOf(hour.hourMs, count, recentFromMs) })),
  );
  const networks = new Set(counts.flatMap(({ network }) => network ?? []));
  return [...networks].flatMap((network) => {
    const ofNetwork = counts.filter((count) => count.network === network);
    const recent = tally(ofNetwork, (count) => count.recent);
    const before = tally(ofNetwork, ({ quarters, recent: later }) => sum(quarters) - later);
    if (recent.ended === 0 || before.ended === 0) return [];
    const [rate, norm] = [recent.delivered / recent.ended, before.delivered / before.ended];
    return [{ network, count: recent.ended, rate, norm }];
  });
};

const recentOf = (hourMs: number, { quarters }: EndedCount, fromMs: number): number =>
  sum(quarters.filter((_, quarter) => hourMs + quarter * QUARTER_MS >= fromMs));

const tally = <Counted extends EndedCount>(counts: readonly Counted[], numberOf: (count: Counted) => number): Tally =>
  counts.reduce(
    ({ ended, delivered }, count) => {
      const number = numberOf(count);
      return { ended: ended + number, delivered: delivered + (count.status === "success" ? number : 0) };
    },
    { ended: 0, delivered: 0 },
  );
