import * as z from "#zod";
import type { KeyedHashes } from "../platform/keyed-hashes.ts";
import { log } from "../platform/log.ts";
import { getItem } from "./get-item.ts";
import type { Table } from "./ledger.ts";
import { putIf } from "./put-if.ts";
import { REFERENCE_KEY_PK } from "./schema.ts";

/** A hash that only the ledger's own reference key makes. It is written once. */
export const referenceKeySchema = z.object({ hash: z.string() });

/** The present reference key is not the one whose references the ledger holds. */
export class OtherReferenceKeyError extends Error {
  override readonly name = "OtherReferenceKeyError";
  constructor() {
    super("The reference key is not the one that the ledger was written with");
  }
}

/**
 * Compares the reference key with the ledger. With another key no earlier reference is found: a replay would buy a
 * second time, and a lookup would say that there is no order. Before its first order a ledger has no key, and
 * `first: "record"` makes the present one its own.
 */
export const checkReferenceKey =
  (ledger: Table, first: "record" | "ignore") =>
  async ({ keyHash }: KeyedHashes): Promise<void> => {
    const hash = keyHash();
    let stored = await getItem(ledger, REFERENCE_KEY_PK, referenceKeySchema);
    if (stored === undefined && first === "record") {
      // Another process may be first, with this key or another one.
      await putIf(ledger, { pk: REFERENCE_KEY_PK, hash }, { ConditionExpression: "attribute_not_exists(pk)" });
      stored = await getItem(ledger, REFERENCE_KEY_PK, referenceKeySchema);
    }
    if (stored === undefined || stored.hash === hash) return;
    log.alarm("reference_key.differs", {});
    throw new OtherReferenceKeyError();
  };
