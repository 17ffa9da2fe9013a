import { onTestFinished } from "vitest";
import type { StoredEndpoint } from "../../../shared/access/account-store.ts";
import { TRANSACTION_UPDATED } from "../../../shared/contract/webhook-events.ts";
import type { EndpointKey } from "../../../shared/ledger/schema.ts";
import { parseIpRanges } from "../../../shared/platform/ip-range.ts";
import type { AddressRules } from "../../../shared/webhooks/address-guard.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

/** The id of an account's first endpoint. */
export const ENDPOINT = "1";

export const firstEndpoint = (accountId: string): EndpointKey => ({ accountId, endpoint: ENDPOINT });

/** An endpoint as an account has it; nothing can be unsealed. */
export const anEndpoint = (of: Partial<StoredEndpoint> = {}): StoredEndpoint => ({
  ...{ id: ENDPOINT, name: "Endpoint 1", url: "https://app.example.com/hooks", events: [TRANSACTION_UPDATED] },
  ...{ status: "on", generation: 0, secret: "sealed", replaced_secrets: [] },
  ...of,
});

/** Webhooks may reach loopback, where every host is, and nothing else. */
export const LOOPBACK: AddressRules = {
  allowed: parseIpRanges("127.0.0.0/8"),
  refusedHosts: [],
  resolve: async () => ["127.0.0.1"],
};

/** A receiver that is stopped after the current test. */
export const aReceiver = async (...options: Parameters<typeof startReceiver>): Promise<Receiver> => {
  const receiver = await startReceiver(...options);
  onTestFinished(receiver.stop);
  return receiver;
};
