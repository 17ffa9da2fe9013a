import type { Ledger } from "../../../shared/ledger/ledger.ts";
import type { TimeRange } from "../../../shared/ledger/query-index.ts";
import { readStatementPage, type StatementLine, type StatementPosition } from "../../../shared/ledger/statement.ts";

/** A whole statement, in pages as small as a test wants. */
export const readStatement = async (
  ledger: Ledger,
  accountId: string,
  range: TimeRange,
  limits = { linesMax: 100_000, itemsMax: 100_000 },
) => {
  const lines: StatementLine[] = [];
  let opening_kobo: number | undefined;
  let start: StatementPosition | undefined;
  for (;;) {
    const page = await readStatementPage(ledger, accountId, range, start, limits);
    lines.push(...page.lines);
    if (lines.length > 0 || page.next === undefined) opening_kobo ??= page.opening_kobo;
    if (page.next === undefined) return { opening_kobo: opening_kobo ?? 0, lines, closing_kobo: page.closing_kobo };
    start = page.next;
  }
};
