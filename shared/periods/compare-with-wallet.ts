import type { Ledger } from "../ledger/ledger.ts";
import { ALL_TIMES, INDEXED_AGE_MS } from "../ledger/query-index.ts";
import { positionAfter, readStatementPage, type StatementPosition } from "../ledger/statement.ts";
import { readWallet } from "../ledger/wallet.ts";
import { type SealedWallet, sealWallet } from "../ledger/wallet-seal.ts";
import { backoff } from "../platform/backoff.ts";
import type { Deadline } from "../platform/deadline.ts";
import { isoTime } from "../platform/time.ts";
import { STEP_LINES } from "./fold-lines.ts";

/** A wallet may change while its lines are read, and the index may lag. */
const ROUNDS_MAX = 3;
/** By how much the clock that dated a line may be ahead of ours. */
const CLOCKS_DIFFER_MS = 1_000;

export type Comparison =
  | {
      readonly kind: "compared";
      readonly lines_kobo: number;
      readonly balance_kobo: number;
      /** The wallet's version less that after the last line: lines that the index lacks. */
      readonly uncounted: number;
    }
  | { readonly kind: "out_of_time"; readonly position: StatementPosition };

export const isAgreed = ({
  lines_kobo,
  balance_kobo,
  uncounted,
}: Comparison & { readonly kind: "compared" }): boolean => uncounted === 0 && lines_kobo === balance_kobo;

/**
 * Adds up all lines from a position on, and compares the result with the wallet, read strongly: equal in balance and
 * version, the index lacks no line.
 */
export const compareWithWallet = async (
  ledger: Ledger,
  accountId: string,
  start: StatementPosition,
  deadline: Deadline,
): Promise<Comparison> => {
  const until = isoTime(ledger.clock() - INDEXED_AGE_MS);
  let position = start;
  while (position.after <= until) {
    const page = await readLines(ledger, accountId, position, until);
    position = page.next ?? positionAfter(until, { balance_after_kobo: page.closing_kobo, version: page.version });
    if (page.next !== undefined && deadline.remainingMs() <= 0) return { kind: "out_of_time", position };
  }
  const nextAttempt = backoff(deadline.remainingMs);
  let sealed: SealedWallet | undefined;
  for (let round = 1; ; round += 1) {
    const to = sealed?.sealed_to ?? ALL_TIMES.to;
    let page = await readLines(ledger, accountId, position, to);
    while (page.next !== undefined) page = await readLines(ledger, accountId, page.next, to);
    const { balance_kobo, version } = sealed ?? (await readWallet(ledger, accountId));
    const compared = {
      kind: "compared",
      lines_kobo: page.closing_kobo,
      balance_kobo,
      uncounted: version - page.version,
    } as const;
    if (isAgreed(compared) || round === ROUNDS_MAX || !(await nextAttempt())) return compared;
    // A wallet may never rest: what is booked after this has a later time, and is in neither of the two.
    sealed ??= await sealWallet(ledger, accountId, isoTime(ledger.clock() + CLOCKS_DIFFER_MS));
  }
};

const readLines = (ledger: Ledger, accountId: string, position: StatementPosition, to: string) =>
  readStatementPage(ledger, accountId, { from: position.after, to }, position, {
    linesMax: STEP_LINES,
    itemsMax: STEP_LINES,
  });
