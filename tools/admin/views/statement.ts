import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { moneyText } from "../../../shared/contract/money.ts";
import { openingOf, statementColumns } from "../../../shared/contract/statement-csv.ts";
import { nairaText, table } from "./print.ts";

type Page = ActionOutput<"wallet statement">;
type Statement = Omit<Page, "next_cursor">;

export const wholeStatement = (pages: readonly Page[]): Statement => {
  const [last, opening] = [pages.at(-1), openingOf(pages)];
  if (last === undefined || opening === undefined) throw new Error("A statement has a last page");
  const { account_id, closing } = last;
  return { account_id, opening, closing, lines: pages.flatMap(({ lines }) => lines) };
};

const cells = (line: Statement["lines"][number]): readonly string[] => [
  ...[line.at, line.kind, line.id, line.caller_reference ?? "", line.network ?? "", line.description],
  ...[nairaText(line.effect), nairaText(line.balance)],
];

export const statementTable = ({ opening, closing, lines }: Statement): string =>
  `Opening balance ${moneyText(opening)}\n\n${table(
    statementColumns,
    lines.map(cells),
  )}\n\nClosing balance ${moneyText(closing)}`;
