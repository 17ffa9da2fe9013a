import { FAULT_RETRY_S, type MessageResult } from "../call/message-result.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { RecordedSettlement, settleTransaction } from "../ledger/settle-transaction.ts";
import type { IndeterminateWrite } from "../ledger/transact.ts";
import type { Transaction } from "../ledger/transaction.ts";
import { amountFacts, type UpstreamCosts } from "../ledger/upstream-costs.ts";
import type { KeyedHashes } from "../platform/keyed-hashes.ts";
import type { ReportedOrder } from "./stored-event.ts";

export type ApplyDeps = {
  readonly ledger: Ledger;
  readonly keyedHashes: () => Promise<KeyedHashes>;
  readonly costs: UpstreamCosts;
};
/**
 * The messages of a batch are applied concurrently, and several may refund one wallet: `settle` puts those in sequence.
 */
export type SettleDeps = ApplyDeps & { readonly settle: typeof settleTransaction };

export const retryOf = ({ isFault = false }: IndeterminateWrite): MessageResult => ({
  ...{ kind: "retry", reason: "write_indeterminate" },
  ...(isFault && { afterS: FAULT_RETRY_S }),
});

/** What an event or an answer settles. */
export const settlementOf = (
  { costs }: ApplyDeps,
  { status, reference, amount_kobo }: ReportedOrder,
  reported_by: Transaction["reported_by"],
): RecordedSettlement => {
  const facts = { upstream_reference: reference, ...amountFacts(costs, status, amount_kobo), reported_by };
  return status === "success" ? { status, ...facts } : { status, failure: { code: "delivery_failed" }, ...facts };
};
