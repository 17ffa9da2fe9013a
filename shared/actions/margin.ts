import type { ActionOutput } from "../contract/actions/actions.ts";
import { type marginActions, marginGroups } from "../contract/actions/margin.ts";
import type { ActionRuns } from "./action-runs.ts";
import { readReportPage } from "./report-page.ts";

type Sums = ActionOutput<"margin report">["sums"][number];

export const marginRuns: ActionRuns<typeof marginActions> = {
  "margin report": async ({ ledger }, { by, ...asked }) => {
    const groups = marginGroups.filter((group) => by.split(",").includes(group));
    const rows = new Map<string, Sums>();
    const page = await readReportPage(ledger, asked, rows, ({ day, network, type, accountId, sums }) => {
      if ((sums.orders ?? sums.unknown_orders) === undefined) return;
      const all = { day, network, kind: type, account: accountId };
      const key = JSON.stringify(groups.map((group) => all[group]));
      const shown = <Group extends keyof typeof all>(group: Group) => (groups.includes(group) ? all[group] : null);
      const before = rows.get(key);
      rows.set(key, {
        ...{ day: shown("day"), network: shown("network"), kind: shown("kind"), account_id: shown("account") },
        orders: (before?.orders ?? 0) + (sums.orders ?? 0),
        price_kobo: (before?.price_kobo ?? 0) + (sums.price ?? 0),
        cost_kobo: (before?.cost_kobo ?? 0) + (sums.cost ?? 0),
        unknown_orders: (before?.unknown_orders ?? 0) + (sums.unknown_orders ?? 0),
        unknown_price_kobo: (before?.unknown_price_kobo ?? 0) + (sums.unknown_price ?? 0),
      });
    });
    return { sums: [...rows.values()], ...page };
  },
};
