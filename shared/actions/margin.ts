import { MARGIN_DAYS_MAX, type marginActions, marginGroups } from "../contract/actions/margin.ts";
import { nairaFromKobo } from "../contract/money.ts";
import { indexedAccounts } from "../ledger/query-index.ts";
import { type DaySum, readDays, readSums } from "../margin/order-sums.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { isoTime } from "../platform/time.ts";
import type { ActionRuns } from "./action-runs.ts";

const DAY_MS = 24 * 3_600_000;
/** Some 10 s of reads. */
const ITEMS_MAX = 30_000;

export const marginRuns: ActionRuns<typeof marginActions> = {
  "margin report": async ({ ledger }, { from, to, by }) => {
    const days = daysBetween(from, to);
    const createdAt = new Map<string, string>();
    for await (const { account_id, created_at } of indexedAccounts(ledger)) createdAt.set(account_id, created_at);
    const accountIds = [...createdAt.keys()];
    if (days.length * accountIds.length > ITEMS_MAX) {
      throw new OperatorError(`${accountIds.length} accounts are too many for ${days.length} days: name fewer days`);
    }
    const [sums, states] = await Promise.all([readDays(ledger, accountIds, days), readSums(ledger, accountIds)]);
    const groups = marginGroups.filter((group) => by.split(",").includes(group));
    const rows = new Map<string, DaySum[]>();
    for (const sum of sums) {
      const key = JSON.stringify(groups.map((group) => groupOf(group, sum)));
      rows.set(key, [...(rows.get(key) ?? []), sum]);
    }
    // An account that was created since the last run had no order before.
    let completeUntil: string | null = null;
    for (const [id, created] of createdAt) {
      const upTo = states.get(id)?.up_to ?? created;
      if (completeUntil === null || upTo < completeUntil) completeUntil = upTo;
    }
    return {
      rows: [...rows].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => rowOf(each, groups)),
      total: rowOf(sums, []),
      complete_until: completeUntil,
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
  const totalOf = (what: keyof DaySum["sums"]): number => sums.reduce((total, { sums: each }) => total + each[what], 0);
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

const daysBetween = (from: string, to: string): readonly string[] => {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  const count = Math.round((last - first) / DAY_MS) + 1;
  if (count < 1) throw new OperatorError("The last day must not be before the first one");
  if (count > MARGIN_DAYS_MAX) throw new OperatorError(`At most ${MARGIN_DAYS_MAX} days can be reported at once`);
  return Array.from({ length: count }, (_, index) => isoTime(first + index * DAY_MS).slice(0, 10));
};
