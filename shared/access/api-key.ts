import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Mode } from "../contract/transaction.ts";

/** `live_` or `test_`, 32 random characters (192 bits) and 6 characters of checksum. */
const KEY_FORM = /^(live|test)_[A-Za-z0-9_-]{38}$/;
const CHECKSUM_LENGTH = 6;

/** A MAC: a key that the service did not make costs no read of the access table. */
const checksum = (unchecked: string, checksumKey: string): string =>
  createHmac("sha256", checksumKey).update(unchecked).digest("base64url").slice(0, CHECKSUM_LENGTH);

/** A new key. Only its `keyHash` is stored. */
export const newApiKey = (mode: Mode, checksumKey: string): string => {
  const unchecked = `${mode}_${randomBytes(24).toString("base64url")}`;
  return `${unchecked}${checksum(unchecked, checksumKey)}`;
};

/** Whether a text has the form of a key. Its checksum may still be wrong. */
export const hasKeyForm = (text: string): boolean => KEY_FORM.test(text);

/** Whether a text of this form has the checksum of a key. */
export const hasChecksum = (key: string, checksumKey: string): boolean =>
  timingSafeEqual(
    Buffer.from(key.slice(-CHECKSUM_LENGTH)),
    Buffer.from(checksum(key.slice(0, -CHECKSUM_LENGTH), checksumKey)),
  );

/** The key's id in the access table. 192 random bits need no salt and no slow hash. */
export const hashApiKey = (key: string): string => createHash("sha256").update(key).digest("base64url");
