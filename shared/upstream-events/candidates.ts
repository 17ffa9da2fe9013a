import { openTransactions, readTransaction } from "../ledger/find-transactions.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { ALL_TIMES } from "../ledger/query-index.ts";
import { sentAt, type Transaction } from "../ledger/transaction.ts";
import type { UpstreamCosts } from "../ledger/upstream-costs.ts";
import { latestSending, wasSentBy } from "./heuristic-match.ts";
import { differencesOf } from "./operator-resolution.ts";
import { isReadable, receivedAt, type StoredEvent } from "./stored-event.ts";

/** As many as a person compares. */
const CANDIDATES_MAX = 20;

/**
 * The transactions that a stored event may be about: the one that is known, or else the orders that were sent before
 * the event, are open, and are not known to the upstream by another reference. Those with the fewest differences come
 * first, then those sent last. Unlike the heuristic match, it also finds orders that are older or differ.
 */
export const findCandidates = async (
  { ledger, costs }: { readonly ledger: Ledger; readonly costs: UpstreamCosts },
  event: StoredEvent,
): Promise<readonly Transaction[]> => {
  if (event.transaction_pk !== undefined) {
    const transaction = await readTransaction(ledger, event.transaction_pk);
    return transaction === undefined ? [] : [transaction];
  }
  if (!isReadable(event)) return [];
  const latest = latestSending(receivedAt(event));
  const open = await openTransactions(ledger, { from: ALL_TIMES.from, to: latest });
  return open
    .filter((transaction) => wasSentBy(transaction, latest))
    .filter(({ upstream_reference }) => [undefined, event.reference].includes(upstream_reference))
    .map((transaction) => ({ transaction, differences: differencesOf(costs, event, transaction).length }))
    .sort(
      (one, other) =>
        one.differences - other.differences ||
        Date.parse(sentAt(other.transaction)) - Date.parse(sentAt(one.transaction)),
    )
    .slice(0, CANDIDATES_MAX)
    .map(({ transaction }) => transaction);
};
