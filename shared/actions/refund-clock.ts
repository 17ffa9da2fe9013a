import {
  type CountedEnd,
  clockGroups,
  countedEnds,
  type EndCause,
  endCounts,
  PENDING_MS_MAX,
  type refundClockActions,
} from "../contract/actions/refund-clock.ts";
import type { TransactionType } from "../contract/transaction.ts";
import { isoTime } from "../platform/time.ts";
import { readQueuedOrders } from "../queued-orders/queued-orders-report.ts";
import type { ActionRuns } from "./action-runs.ts";
import { readReportedDays } from "./reported-days.ts";
import { openOlderThan } from "./transactions.ts";

export const refundClockRuns: ActionRuns<typeof refundClockActions> = {
  "refund-clock report": async ({ ledger, purchases }, { by, ...days }) => {
    const [{ sums, complete_until }, sent, queued] = await Promise.all([
      readReportedDays(ledger, days),
      openOlderThan({ ledger }, PENDING_MS_MAX),
      readQueuedOrders({ ledger, purchases }),
    ]);
    const ended = sums.flatMap(({ type: kind, network, ends }) => ends.map((each) => ({ kind, network, ...each })));
    const groups = clockGroups.filter((group) => by.split(",").includes(group));
    const rows = Map.groupBy(ended, (each) => JSON.stringify(groups.map((group) => each[group])));
    const before = isoTime(ledger.clock() - PENDING_MS_MAX);
    const waiting = queued.accounts.flatMap(({ orders }) => orders).filter(({ created_at }) => created_at <= before);
    return {
      rows: [...rows].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => rowOf(each, groups)),
      total: rowOf(ended, []),
      open_over_24_h: sent.length + waiting.length,
      complete_until,
    };
  },
};

type Ended = {
  readonly kind: TransactionType;
  readonly network: string | null;
  readonly end: CountedEnd;
  readonly cause: EndCause;
  readonly count: number;
};
type Group = (typeof clockGroups)[number];

const rowOf = (ended: readonly Ended[], groups: readonly Group[]) => {
  const [first] = ended;
  const shown = <Field extends Group>(group: Field): Ended[Field] | null =>
    first !== undefined && groups.includes(group) ? first[group] : null;
  const countOf = (ends: readonly CountedEnd[]): number =>
    ended.reduce((total, { end, count }) => total + (ends.includes(end) ? count : 0), 0);
  const orders = countOf(countedEnds);
  const atOnce = countOf(["delivered_30_s", "refunded_30_s", "resolved_30_s"]);
  return {
    ...{ kind: shown("kind"), network: shown("network"), cause: shown("cause") },
    orders,
    within_30_s_percent: orders === 0 ? null : Math.floor((atOnce / orders) * 10_000) / 100,
    ...endCounts.parse(Object.fromEntries(countedEnds.map((end) => [end, countOf([end])]))),
  };
};
