import type { ActionInput, ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { koboText } from "../../../shared/contract/values/money.ts";
import { fields, table } from "./print.ts";

type Totals = NonNullable<ActionInput<"reconciliation cases put">["totals"]>;
type Case = ActionOutput<"reconciliation cases show">;

export const totalsTable = (totals: Totals): string =>
  table(
    ["class", "count", "ours", "theirs"],
    totals.map((each) => [each.class, each.count, koboText(each.ours_kobo), koboText(each.theirs_kobo)]),
  );

/** A day of the upstream's statement, with its files and what the last comparison found. */
export const statementText = ({
  files,
  compared,
  comparison: _token,
  closing,
  signed_off,
  ...statement
}: ActionOutput<"reconciliation statements show">): string =>
  [
    fields({
      ...statement,
      closing: closing && `${koboText(closing.balance_kobo)} at ${closing.at}`,
      signed_off: signed_off && `by ${signed_off.by} at ${signed_off.at}: ${signed_off.why}`,
      compared:
        compared && `at ${compared.at}${compared.revision === statement.revision ? "" : ", before the last file"}`,
    }),
    table(
      ["sha256", "rows", "state", "by", "at"],
      files.map(({ sha256, rows, state, by, at }) => [sha256, rows, state, by, at]),
    ),
    ...(compared === null ? [] : [totalsTable(compared.totals)]),
  ].join("\n\n");

/** A case: what each side says, and each decision. */
export const caseText = ({ order, row, decisions, ...facts }: Case): string => {
  const sides = [order && { side: "ours", ...order }, row && { side: "theirs", ...row }].filter(
    (each) => each !== undefined,
  );
  const headings = ["side", "reference", "upstream reference", "type", "amount", "status", "at"];
  const rows = sides.map(({ side, reference, upstream_reference, type, amount_kobo, status, at }) => [
    ...[side, reference, upstream_reference, type, koboText(amount_kobo), status, at],
  ]);
  const decided = decisions.map(({ decision, by, at, why }) => [decision, by, at, why]);
  return [
    fields({ ...facts, ...(row && { line: row.line }) }),
    ...(rows.length === 0 ? [] : [table(headings, rows)]),
    ...(decided.length === 0 ? [] : [table(["decision", "by", "at", "why"], decided)]),
  ].join("\n\n");
};
