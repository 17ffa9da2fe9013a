import type { StoredEndpoint } from "../../shared/access/account-store.ts";
import { TRANSACTION_UPDATED } from "../../shared/contract/webhook-events.ts";
import type { EndpointKey } from "../../shared/ledger/schema.ts";

/** The id of an account's first endpoint. */
export const ENDPOINT = "1";

export const firstEndpoint = (accountId: string): EndpointKey => ({ accountId, endpoint: ENDPOINT });

/** An endpoint as an account has it; nothing can be unsealed. */
export const anEndpoint = (of: Partial<StoredEndpoint> = {}): StoredEndpoint => ({
  ...{ id: ENDPOINT, name: "Endpoint 1", url: "https://app.example.com/hooks", events: [TRANSACTION_UPDATED] },
  ...{ status: "on", generation: 0, secret: "sealed", replaced_secrets: [] },
  ...of,
});
