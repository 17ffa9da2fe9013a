import type { Settlement } from "../ledger/settle-transaction.ts";
import { amountFacts, type UpstreamCosts } from "../ledger/upstream-costs.ts";
import type { UpstreamFacts } from "../upstream/upstream.ts";

/** A settlement with what the upstream stated about its order. */
export const withUpstreamFacts = (
  settlement: Settlement,
  { upstreamReference, upstreamAmountKobo }: UpstreamFacts,
  costs: UpstreamCosts,
): Settlement => ({
  ...settlement,
  upstream_reference: upstreamReference,
  ...amountFacts(costs, settlement.status, upstreamAmountKobo),
});
