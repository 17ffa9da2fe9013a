import type { EventReason } from "../contract/event-reasons.ts";
import { MINUTE_MS } from "../contract/values/durations.ts";
import { openOrdersFor } from "../ledger/find-transactions.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { ALL_TIMES } from "../ledger/query-index.ts";
import { isQueuedOrder, sentAt, type Transaction } from "../ledger/transaction.ts";
import { isExpectedAmount, type UpstreamCosts } from "../ledger/upstream-costs.ts";
import type { EventMessage } from "../orders/outcome-message.ts";
import { isoTime } from "../platform/time.ts";
import { CLOCK_DIFFERENCE_MS_MAX } from "../platform/time-budgets.ts";

/** How much older than the event a matched order may be. */
const MATCH_WINDOW_MS = 30 * MINUTE_MS;

export type HeuristicMatch =
  | { readonly kind: "found"; readonly transaction: Transaction }
  | { readonly kind: "none"; readonly reason: EventReason };

/**
 * Finds the transaction of an event whose reference is unknown, because the request that would have recorded it may
 * have timed out. A `success` matches if exactly one open transaction without an upstream reference fits, and was sent
 * before it, a short time ago. A `failed` never matches: a wrong match would refund an order that was delivered. Source:
 * docs/interface.md 17.D6.
 */
export const findHeuristicMatch = async (
  deps: { readonly ledger: Ledger; readonly costs: UpstreamCosts },
  event: EventMessage,
): Promise<HeuristicMatch> => {
  if (event.status === "failed") return { kind: "none", reason: "unknown_failure" };
  if (event.phone === undefined) return { kind: "none", reason: "no_candidate" };
  const latest = latestSending(event.received_at);
  const open = await openOrdersFor(deps.ledger, event.phone.key, { from: ALL_TIMES.from, to: latest });
  const sent = open.filter((transaction) => wasSentBy(transaction, latest));
  const [transaction, ...others] = sent.filter(
    ({ upstream_reference, type, ...priced }) =>
      upstream_reference === undefined &&
      type === event.type &&
      event.amount_kobo !== undefined &&
      isExpectedAmount(deps.costs, priced, event.amount_kobo),
  );
  if (others.length > 0) return { kind: "none", reason: "several_candidates" };
  // An older order also counts as a candidate above, and one that seems to be too young: the event may be about either.
  if (transaction === undefined || isTooOld(transaction, event) || !wasSentBy(transaction, event.received_at))
    return { kind: "none", reason: "no_candidate" };
  return { kind: "found", transaction };
};

/**
 * Whether the upstream may have had the order at this time: an event of then cannot be about another one. The list of
 * open orders has when they were made, and its index may lag: an order on it may have begun to wait.
 */
export const wasSentBy = (transaction: Transaction, at: string): boolean =>
  !isQueuedOrder(transaction) && sentAt(transaction) <= at;

/** When an order was sent at the latest that an event of this time may be about: the clocks that dated both differ. */
export const latestSending = (at: string): string => isoTime(Date.parse(at) + CLOCK_DIFFERENCE_MS_MAX);

const isTooOld = (transaction: Transaction, { received_at }: EventMessage): boolean =>
  Date.parse(received_at) - Date.parse(sentAt(transaction)) > MATCH_WINDOW_MS;
