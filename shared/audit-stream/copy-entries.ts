import { NumberValueImpl } from "@aws-sdk/util-dynamodb";
import type { Change } from "../call/change.ts";
import { linkSchema } from "../ledger/audit-chain.ts";
import { copyKey } from "../ledger/copied-entry.ts";
import { auditLogOf, placeOf } from "../ledger/schema.ts";
import { allEnded } from "../platform/all-ended.ts";

/** Puts an object under a key that has none; resolves with whether it did. */
export type PutCopy = (key: string, body: string) => Promise<boolean>;

/**
 * Copies each audit entry as it was written, and as it was overwritten. Other items have no copy: `attest-audit` raises an
 * alarm for them. Changes may come twice and in any order, because each object has the hash of its entry.
 */
export const copyEntries = (putCopy: PutCopy) => async (changes: readonly Change[]) => {
  const copied = await allEnded(
    changes.map(async ({ after }) => {
      const entry = linkSchema.safeParse(after).data;
      if (entry === undefined || placeOf(entry.sequence) === undefined) return false;
      const key = copyKey({ auditLog: auditLogOf(entry.pk), sequence: entry.sequence, hash: entry.hash });
      return key !== undefined && (await putCopy(key, JSON.stringify(entry, unwrapped)));
    }),
  );
  return { changes: changes.length, copied: copied.filter(Boolean).length };
};

/** Numbers of a stream are wrapped (shared/call/change.ts). */
const unwrapped = (_: string, part: unknown): unknown => (part instanceof NumberValueImpl ? Number(part.value) : part);
