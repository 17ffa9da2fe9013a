import { createHmac, randomBytes } from "node:crypto";
import type { Mode } from "../contract/transaction.ts";
import { SECRET_LENGTH_MIN, type Secret } from "./secrets.ts";

const ID_BYTES = 16;

/** Names transactions. The secret behind it is made once and never rotated: the same order must find the same item for ever. */
export type KeyedHashes = {
  /** The id of an order: the same for the same account, mode and reference, whatever was ordered; random without a reference. */
  readonly transactionId: (order: {
    readonly accountId: string;
    readonly mode: Mode;
    readonly reference?: string;
  }) => string;
  /** What was ordered, as one comparable text that gives nothing away. */
  readonly fingerprint: (fields: readonly string[]) => string;
  /** A person's number as it may be kept: the same number gives the same text, and the text does not give the number. */
  readonly hashSubject: (kind: string, number: string) => string;
  /** Proves that a message of the outcomes queue is ours and unchanged. */
  readonly messageMac: (fields: readonly string[]) => string;
};

/** Loads the secret once a process. */
export const loadKeyedHashes = (referenceKey: Secret): (() => Promise<KeyedHashes>) => {
  let keyedHashes: KeyedHashes | undefined;
  return async () => {
    keyedHashes ??= createKeyedHashes(await referenceKey.value());
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
    transactionId: ({ accountId, mode, reference }) =>
      base32(
        reference === undefined
          ? randomBytes(ID_BYTES)
          : hmac("id", [accountId, mode, reference]).subarray(0, ID_BYTES),
      ),
    hashSubject: (kind, number) => hmac("subject", [kind, number]).toString("base64url"),
    messageMac: (fields) => hmac("message", fields).toString("base64url"),
    fingerprint: (fields) => hmac("order", fields).subarray(0, ID_BYTES).toString("base64url"),
  };
};

/** Without the lengths, `a` + `bc` and `ab` + `c` would name the same thing. */
const lengthPrefixed = (fields: readonly string[]): string =>
  fields.map((field) => `${Buffer.byteLength(field)}:${field}`).join("");

/** Crockford's alphabet: upper-case, without I, L, O and U, so that a reference can be read out on the telephone. */
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
