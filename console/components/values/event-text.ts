import { type EndpointEventName, endpointEventName } from "../../../shared/contract/webhook-events.ts";

const texts = {
  "transaction.updated": "Order final",
  "wallet.low": "Wallet low",
  "limit.near": "Limit near",
  "catalog.updated": "Catalog changed",
} as const satisfies Record<EndpointEventName, string>;

/** What a webhook is about, in words. An event of another release has its own name. */
export const eventText = (event: string): string => {
  const { data: known } = endpointEventName.safeParse(event);
  return known === undefined ? event : texts[known];
};
