import { statementLineView } from "../../../shared/actions/wallet.ts";
import { CSV_LINE_END, csvRow } from "../../../shared/contract/csv.ts";
import { statementColumns, statementCsvRow } from "../../../shared/contract/statement-csv.ts";
import type { Statement, StatementLine } from "../../../shared/ledger/statement.ts";
import { nairaNumber } from "../../../shared/platform/money.ts";
import { naira, table } from "./print.ts";

export const statementView = (accountId: string, { opening_kobo, closing_kobo, lines }: Statement) => ({
  account_id: accountId,
  opening: nairaNumber(opening_kobo),
  closing: nairaNumber(closing_kobo),
  lines: lines.map(statementLineView),
});

const cells = (line: StatementLine): readonly string[] => [
  line.at,
  line.kind,
  line.id,
  line.status,
  line.description,
  naira(line.effect_kobo),
  naira(line.balance_after_kobo),
];

export const statementTable = ({ opening_kobo, closing_kobo, lines }: Statement): string =>
  `Opening balance ${naira(opening_kobo)} NGN\n\n${table(
    statementColumns,
    lines.map(cells),
  )}\n\nClosing balance ${naira(closing_kobo)} NGN`;

/** CSV, a part for each batch of lines. */
export async function* statementCsv(batches: AsyncIterable<readonly StatementLine[]>): AsyncGenerator<string> {
  yield csvRow(statementColumns);
  for await (const lines of batches) {
    yield lines.map((line) => `${CSV_LINE_END}${statementCsvRow(statementLineView(line))}`).join("");
  }
}
