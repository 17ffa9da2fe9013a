import { createHmac, randomBytes } from "node:crypto";
import type { Mode } from "../contract/transaction.ts";
import { HOUR_MS } from "../contract/values/durations.ts";
import { base32 } from "./base32.ts";
import { parseReferenceKey, type ReferenceKeyVersions, type Version, versionInUse } from "./reference-key-versions.ts";
import type { Secret } from "./secrets.ts";
import { type Clock, systemClock } from "./time.ts";

const ID_BYTES = 16;
/** How long a MAC counts after the use of its version has ended. Longer ones stay with who knows a version that leaked. */
const MAC_ACCEPTED_MS = HOUR_MS;

/**
 * Keyed hashes of references and phone numbers, under the first version of the reference key or under all of them. The
 * first one never changes: the same order must always find the same item. Of several hashes the first is that of the
 * version in use, to be kept; what was kept or sent before may be any of them (decision 0043).
 */
export type KeyedHashes = {
  /** The id of a transaction, derived from account, mode and caller reference; random without a caller reference. */
  readonly transactionId: (order: {
    readonly accountId: string;
    readonly mode: Mode;
    readonly callerReference?: string;
  }) => string;
  /** A hash of what an account buys for whom: a purchase that is like an earlier one has the same. */
  readonly purchaseHash: (fields: readonly string[]) => string;
  /** Finds the orders for a phone number, and those that an event may be about. */
  readonly phoneKey: (phoneNumber: string) => string;
  /** Compares the recipients of orders with those of the upstream's statement. */
  readonly recipientHash: (phoneNumber: string) => string;
  /** Recognises the key itself, by its first version. */
  readonly keyHash: () => string;
  /** Hashes of the order's fields, which distinguish a replay from a conflict. */
  readonly fingerprints: (fields: readonly string[]) => Hashes;
  /** A hash of an event that cannot be read, kept in its place. */
  readonly valueHash: (kind: string, value: string) => string;
  /** Authenticate a message of the outcomes queue. */
  readonly messageMacs: (fields: readonly string[]) => Hashes;
  /** Authenticate where a list continues. */
  readonly cursorMacs: (fields: readonly string[]) => Hashes;
};
export type Hashes = readonly [inUse: string, ...others: string[]];

/**
 * Reads the key, and its new versions while the process lives. A key that `check` throws for is not used, and read again.
 * A process never changes the first version.
 */
export const loadKeyedHashes = (
  referenceKey: Secret,
  check: (keyedHashes: KeyedHashes) => Promise<void> = async () => {},
  clock: Clock = systemClock,
): (() => Promise<KeyedHashes>) => {
  let loaded: { readonly text: string | undefined; readonly first: string; readonly hashes: KeyedHashes } | undefined;
  return async () => {
    const text = await referenceKey.value();
    if (loaded?.text === text && loaded) return loaded.hashes;
    const versions = parseReferenceKey(text);
    if (versions === undefined) {
      if (loaded) return loaded.hashes;
      throw new Error("The reference key secret is absent, too short or malformed");
    }
    const first = versions[0].key;
    if (loaded && loaded.first !== first) return loaded.hashes;
    const hashes = createKeyedHashes(versions, clock);
    if (!loaded) await check(hashes);
    loaded = { text, first, hashes };
    return hashes;
  };
};

const createKeyedHashes = (versions: ReferenceKeyVersions, clock: Clock): KeyedHashes => {
  const [first] = versions;
  const hmac = ({ key }: Version, purpose: string, fields: readonly string[]): Buffer =>
    createHmac("sha256", key)
      .update(lengthPrefixed([purpose, ...fields]))
      .digest();
  const byFirst = (purpose: string, fields: readonly string[]): Buffer => hmac(first, purpose, fields);
  /** Under the version in use, and under each other one that `counts`. */
  const byEach = (
    counts: (version: Version) => boolean,
    purpose: string,
    fields: readonly string[],
    bytes?: number,
  ): Hashes => {
    const inUse = versionInUse(versions, clock());
    const others = versions.filter((version) => version !== inUse && counts(version));
    const hash = (version: Version) => hmac(version, purpose, fields).subarray(0, bytes).toString("base64url");
    return [hash(inUse), ...others.map(hash)];
  };
  const always = (): boolean => true;
  const isAccepted = ({ untilMs }: Version): boolean => clock() < untilMs + MAC_ACCEPTED_MS;
  return {
    transactionId: ({ accountId, mode, callerReference }) =>
      base32(
        callerReference === undefined
          ? randomBytes(ID_BYTES)
          : byFirst("id", [accountId, mode, callerReference]).subarray(0, ID_BYTES),
      ),
    purchaseHash: (fields) => byFirst("purchase", fields).toString("base64url"),
    phoneKey: (phoneNumber) => byFirst("phone", [phoneNumber]).subarray(0, ID_BYTES).toString("base64url"),
    recipientHash: (phoneNumber) => byFirst("value", ["recipient", phoneNumber]).toString("base64url"),
    keyHash: () => byFirst("key", []).toString("base64url"),
    fingerprints: (fields) => byEach(always, "order", fields, ID_BYTES),
    valueHash: (kind, value) => hmac(versionInUse(versions, clock()), "value", [kind, value]).toString("base64url"),
    messageMacs: (fields) => byEach(isAccepted, "message", fields),
    cursorMacs: (fields) => byEach(isAccepted, "cursor", fields),
  };
};

/** The lengths distinguish the lists `a`, `bc` and `ab`, `c`. */
export const lengthPrefixed = (fields: readonly string[]): string =>
  fields.map((field) => `${Buffer.byteLength(field)}:${field}`).join("");
