import {
  type CountedEnd,
  countedEnds,
  endCounts,
  PENDING_MS_MAX,
  type refundClockActions,
} from "../contract/actions/refund-clock.ts";
import type { DaySum } from "../margin/order-sums.ts";
import { isoTime } from "../platform/time.ts";
import { readQueuedOrders } from "../queued-orders/queued-orders-report.ts";
import type { ActionRuns } from "./action-runs.ts";
import { readReportedDays } from "./reported-days.ts";
import { openOlderThan } from "./transactions.ts";

export const refundClockRuns: ActionRuns<typeof refundClockActions> = {
  "refund-clock report": async ({ ledger, purchases }, days) => {
    const [{ sums, complete_until }, sent, queued] = await Promise.all([
      readReportedDays(ledger, days),
      openOlderThan({ ledger }, PENDING_MS_MAX),
      readQueuedOrders({ ledger, purchases }),
    ]);
    const groups = Map.groupBy(sums, ({ type, network }) => JSON.stringify([type, network]));
    const rows = [...groups].toSorted(([one], [other]) => (one < other ? -1 : 1)).flatMap(([, each]) => rowOf(each));
    const before = isoTime(ledger.clock() - PENDING_MS_MAX);
    const waiting = queued.accounts.flatMap(({ orders }) => orders).filter(({ created_at }) => created_at <= before);
    return { rows, open_over_24_h: sent.length + waiting.length, complete_until };
  },
};

const rowOf = (sums: readonly DaySum[]) => {
  const [first] = sums;
  if (first === undefined) return [];
  const countOf = (end: CountedEnd): number => sums.reduce((total, { sums: each }) => total + (each[end] ?? 0), 0);
  const counts = endCounts.parse(Object.fromEntries(countedEnds.map((end) => [end, countOf(end)])));
  const orders = countedEnds.reduce((total, end) => total + counts[end], 0);
  const atOnce = counts.delivered_30_s + counts.refunded_30_s + counts.resolved_30_s;
  const within_30_s_percent = Math.floor((atOnce / orders) * 10_000) / 100;
  return [{ kind: first.type, network: first.network, orders, within_30_s_percent, ...counts }];
};
