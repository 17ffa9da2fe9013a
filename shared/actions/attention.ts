import type { attentionActions } from "../contract/actions/attention.ts";
import { isStuck } from "../ledger/transaction.ts";
import { sum } from "../platform/sum.ts";
import { readQueueLength } from "../queued-orders/queued-orders-report.ts";
import { countOpenEvents } from "../upstream-events/stored-event.ts";
import type { ActionRuns } from "./action-runs.ts";
import { countMessages } from "./dead-letters.ts";
import { countApprovable } from "./proposals.ts";
import { openOlderThan } from "./transactions.ts";

export const attentionRuns: ActionRuns<typeof attentionActions> = {
  attention: async (context) => {
    const { ledger, queues } = context;
    const deadLetters = Object.values(queues.deadLetters).filter((url) => url !== undefined);
    const [open, events, queued, proposals, ...numbers] = await Promise.all([
      openOlderThan({ ledger }, 0),
      countOpenEvents(ledger),
      readQueueLength(context),
      countApprovable(context),
      ...deadLetters.map((url) => countMessages(context, url)),
    ]);
    const nowMs = ledger.clock();
    return {
      open_orders: open.length,
      stuck_orders: open.filter((order) => isStuck(order, nowMs)).length,
      unmatched_events: events,
      queued_orders: queued.count,
      oldest_queued_s: queued.oldestS ?? null,
      messages_given_up: sum(numbers),
      proposals_to_approve: proposals,
    };
  },
};
