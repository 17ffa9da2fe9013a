import { hashApiKey } from "../../shared/access/api-key.ts";
import { pkOfOwner } from "../../shared/access/owner-item.ts";
import { linkEntry } from "../../shared/ledger/audit-chain.ts";
import { hashOf } from "../../shared/periods/fold-lines.ts";
import { loadKeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { sealingKey, unseal } from "../../shared/platform/seal.ts";
import type { Secret } from "../../shared/platform/secrets.ts";

const KEY = "a-key-of-the-golden-file-and-of-nothing-else";
const secret: Secret = { value: async () => KEY, refetch: async () => KEY };

/** Sealed with `KEY` for the owner `example` by an earlier tree: a sealed value is another one each time. */
const SEALED = "0NJ9XV1kT0w9xUj6eiMoTExLDblShf2DFcwfgNJCY58+svm8fCH7";

/**
 * What the service computes and stores, or compares with what is stored, from texts that never change. If a later release
 * computed another value, it would not find an order by its reference, a key by its text, or a chain unbroken.
 */
export const derivedValues = async (): Promise<Readonly<Record<string, string>>> => {
  const keyed = await loadKeyedHashes(secret)();
  const fields = ["data", "08031234567", "500"];
  return {
    "transaction of a reference": keyed.transactionId({ accountId: "acc_1", mode: "live", callerReference: "order-1" }),
    "fingerprint of an order": keyed.fingerprints(fields)[0],
    "hash of a purchase": keyed.purchaseHash(fields),
    "index key of a phone number": keyed.phoneKey("08031234567"),
    "hash of a recipient": keyed.recipientHash("08031234567"),
    "hash of the reference key": keyed.keyHash(),
    "hash of a value": keyed.valueHash("event", "example"),
    "MAC of a message": keyed.messageMacs(fields)[0],
    "MAC of a cursor": keyed.cursorMacs(fields)[0],
    "hash of an API key": hashApiKey("example"),
    "key of an owner": pkOfOwner({ kind: "email", value: "Owner@app.example" }),
    "hash of an audit entry": linkEntry({ pk: "entry#acc_1", by: "ops", details: { b: 1, a: "x" } }, undefined).hash,
    "hash of a period": hashOf("", ["acc_1", "2026-10", 50_000]),
    "text of a sealed value": unseal(await sealingKey(secret), "example", Buffer.from(SEALED, "base64")).toString(),
  };
};
