import type { Table } from "../ledger/ledger.ts";
import { subscriptionKeyBatches } from "../ledger/query-index.ts";
import { type EndpointKey, endpointKeyOf } from "../ledger/schema.ts";
import { type AddressedMessage, type DeliveryQueue, sendAll } from "./delivery-queue.ts";
import { catalogUpdatedBody } from "./webhook-body.ts";

/**
 * Enqueues `catalog.updated` for each subscribed endpoint. Of a change that is announced twice, both copies have the
 * same id and body, and the second finds the first one's record.
 */
export const enqueueCatalogUpdated =
  ({ ledger, queue }: { readonly ledger: Table; readonly queue: DeliveryQueue }) =>
  async ({ at, data }: { readonly at: string; readonly data: string }): Promise<void> => {
    const body = catalogUpdatedBody(data);
    for await (const keys of subscriptionKeyBatches(ledger, "catalog.updated")) {
      await sendAll(
        queue,
        keys.map(({ pk }) => messageFor(endpointKeyOf(pk), at, body)),
      );
    }
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
