import type { ActionOutput } from "../contract/actions/actions.ts";
import { clockGroups, PENDING_MS_MAX, type refundClockActions } from "../contract/actions/refund-clock.ts";
import { isOpenOver24Hours } from "../ledger/transaction.ts";
import { readQueuedTimes } from "../queued-orders/queued-orders-report.ts";
import type { ActionContext } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";
import { readReportPage } from "./report-page.ts";
import { openOlderThan } from "./transactions.ts";

type Ended = ActionOutput<"refund-clock report">["ended"][number];

export const refundClockRuns: ActionRuns<typeof refundClockActions> = {
  "refund-clock report": async (context, { by, ...asked }) => {
    const groups = clockGroups.filter((group) => by.split(",").includes(group));
    const rows = new Map<string, Ended>();
    const page = await readReportPage(context.ledger, asked, rows, ({ type: kind, network, ends }) => {
      for (const { end, cause, count } of ends) {
        const all = { kind, network, cause };
        const key = JSON.stringify([end, ...groups.map((group) => all[group])]);
        const shown = <Group extends keyof typeof all>(group: Group) => (groups.includes(group) ? all[group] : null);
        const group = { kind: shown("kind"), network: shown("network"), cause: shown("cause") };
        rows.set(key, { ...group, end, count: (rows.get(key)?.count ?? 0) + count });
      }
    });
    const open_over_24_h = page.next_cursor === null ? await countOpenOver24Hours(context) : null;
    return { ended: [...rows.values()], open_over_24_h, ...page };
  },
};

const countOpenOver24Hours = async ({ ledger }: ActionContext): Promise<number> => {
  const [sent, queued] = await Promise.all([openOlderThan({ ledger }, PENDING_MS_MAX), readQueuedTimes(ledger)]);
  const placed = [...sent, ...queued.map((created_at) => ({ created_at }))];
  const nowMs = ledger.clock();
  return placed.filter((order) => isOpenOver24Hours(order, nowMs)).length;
};
