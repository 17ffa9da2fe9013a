import type { Settlement } from "../ledger/settle-transaction.ts";
import { type Failure, referenceOf, type Transaction } from "../ledger/transaction.ts";
import { logOutcome } from "../orders/log-outcome.ts";
import type { Fulfilment } from "../orders/place-order.ts";
import type { Deadline } from "../platform/deadline.ts";
import type { Outcome, Upstream, UpstreamOrder } from "../upstream/upstream.ts";

/** Has a provider deliver an order that is paid for, and says what the ledger is to be told. */
export const fulfilPurchase = async (
  provider: Upstream,
  order: UpstreamOrder,
  transaction: Transaction,
  deadline: Deadline,
): Promise<Fulfilment> => {
  const outcome = await provider.buy(order, referenceOf(transaction), deadline);
  const settlement = verdictOn(outcome);
  logOutcome(transaction, outcome);
  if (outcome.kind !== "unknown") return settlement ? { settlement } : {};
  return { ...(settlement && { settlement }), ...(outcome.later && { later: laterVerdict(outcome.later) }) };
};

/** What an outcome does to the ledger; undefined where it teaches nothing that is worth a write. */
const verdictOn = (outcome: Outcome): Settlement | undefined => {
  const facts = { upstream_reference: outcome.upstreamReference, upstream_amount_kobo: outcome.upstreamAmountKobo };
  switch (outcome.kind) {
    case "delivered":
      return { status: "success", ...facts };
    case "unknown":
      return outcome.upstreamReference === undefined ? undefined : { status: "processing", ...facts };
    case "account_error":
      return { status: "failed", failure: { code: "delivery_failed" }, ...facts };
    case "refused":
      return { status: "failed", failure: refusal(outcome.fields), ...facts };
  }
};

const refusal = (fields: readonly string[]): Failure => {
  if (fields.length === 0) return { code: "delivery_failed" };
  return { code: fields.includes("plan_id") ? "plan_unavailable" : "validation_failed", fields: [...fields] };
};

const laterVerdict = ({ status, afterS }: NonNullable<Extract<Outcome, { kind: "unknown" }>["later"]>) => ({
  afterS,
  settlement: status === "success" ? { status } : { status, failure: { code: "delivery_failed" as const } },
});
