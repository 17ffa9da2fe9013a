import { logEvents } from "../../shared/platform/log-events.ts";
import type { FunctionName } from "../functions.ts";
import type { Alarms } from "./alarms.ts";
import type { Api } from "./api.ts";
import type { ServiceFunction } from "./service-function.ts";

export interface ServiceAlarmsProps {
  readonly api: Api;
  readonly functions: Readonly<Record<FunctionName, ServiceFunction>>;
  readonly logBytesPerHourMax: number;
}

/** Those whose throttling a caller feels; the others' work waits in a queue, a stream or for the next minute. */
const answering: readonly FunctionName[] = [
  "list-catalog",
  "purchase",
  "check-identity",
  "read-account",
  "receive-upstream-event",
];

const MINUTE_S = 60;
const HOUR_S = 3_600;

/** What reconcile-ledger measures, and how much is too much. */
const figures = [
  {
    name: "OldestOpenSeconds",
    id: "OpenFor15Minutes",
    threshold: 15 * MINUTE_S,
    impact: "A customer's money is debited and the outcome is unknown for 15 minutes. admin transactions list --stuck.",
  },
  {
    name: "OldestOpenSeconds",
    id: "OpenFor24Hours",
    threshold: 24 * HOUR_S,
    impact:
      "A customer waits for an outcome since yesterday: ask the upstream and resolve it today. admin transactions.",
  },
  {
    name: "StuckTransactions",
    id: "ManyStuck",
    threshold: 10,
    impact: "Many outcomes stay unknown: the upstream or its events have stopped. admin doctor.",
  },
  {
    name: "OldestUnrefundedSeconds",
    id: "NotRefunded",
    threshold: 15 * MINUTE_S,
    impact: "An identity check without a result was not refunded for 15 minutes. Look into reconcile-ledger's log.",
  },
  {
    name: "LedgerMismatches",
    id: "LedgerMismatches",
    threshold: 0,
    impact: "A wallet's balance is not what its entries say: stop and look, before money moves on. admin wallet.",
  },
] as const;

/** The alarms that belong to no single queue, stream or clock. */
export const addServiceAlarms = (alarms: Alarms, { api, functions, logBytesPerHourMax }: ServiceAlarmsProps): void => {
  for (const [name, each] of Object.entries(functions)) {
    const id = each.node.id;
    alarms.whenAbove(`${id}Errors`, {
      metric: each.figure("Errors", "Sum"),
      threshold: 0,
      impact: `${name} crashed or timed out. ${each.spec.lost}`,
    });
    alarms.whenAbove(`${id}LogBytes`, {
      metric: each.logBytes(),
      threshold: logBytesPerHourMax,
      impact: `${name} writes far more log than it should, which costs money; no customer loses anything.`,
    });
  }
  for (const name of answering) {
    const each = functions[name];
    alarms.whenAbove(`${each.node.id}Throttles`, {
      metric: each.figure("Throttles", "Sum"),
      threshold: 0,
      impact: `${name} was refused more executions: raise the account's or its own concurrency. ${each.spec.lost}`,
    });
  }
  alarms.whenAbove("GatewayFailures", {
    metric: api.failures,
    threshold: 0,
    impact: "Callers got a 5xx that no function answered, and cannot know what became of the request. They repeat it.",
  });
  for (const { id, name, threshold, impact } of figures) {
    alarms.whenAbove(id, { metric: alarms.ownFigure(name, "Maximum"), threshold, impact });
  }
  for (const [event, { level, meaning, action }] of Object.entries(logEvents)) {
    if (level !== "alarm") continue;
    alarms.whenAbove(`Event-${event}`, {
      metric: alarms.ownFigure("Alarms", "Sum", { Event: event }),
      threshold: 0,
      impact: `${meaning} ${action} Log event: ${event}.`,
    });
  }
};
