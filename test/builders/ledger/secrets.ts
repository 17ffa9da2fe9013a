import { loadKeyedHashes } from "../../../shared/platform/keyed-hashes.ts";
import type { Secret } from "../../../shared/platform/secrets.ts";

/** A secret that never changes; undefined if it is not set. */
export const aSecret = (value: string | undefined): Secret => ({
  value: async () => value,
  refetch: async () => value,
});

export const CHECKSUM_KEY = "0123456789abcdef0123456789abcdef";
/** For stores beside which no service runs. */
export const checksumKey = aSecret(CHECKSUM_KEY);

export const REFERENCE_KEY = "k".repeat(43);
/** For orders beside which no service runs. */
export const keyedHashes = loadKeyedHashes(aSecret(REFERENCE_KEY));
