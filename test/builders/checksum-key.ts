import type { Secret } from "../../shared/platform/secrets.ts";

export const CHECKSUM_KEY = "0123456789abcdef0123456789abcdef";
/** For stores beside which no service runs. */
export const checksumKey: Secret = { value: async () => CHECKSUM_KEY, refetch: async () => CHECKSUM_KEY };
