import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { table } from "./print.ts";

/** A parked delivery waits in its record, not in the queue. */
const stateText = ({ state, parked }: { readonly state: string; readonly parked: boolean }): string =>
  parked ? `${state} (parked)` : state;

export const deliveriesText = ({ deliveries }: ActionOutput<"deliveries list">): string =>
  table(
    ["reference", "endpoint", "event", "status", "state", "attempts", "next attempt", "created", "resend"],
    deliveries.map((each) => [
      ...[each.reference ?? each.webhook_id, each.endpoint, each.event, each.status, stateText(each)],
      ...[each.attempts.length, each.next_attempt_at, each.created_at, each.repeat],
    ]),
  );

export const attemptsText = ({ deliveries }: ActionOutput<"deliveries show">): string =>
  table(
    ["webhook id", "endpoint", "status", "state", "resend", "attempt", "at", "outcome", "http", "ms"],
    deliveries.flatMap((delivery) => {
      const { webhook_id, endpoint, status, repeat } = delivery;
      const first = [webhook_id, endpoint, status, stateText(delivery), repeat];
      if (delivery.attempts.length === 0) return [[...first, 0]];
      return delivery.attempts.map(({ number, at, outcome, http_status, duration_ms }) => [
        ...first,
        ...[number, at, outcome, http_status, duration_ms],
      ]);
    }),
  );
