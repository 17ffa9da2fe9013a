import { createHash, randomBytes } from "node:crypto";
import type { Mode } from "../contract/transaction.ts";

/** `live_` or `test_`, 32 random characters (192 bits), 6 of checksum. */
const KEY_FORM = /^(live|test)_[A-Za-z0-9_-]{38}$/;
const CHECKSUM_LENGTH = 6;

const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url");
const checksum = (unchecked: string): string => sha256(unchecked).slice(0, CHECKSUM_LENGTH);

/** A new key. It is shown once; what is kept is `keyHash`. */
export const newApiKey = (mode: Mode): string => {
  const unchecked = `${mode}_${randomBytes(24).toString("base64url")}`;
  return `${unchecked}${checksum(unchecked)}`;
};

/** Whether the text can be a key at all: garbage is refused without a look into the table. */
export const isWellFormedKey = (key: string): boolean =>
  KEY_FORM.test(key) && key.endsWith(checksum(key.slice(0, -CHECKSUM_LENGTH)));

/** What a key is found by. 192 random bits need no salt and no slow hash. */
export const keyHash = sha256;
