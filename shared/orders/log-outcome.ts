import { alertIfAmountDiffers } from "../ledger/settlement-alerts.ts";
import { referenceOf, type Transaction } from "../ledger/transaction.ts";
import type { UpstreamCosts } from "../ledger/upstream-costs.ts";
import { log, putMetrics } from "../platform/log.ts";
import { systemClock } from "../platform/time.ts";
import { isUnrecognized } from "../upstream/classify.ts";
import {
  type CheckOutcome,
  NO_TIME,
  NO_UPSTREAM_KEY,
  ORDER_LIMITED,
  type Outcome,
  RATE_LIMITED,
  TURN_OVER,
  UPSTREAM_BALANCE,
} from "../upstream/upstream.ts";

/** Logs an outcome that an operator must know: an error of the upstream, or an amount that differs. */
export const logOutcome = (transaction: Transaction, outcome: Outcome | CheckOutcome, costs: UpstreamCosts): void => {
  if (transaction.mode === "test") return;
  const mayBeCharged = outcome.kind === "delivered" || outcome.kind === "found" || outcome.kind === "unknown";
  if (mayBeCharged && outcome.upstreamAmountKobo !== undefined) {
    alertIfAmountDiffers(costs, transaction, outcome.upstreamAmountKobo);
  }
  const reference = referenceOf(transaction);
  if (outcome.kind === "refused" && outcome.status !== undefined) {
    log.warn("upstream.refused", { reference, reason: `status_${outcome.status}` });
  }
  if (!("reason" in outcome) || outcome.reason === "processing") return;
  const fields = { reference, reason: outcome.reason };
  if (isUnrecognized(outcome)) {
    log.alarm("upstream.answer_unrecognized", fields);
  } else if (outcome.kind === "unknown") {
    log.warn("upstream.outcome_unknown", fields);
  } else if (outcome.reason === RATE_LIMITED) {
    // Counted, and no alarm: orders are sold again once the upstream's minute is over.
    log.warn("upstream.rate_limited", fields);
    putMetrics({ UpstreamRateLimited: 1 }, systemClock());
  } else if (outcome.reason === TURN_OVER) {
    log.warn("order.turn_over", { reference });
  } else if (outcome.reason === ORDER_LIMITED) {
    log.warn("upstream.order_limited", fields);
  } else if (outcome.reason === NO_TIME) {
    log.warn("upstream.not_sent", fields);
  } else if (needsOperator(outcome.reason)) {
    log.alarm("upstream.account_error", fields);
  } else {
    log.alarm("upstream.unreachable", fields);
  }
};

/** Whether only a person can fix it: the upstream refuses our key, address or balance. A lost connection may recover. */
const needsOperator = (reason: string): boolean =>
  reason.startsWith("status_") || reason === UPSTREAM_BALANCE || reason === NO_UPSTREAM_KEY;
