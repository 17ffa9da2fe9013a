import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { CSV_LINE_END, csvRow } from "../../../shared/contract/csv.ts";
import {
  balanceCsvCells,
  statementColumns,
  statementCsvCells,
  statementCsvColumns,
} from "../../../shared/contract/statement-csv.ts";
import { nairaText, table } from "./print.ts";

type Page = ActionOutput<"wallet statement">;
type Statement = Omit<Page, "next_cursor">;

/** A page may have no lines, because what is before the period is summed up too. */
export const wholeStatement = (pages: readonly Page[]): Statement => {
  const last = pages.at(-1);
  if (last === undefined) throw new Error("A statement has a page");
  const first = pages.find(({ lines }) => lines.length > 0) ?? last;
  const { account_id, closing } = last;
  return { account_id, opening: first.opening, closing, lines: pages.flatMap(({ lines }) => lines) };
};

const cells = (line: Statement["lines"][number]): readonly string[] => [
  ...[line.at, line.kind, line.id, line.caller_reference ?? "", line.network ?? "", line.description],
  ...[nairaText(line.effect), nairaText(line.balance)],
];

export const statementTable = ({ opening, closing, lines }: Statement): string =>
  `Opening balance ${nairaText(opening)} NGN\n\n${table(
    statementColumns,
    lines.map(cells),
  )}\n\nClosing balance ${nairaText(closing)} NGN`;

type CsvPeriod = { readonly from?: string | undefined; readonly to?: string | undefined };

/** CSV, a part for each page. */
export async function* statementCsv(pages: AsyncIterable<Statement>, { from, to }: CsvPeriod): AsyncGenerator<string> {
  const rowOf = (cells: readonly string[]): string => `${CSV_LINE_END}${csvRow(cells)}`;
  yield csvRow(statementCsvColumns);
  let [account, closing, isOpen] = ["", 0, false];
  for await (const page of pages) {
    [account, closing] = [page.account_id, page.closing];
    if (!isOpen && page.lines.length > 0) {
      yield rowOf(balanceCsvCells(account, "opening_balance", page.opening, from));
      isOpen = true;
    }
    yield page.lines.map((line) => rowOf(statementCsvCells(account, line))).join("");
  }
  if (!isOpen) yield rowOf(balanceCsvCells(account, "opening_balance", closing, from));
  yield rowOf(balanceCsvCells(account, "closing_balance", closing, to));
}
