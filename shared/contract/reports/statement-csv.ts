import type * as z from "#zod";
import type { costChange, periodLine } from "../actions/periods.ts";
import type { statementLine, walletActions } from "../actions/wallet.ts";
import { CSV_LINE_END, csvRow } from "../values/csv.ts";
import { nairaDecimals } from "../values/money.ts";

type Page = z.output<(typeof walletActions)["wallet statement"]["output"]>;

/** Of pages that were read in order. Undefined while they have summed up what is before the period only. */
export const openingOf = (pages: readonly Page[]): number | undefined =>
  pages.find(({ lines, next_cursor }) => lines.length > 0 || next_cursor === null)?.opening;

export const statementColumns = [
  "at",
  "kind",
  "id",
  "caller_reference",
  "network",
  "description",
  "effect",
  "balance",
] as const;

const [at, ...others] = statementColumns;
/** Those of its CSV, with the account, and the time in UTC and in the time zone of the stage. */
export const statementCsvColumns = ["account_id", at, "local_time", ...others] as const;

type CsvLine = Omit<z.input<typeof statementLine>, "kind"> & { readonly kind: string };

/** Amounts have two decimals and no separators. */
export const statementCsvCells = (accountId: string, line: CsvLine): readonly string[] => [
  ...[accountId, line.at, line.local_time, line.kind, line.id],
  ...[line.caller_reference ?? "", line.network ?? "", line.description],
  ...[nairaDecimals(line.effect), nairaDecimals(line.balance)],
];

/** The balance before or after all lines, as a line without an effect. `date`: the limit of the period, where it has one. */
export const balanceCsvCells = (
  accountId: string,
  kind: "opening_balance" | "closing_balance",
  balance: number,
  date = "",
): readonly string[] => [accountId, "", date, kind, "", "", "", "", "", nairaDecimals(balance)];

type CsvPeriod = { readonly from?: string | undefined; readonly to?: string | undefined };

/** A statement as a file, a part for each page. */
export async function* statementCsv(
  pages: AsyncIterable<Page> | Iterable<Page>,
  { from, to }: CsvPeriod,
): AsyncGenerator<string> {
  const rowOf = (cells: readonly string[]): string => `${CSV_LINE_END}${csvRow(cells)}`;
  yield csvRow(statementCsvColumns);
  let isOpen = false;
  for await (const page of pages) {
    const { account_id: account, lines, closing, next_cursor } = page;
    const opening = isOpen ? undefined : openingOf([page]);
    if (opening !== undefined) {
      yield rowOf(balanceCsvCells(account, "opening_balance", opening, from));
      isOpen = true;
    }
    yield lines.map((line) => rowOf(statementCsvCells(account, line))).join("");
    if (next_cursor === null) yield rowOf(balanceCsvCells(account, "closing_balance", closing, to));
  }
}

/** The columns of a closed month; docs/finance.md describes them. */
export const periodCsvColumns = [...statementCsvColumns, "cost"] as const;

export const periodCsvCells = (
  accountId: string,
  line: z.input<typeof periodLine> | z.input<typeof costChange>,
): readonly string[] => [...statementCsvCells(accountId, line), line.cost === null ? "" : nairaDecimals(line.cost)];
