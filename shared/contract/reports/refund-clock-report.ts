import * as z from "#zod";
import {
  atOncePercent,
  type CountedEnd,
  clockGroup,
  clockGroups,
  countedEnds,
  endCounts,
  type refundClockActions,
} from "../actions/refund-clock.ts";
import { completeUntil, rowsByGroup } from "./report-rows.ts";

/** The columns of the report as a file. */
export const clockColumns = [...clockGroups, "orders", "within_30_s_percent", ...countedEnds] as const;

type ClockPage = z.output<(typeof refundClockActions)["refund-clock report"]["output"]>;
type EndedOrders = ClockPage["ended"][number];

const clockRow = z.extend(clockGroup, {
  orders: z.int(),
  /** Of them, those that ended within 30 s of the debit; null without orders. */
  within_30_s_percent: z.nullable(z.number()),
  ...endCounts.shape,
});
export type ClockRow = z.infer<typeof clockRow>;

export const clockReportSchema = z.object({
  rows: z.array(clockRow),
  total: clockRow,
  /** Live orders that are open now and were debited more than 24 hours ago. */
  open_over_24_h: z.int(),
  complete_until: z.nullable(z.iso.datetime()),
});
export type ClockReport = z.infer<typeof clockReportSchema>;

/** Adds up the pages of a report. */
export const clockReport = (pages: readonly ClockPage[]): ClockReport => {
  const ended = pages.flatMap((page) => page.ended);
  return {
    rows: rowsByGroup(ended, (each) => clockGroups.map((group) => each[group]), rowOf),
    total: rowOf({ kind: null, network: null, cause: null }, ended),
    open_over_24_h: pages.at(-1)?.open_over_24_h ?? 0,
    complete_until: completeUntil(pages),
  };
};

const rowOf = ({ kind, network, cause }: z.infer<typeof clockGroup>, ended: readonly EndedOrders[]): ClockRow => {
  const countOf = (ends: readonly CountedEnd[]): number =>
    ended.reduce((total, { end, count }) => total + (ends.includes(end) ? count : 0), 0);
  const orders = countOf(countedEnds);
  const atOnce = countOf(["delivered_30_s", "refunded_30_s", "resolved_30_s"]);
  return {
    ...{ kind, network, cause, orders },
    within_30_s_percent: orders === 0 ? null : atOncePercent(atOnce, orders),
    ...endCounts.parse(Object.fromEntries(countedEnds.map((end) => [end, countOf([end])]))),
  };
};
