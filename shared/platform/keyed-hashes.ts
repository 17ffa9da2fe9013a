import { createHmac, randomBytes } from "node:crypto";
import type { Mode } from "../contract/transaction.ts";
import { SECRET_LENGTH_MIN, type Secret } from "./secrets.ts";

const ID_BYTES = 16;

/** Keyed hashes of references and phone numbers. Their key is never rotated: the same order must always find the same item. */
export type KeyedHashes = {
  /** The id of a transaction, derived from account, mode and caller reference; random without a caller reference. */
  readonly transactionId: (order: {
    readonly accountId: string;
    readonly mode: Mode;
    readonly callerReference?: string;
  }) => string;
  /** A hash of what an account buys for whom: a purchase that is like an earlier one has the same. */
  readonly purchaseHash: (fields: readonly string[]) => string;
  /** A hash of the order's fields, which distinguishes a replay from a conflict. */
  readonly fingerprint: (fields: readonly string[]) => string;
  /** The hash of a phone number or an event, kept in its place. Those of identity checks have a key of their own. */
  readonly valueHash: (kind: string, value: string) => string;
  /** Finds the orders for a phone number. */
  readonly phoneKey: (phoneNumber: string) => string;
  /** Authenticates a message of the outcomes queue. */
  readonly messageMac: (fields: readonly string[]) => string;
  /** Recognises the key itself. */
  readonly keyHash: () => string;
  /** Authenticates where a list continues. */
  readonly cursorMac: (fields: readonly string[]) => string;
};

/** Reads the key once in a process. One that `check` throws for is not used, and read again. */
export const loadKeyedHashes = (
  referenceKey: Secret,
  check: (keyedHashes: KeyedHashes) => Promise<void> = async () => {},
): (() => Promise<KeyedHashes>) => {
  let checked: KeyedHashes | undefined;
  return async () => {
    if (checked !== undefined) return checked;
    const keyedHashes = createKeyedHashes(await referenceKey.value());
    await check(keyedHashes);
    checked = keyedHashes;
    return keyedHashes;
  };
};

const createKeyedHashes = (key: string | undefined): KeyedHashes => {
  if (key === undefined || key.length < SECRET_LENGTH_MIN)
    throw new Error("The reference key secret is absent or too short");
  const hmac = (purpose: string, fields: readonly string[]): Buffer =>
    createHmac("sha256", key)
      .update(lengthPrefixed([purpose, ...fields]))
      .digest();
  return {
    transactionId: ({ accountId, mode, callerReference }) =>
      base32(
        callerReference === undefined
          ? randomBytes(ID_BYTES)
          : hmac("id", [accountId, mode, callerReference]).subarray(0, ID_BYTES),
      ),
    purchaseHash: (fields) => hmac("purchase", fields).toString("base64url"),
    valueHash: (kind, value) => hmac("value", [kind, value]).toString("base64url"),
    phoneKey: (phoneNumber) => hmac("phone", [phoneNumber]).subarray(0, ID_BYTES).toString("base64url"),
    keyHash: () => hmac("key", []).toString("base64url"),
    messageMac: (fields) => hmac("message", fields).toString("base64url"),
    cursorMac: (fields) => hmac("cursor", fields).toString("base64url"),
    fingerprint: (fields) => hmac("order", fields).subarray(0, ID_BYTES).toString("base64url"),
  };
};

/** The lengths distinguish the lists `a`, `bc` and `ab`, `c`. */
export const lengthPrefixed = (fields: readonly string[]): string =>
  fields.map((field) => `${Buffer.byteLength(field)}:${field}`).join("");

/** Crockford's Base32: upper case without I, L, O and U, so a reference can be read out by phone. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** 16 bytes as 26 characters. */
const base32 = (bytes: Buffer): string => {
  let rest = BigInt(`0x${bytes.toString("hex")}`);
  let text = "";
  for (let digit = 0; digit < 26; digit += 1) {
    text = `${ALPHABET[Number(rest & 31n)]}${text}`;
    rest >>= 5n;
  }
  return text;
};
