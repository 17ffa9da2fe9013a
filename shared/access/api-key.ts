import { createHash, randomBytes } from "node:crypto";
import type { Mode } from "../contract/transaction.ts";

/** `live_` or `test_`, 32 random characters (192 bits) and 6 characters of checksum. */
const KEY_FORM = /^(live|test)_[A-Za-z0-9_-]{38}$/;
const CHECKSUM_LENGTH = 6;

const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url");
const checksum = (unchecked: string): string => sha256(unchecked).slice(0, CHECKSUM_LENGTH);

/** A new key. Only its `keyHash` is stored. */
export const newApiKey = (mode: Mode): string => {
  const unchecked = `${mode}_${randomBytes(24).toString("base64url")}`;
  return `${unchecked}${checksum(unchecked)}`;
};

/** True if form and checksum are those of a key. Anything else is refused without a table read. */
export const isWellFormedKey = (key: string): boolean =>
  KEY_FORM.test(key) && key.endsWith(checksum(key.slice(0, -CHECKSUM_LENGTH)));

/** The key's id in the access table. 192 random bits need no salt and no slow hash. */
export const hashApiKey = sha256;
