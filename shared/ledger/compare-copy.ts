import { MINUTE_MS } from "../contract/values/durations.ts";
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

/** What of an entry its copies say; `before`: it is older than they are. */
type CopyFinding = CopyProblem["kind"] | "before";

/**
 * Compares what the table has under a key of one log with its copies. `first` is the first place of the log that was copied:
 * older entries have no copy, and neither have those of a log without one that are older than `beganAt`, when the first
 * entry of any log was copied. `readAtMs` is when the copies were read.
 */
export const copyVerifier =
  ({
    first,
    beganAt,
    readAtMs,
  }: {
    readonly first: string | undefined;
    readonly beganAt: string;
    readonly readAtMs: number;
  }) =>
  (item: AuditItem | undefined, copies: readonly CopiedEntry[]): CopyFinding | undefined => {
    // The chain says so of items that are not entries.
    const entry = linkSchema.safeParse(item).data;
    if (entry === undefined || placeOf(entry.sequence) === undefined) {
      return copies.length > 0 ? "only_in_copy" : undefined;
    }
    const { sequence, hash, created_at } = entry;
    if (copies.length > 0) return copies.every((copy) => copy.hash === hash) ? undefined : "differs_from_copy";
    const isOlder = first === undefined ? created_at < beganAt : sequence < first;
    if (isOlder) return "before";
    return Date.parse(created_at) <= readAtMs - COPIED_MS_MAX ? "not_copied" : undefined;
  };
