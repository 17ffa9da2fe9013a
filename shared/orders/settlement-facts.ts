import type { UpstreamFacts } from "../upstream/upstream.ts";

/** What the upstream stated about an order, as a settlement holds it. */
export const settlementFactsOf = ({ upstreamReference, upstreamAmountKobo }: UpstreamFacts) => ({
  upstream_reference: upstreamReference,
  upstream_amount_kobo: upstreamAmountKobo,
});
