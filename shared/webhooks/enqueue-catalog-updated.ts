import type { Ledger } from "../ledger/ledger.ts";
import { subscriptionKeyBatches } from "../ledger/query-index.ts";
import { type EndpointKey, endpointKeyOf } from "../ledger/schema.ts";
import type { Deadline } from "../platform/deadline.ts";
import { fromMovingStart } from "../platform/moving-start.ts";
import { type AddressedMessage, type DeliveryQueue, sendAll } from "./delivery-queue.ts";
import { catalogUpdatedBody } from "./webhook-body.ts";

/**
 * Enqueues `catalog.updated` for each subscribed endpoint. Of a change that is announced twice, both copies have the
 * same id and body, and the second finds the first one's record. Resolves with false if there is no time for all of them:
 * the next call begins at another place.
 */
export const enqueueCatalogUpdated =
  ({ ledger, queue }: { readonly ledger: Ledger; readonly queue: DeliveryQueue }) =>
  async ({ at, data }: { readonly at: string; readonly data: string }, deadline: Deadline): Promise<boolean> => {
    const body = catalogUpdatedBody(data);
    const batches = await Array.fromAsync(subscriptionKeyBatches(ledger, "catalog.updated"));
    for (const keys of fromMovingStart(batches, ledger.clock())) {
      if (deadline.remainingMs() <= 0) return false;
      await sendAll(
        queue,
        keys.map(({ pk }) => messageFor(endpointKeyOf(pk), at, body)),
      );
    }
    return true;
  };

const messageFor = ({ accountId, endpoint }: EndpointKey, at: string, body: string): AddressedMessage => ({
  accountId,
  message: {
    event: "catalog.updated",
    account_id: accountId,
    endpoint,
    occurrence: at,
    body,
  },
});
