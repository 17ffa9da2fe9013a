import type { Statement, StatementLine } from "../../../shared/ledger/statement.ts";
import { nairaNumber } from "../../../shared/platform/money.ts";
import { naira, table } from "./print.ts";

export const statementView = (accountId: string, { opening_kobo, closing_kobo, lines }: Statement) => ({
  account_id: accountId,
  opening: nairaNumber(opening_kobo),
  closing: nairaNumber(closing_kobo),
  lines: lines.map(({ at, kind, id, status, description, effect_kobo, sum_kobo }) => ({
    at,
    kind,
    id,
    status,
    description,
    effect: nairaNumber(effect_kobo),
    balance: nairaNumber(sum_kobo),
  })),
});

const COLUMNS = ["at", "kind", "id", "status", "description", "effect", "balance"];

const cells = (line: StatementLine, money: (kobo: number) => string): readonly string[] => [
  line.at,
  line.kind,
  line.id,
  line.status,
  line.description,
  money(line.effect_kobo),
  money(line.sum_kobo),
];

export const statementTable = ({ opening_kobo, closing_kobo, lines }: Statement): string =>
  `Opening balance ${naira(opening_kobo)} NGN\n\n${table(
    COLUMNS,
    lines.map((line) => cells(line, naira)),
  )}\n\nClosing balance ${naira(closing_kobo)} NGN`;

/** RFC 4180, amounts with two decimals and without separators; a part for each batch of lines. */
export async function* statementCsv(batches: AsyncIterable<readonly StatementLine[]>): AsyncGenerator<string> {
  yield COLUMNS.join(",");
  for await (const lines of batches) yield lines.map((line) => `\r\n${csvRow(line)}`).join("");
}

const csvRow = (line: StatementLine): string =>
  cells(line, (kobo) => (kobo / 100).toFixed(2))
    .map(csvCell)
    .join(",");

/** A spreadsheet treats a cell that begins like this as a formula, unless it is a number. */
const FORMULA = /^[=+\-@\t\r](?!\d+\.\d\d$)/;

const csvCell = (text: string): string => {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
