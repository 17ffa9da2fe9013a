import type { PutCommandInput } from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import * as z from "#zod";
import type { Change } from "../call/change.ts";
import { type Attestation, attestationSchema, NO_HASH, readAttested } from "../ledger/audit-chain.ts";
import type { Table } from "../ledger/ledger.ts";
import { attestationsPk, auditLogOf, placeOf } from "../ledger/schema.ts";
import { isConditionFailure } from "../platform/aws/errors.ts";
import { log } from "../platform/log.ts";

const itemKey = z.object({ pk: z.string(), sequence: z.string() });
const newEntry = z.extend(itemKey, { previous: z.string(), hash: z.string() });
type NewEntry = z.infer<typeof newEntry>;

/**
 * More entries than people write while an outage lasts. The stream keeps a change for a day: of more lost ones no entry would be
 * attested any more, and each change would read all since. An entry that skips more places is not attested, because the next
 * one would continue it (audit-chain.ts), and a log has ten billion places.
 */
const GAP_MAX = 1_000_000;

/**
 * Keeps the hash of each new audit entry, under a key that only this function may write. Nothing changes or removes an
 * item of the audit table, and each entry continues the one before it, so everything else is an alarm. A batch may be
 * handled twice.
 */
export const attestEntries = (audit: Table) => async (changes: readonly Change[]) => {
  let attested = 0;
  for (const { before, after } of changes) {
    const { pk, sequence } = itemKey.parse(after ?? before);
    const alarm = (change: string): void =>
      log.alarm("audit.tampered", { audit_log: auditLogOf(pk), sequence, change });
    const entry = newEntry.safeParse(after).data;
    if (before !== undefined || entry === undefined) {
      alarm(after === undefined ? "removed" : before === undefined ? "unreadable" : "changed");
    } else {
      attested += await attestEntry(audit, entry, alarm);
    }
  }
  return { changes: changes.length, attested };
};

/** Attests an entry, unless its place is invalid or skips too many; resolves with the number of attested ones. */
const attestEntry = async (
  audit: Table,
  { pk, sequence, previous, hash }: NewEntry,
  alarm: (change: string) => void,
): Promise<number> => {
  const place = placeOf(sequence);
  if (place === undefined) {
    alarm("misplaced");
    return 0;
  }
  const auditLog = auditLogOf(pk);
  const { value: last } = await readAttested(audit, auditLog, sequence).next();
  const gap = place - (last?.place ?? 0) - 1;
  if (gap > 0 || previous !== (last?.hash ?? NO_HASH)) alarm("out_of_order");
  if (gap > GAP_MAX) return 0;
  const kept = await attest(audit, { pk: attestationsPk(auditLog), sequence, hash });
  if (kept !== hash) alarm("attested_before");
  return 1;
};

/** The hash that is kept: the first one of each place. */
const attest = async ({ db, table }: Table, Item: Attestation): Promise<string> => {
  const put: PutCommandInput = {
    ...{ TableName: table, Item, ConditionExpression: "attribute_not_exists(pk)" },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  };
  try {
    await db.put(put);
    return Item.hash;
  } catch (error) {
    if (!(isConditionFailure(error) && error.Item)) throw error;
    return attestationSchema.parse(unmarshall(error.Item)).hash;
  }
};
