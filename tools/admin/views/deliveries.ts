import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { table } from "./print.ts";

/** A parked delivery waits in its record, not in the queue. */
export const stateText = ({ state, parked }: { readonly state: string; readonly parked: boolean }): string =>
  parked ? `${state} (parked)` : state;

export const deliveriesText = ({ deliveries }: ActionOutput<"deliveries list">): string =>
  table(
    ["reference", "event", "status", "state", "attempts", "next attempt", "created", "resend"],
    deliveries.map((each) => [
      ...[each.reference ?? each.webhook_id, each.event, each.status, stateText(each), each.attempts.length],
      ...[each.next_attempt_at, each.created_at, each.repeat],
    ]),
  );
