import { type marginActions, marginGroups } from "../contract/actions/margin.ts";
import { nairaFromKobo } from "../contract/money.ts";
import type { DaySum } from "../margin/order-sums.ts";
import type { ActionRuns } from "./action-runs.ts";
import { readReportedDays } from "./reported-days.ts";

export const marginRuns: ActionRuns<typeof marginActions> = {
  "margin report": async ({ ledger }, { from, to, by }) => {
    const { sums: all, complete_until } = await readReportedDays(ledger, { from, to });
    const sums = all.filter(({ sums: { orders, unknown_orders } }) => (orders ?? unknown_orders) !== undefined);
    const groups = marginGroups.filter((group) => by.split(",").includes(group));
    const rows = new Map<string, DaySum[]>();
    for (const sum of sums) {
      const key = JSON.stringify(groups.map((group) => groupOf(group, sum)));
      rows.set(key, [...(rows.get(key) ?? []), sum]);
    }
    return {
      rows: [...rows].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => rowOf(each, groups)),
      total: rowOf(sums, []),
      complete_until,
    };
  },
};

type Group = (typeof marginGroups)[number];

const groupOf = (group: Group, { day, network, type, accountId }: DaySum): string | null =>
  ({ day, network, kind: type, account: accountId })[group];

const rowOf = (sums: readonly DaySum[], groups: readonly Group[]) => {
  const [first] = sums;
  const shown = <Value>(group: Group, value: Value | undefined): Value | null =>
    groups.includes(group) && value !== undefined ? value : null;
  const totalOf = (what: keyof DaySum["sums"]): number =>
    sums.reduce((total, { sums: each }) => total + (each[what] ?? 0), 0);
  const [price, cost] = [totalOf("price"), totalOf("cost")];
  return {
    day: shown("day", first?.day),
    network: shown("network", first?.network),
    kind: shown("kind", first?.type),
    account_id: shown("account", first?.accountId),
    orders: totalOf("orders"),
    price: nairaFromKobo(price),
    cost: nairaFromKobo(cost),
    margin: nairaFromKobo(price - cost),
    margin_percent: price === 0 ? null : Math.round(((price - cost) / price) * 10_000) / 100,
    unknown_orders: totalOf("unknown_orders"),
    unknown_price: nairaFromKobo(totalOf("unknown_price")),
  };
};
