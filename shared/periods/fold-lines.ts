import { createHash } from "node:crypto";
import * as z from "#zod";
import { lineKind } from "../contract/actions/wallet.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type KindSums, kindSums } from "../ledger/period.ts";
import { readStatementPage, type StatementLine, statementPositionSchema } from "../ledger/statement.ts";

/** A month of one account that is closed or verified. */
export type PeriodOf = {
  readonly account_id: string;
  readonly month: string;
  readonly time_zone: string;
  readonly from: string;
  readonly to: string;
  readonly previous: string;
};

/** What the hash has of a line: all that never changes. A description's phone number is masked one day. */
const hashedLine = z.tuple([z.string(), lineKind, z.string(), z.nullable(z.string()), z.nullable(z.string()), z.int()]);
export type HashedLine = z.infer<typeof hashedLine>;

const hashedLineOf = ({ at, kind, id, caller_reference, network, effect_kobo }: StatementLine): HashedLine => [
  at,
  kind,
  id,
  caller_reference,
  network,
  effect_kobo,
];

/** How far a period's lines are summed up and hashed. */
export const foldSchema = z.object({
  position: z.optional(statementPositionSchema),
  opening_kobo: z.int(),
  lines: z.int(),
  kinds: kindSums,
  balance_kobo: z.int(),
  /** The wallet's version after the last line that was read. */
  version: z.int(),
  /** The hash of everything so far; absent until the opening balance is known. */
  hash: z.optional(z.string()),
});
export type Fold = z.infer<typeof foldSchema>;

export const emptyFold: Fold = { opening_kobo: 0, lines: 0, kinds: {}, balance_kobo: 0, version: 0 };

/** The fold of an account whose lines are read in part. */
export const begunFoldSchema = z.extend(foldSchema, { account_id: z.string() });

/** What was begun, if it is this account: between two calls the index may list another one before it. */
export const begunOf = <Begun extends { readonly account_id: string }>(
  accountId: string,
  begun: Begun | undefined,
): Begun | undefined => (begun?.account_id === accountId ? begun : undefined);

/** Bytes of a line's fingerprint: the beginning of the hash after it. */
export const FINGERPRINT_BYTES = 4;

/** Lines of one step: about a third of a second, and 20 KB of fingerprints. */
export const STEP_LINES = 5_000;

/**
 * Adds the next lines of a period. Each line's hash contains the one before, so a change shows in all after it. `hashed`:
 * the lines that this step has hashed, with the fingerprint of each.
 */
export const foldNext = async (ledger: Ledger, period: PeriodOf, before: Fold, stepLines = STEP_LINES) => {
  const limits = { linesMax: stepLines, itemsMax: stepLines };
  const page = await readStatementPage(ledger, period.account_id, period, before.position, limits);
  const hashed = page.lines.map(hashedLineOf);
  const isOpened = before.hash !== undefined || page.lines.length > 0 || page.next === undefined;
  const opening_kobo = before.hash === undefined ? page.opening_kobo : before.opening_kobo;
  const first = before.hash ?? firstHash(period, opening_kobo);
  const fingerprints = new Uint8Array(hashed.length * FINGERPRINT_BYTES);
  const kinds: KindSums = structuredClone(before.kinds);
  let hash = first;
  let balance_kobo = before.hash === undefined ? opening_kobo : before.balance_kobo;
  for (const [index, line] of hashed.entries()) {
    const [, kind, , , , effect_kobo] = line;
    hash = hashOf(hash, line);
    fingerprints.set(Buffer.from(hash, "hex").subarray(0, FINGERPRINT_BYTES), index * FINGERPRINT_BYTES);
    const { count = 0, kobo = 0 } = kinds[kind] ?? {};
    kinds[kind] = { count: count + 1, kobo: kobo + effect_kobo };
    balance_kobo += effect_kobo;
  }
  const fold: Fold = {
    ...(page.next && { position: page.next }),
    opening_kobo,
    lines: before.lines + hashed.length,
    kinds,
    balance_kobo,
    version: page.version,
    ...(isOpened && { hash }),
  };
  return { fold, isComplete: page.next === undefined, hashed, fingerprints };
};

const firstHash = ({ account_id, month, time_zone, from, to, previous }: PeriodOf, openingKobo: number): string =>
  hashOf(previous, [account_id, month, time_zone, from, to, openingKobo]);

/** SHA-256, hexadecimal, over the hash before and the JSON of what follows. docs/finance.md has the format. */
export const hashOf = (previous: string, content: unknown): string =>
  createHash("sha256")
    .update(`${previous}\n${JSON.stringify(content)}`)
    .digest("hex");
