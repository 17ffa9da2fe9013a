import { MINUTE_MS } from "../contract/values/durations.ts";
import { errorFields, log } from "../platform/log.ts";
import type { Secret } from "../platform/secrets.ts";
import { type Clock, isRecent, systemClock } from "../platform/time.ts";

/** Between two attempts, because each may take the request's whole time budget for Secrets Manager. */
const RETRY_AFTER_MS = MINUTE_MS;

/** The key of the checksums of API keys; undefined while it cannot be read. */
export type ChecksumKey = () => Promise<string | undefined>;

/**
 * Reads the key once in a process, because it never changes. While it cannot be read, admission looks up every key of
 * the right form: the checksum saves money, and protects nothing.
 */
export const loadChecksumKey = (secret: Secret, clock: Clock = systemClock): ChecksumKey => {
  let read: string | undefined;
  let failedAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (read !== undefined || isRecent(failedAtMs, RETRY_AFTER_MS, clock())) return read;
    try {
      read = await checksumKeyOf(secret);
    } catch (error) {
      failedAtMs = clock();
      log.warn("checksum_key.unreadable", errorFields(error));
    }
    return read;
  };
};

/** The key, with which keys are made. Throws if it cannot be read. */
export const checksumKeyOf = async (secret: Secret): Promise<string> => {
  const key = await secret.value();
  if (key === undefined) throw new Error("The checksum key is absent");
  return key;
};
