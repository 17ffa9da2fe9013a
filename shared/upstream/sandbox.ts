import { ServiceError } from "../contract/errors.ts";
import type { Outcome, Provider } from "./provider.ts";

/**
 * What a test purchase for a number comes to; any other number is delivered. The time-out row does not keep anybody waiting.
 * Source: README, "Magic values".
 */
const outcomes: Readonly<Record<string, Outcome>> = {
  "08000000001": { kind: "refused", fields: [] },
  "08000000002": { kind: "unknown", reason: "processing", later: { status: "success", after_s: 5 } },
  "08000000003": { kind: "unknown", reason: "processing", later: { status: "failed", after_s: 5 } },
  "08000000004": { kind: "unknown", reason: "processing" },
  "08000000006": { kind: "ours", reason: "sandbox" },
  "08000000007": { kind: "unknown", reason: "timeout" },
};
const POOR_NUMBER = "08000000005";

/** Answers test keys. It has no connection to anything, so that a test key cannot reach the upstream. */
export const sandboxProvider: Provider = {
  assertReady: async ({ phoneNumber }) => {
    if (phoneNumber === POOR_NUMBER) throw new ServiceError("insufficient_balance");
  },
  buy: async ({ phoneNumber }) => outcomes[phoneNumber] ?? { kind: "delivered" },
};
