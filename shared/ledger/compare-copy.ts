import { MINUTE_MS } from "../contract/durations.ts";
import { type AuditItem, linkSchema } from "./audit-chain.ts";
import type { CopiedEntry } from "./copied-entry.ts";
import { placeOf } from "./schema.ts";

/**
 * What the entries of a log and their copies do not agree on: another entry has or had the place, the copy alone has the
 * entry, or it was not copied.
 */
export type CopyProblem = {
  readonly kind: "differs_from_copy" | "only_in_copy" | "not_copied";
  readonly sequence: string;
};

/** How late an entry may be copied. */
const COPIED_MS_MAX = 15 * MINUTE_MS;

/**
 * Compares the stored entries of one log with its copies. `beganAt` is when the first entry of any log was copied: older
 * entries before the first copy of their log have none, and are counted. `readAtMs` is when the copies were read.
 */
export const compareCopy = (
  items: readonly AuditItem[],
  copies: readonly CopiedEntry[],
  { beganAt, readAtMs }: { readonly beganAt: string; readonly readAtMs: number },
): { readonly problems: readonly CopyProblem[]; readonly before: number } => {
  const hashes = new Map<string, Set<string>>();
  for (const { sequence, hash } of copies) hashes.set(sequence, (hashes.get(sequence) ?? new Set()).add(hash));
  const [first] = [...hashes.keys()].toSorted();
  const isOlder = ({ sequence, created_at }: { readonly sequence: string; readonly created_at: string }): boolean =>
    first === undefined ? created_at < beganAt : sequence < first;
  const problems: CopyProblem[] = [];
  let before = 0;
  for (const item of items) {
    // verifyChain reports items that are not entries.
    const entry = linkSchema.safeParse(item).data;
    if (entry === undefined || placeOf(entry.sequence) === undefined) continue;
    const { sequence, hash, created_at } = entry;
    const copied = hashes.get(sequence);
    hashes.delete(sequence);
    if (copied !== undefined) {
      if (copied.size > 1 || !copied.has(hash)) problems.push({ kind: "differs_from_copy", sequence });
    } else if (isOlder(entry)) {
      before += 1;
    } else if (Date.parse(created_at) <= readAtMs - COPIED_MS_MAX) {
      problems.push({ kind: "not_copied", sequence });
    }
  }
  for (const sequence of hashes.keys()) problems.push({ kind: "only_in_copy", sequence });
  return { problems: problems.toSorted((one, other) => (one.sequence < other.sequence ? -1 : 1)), before };
};
