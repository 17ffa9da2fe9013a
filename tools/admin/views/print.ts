import stringWidth from "string-width";
import { escapeControls } from "../../../shared/contract/values/control-characters.ts";
import { timeIn } from "../../../shared/contract/values/time-zone.ts";
import { printMessage } from "../terminal.ts";

export { duration } from "../../../shared/contract/values/durations.ts";
export { koboText, nairaText } from "../../../shared/contract/values/money.ts";
export { orNull } from "../../../shared/platform/or-null.ts";

export type Cell = string | number | null | undefined;

/** Columns without borders, two spaces apart: easy to read, copy and grep. All rows have as many cells. */
const inColumns = (rows: readonly (readonly string[])[], isRight: readonly boolean[] = []): string => {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, stringWidth(cell));
  }
  const padded = (cell: string, column: number): string => {
    const space = " ".repeat((widths[column] ?? 0) - stringWidth(cell));
    return isRight[column] ? `${space}${cell}` : `${cell}${space}`;
  };
  return rows.map((row) => row.map(padded).join("  ").trimEnd()).join("\n");
};

const cellText = (cell: Cell): string =>
  cell === null || cell === undefined || cell === "" ? "-" : withoutLineEnds(escapeControls(String(cell)));

/** A cell has one line, and is as wide as what is printed. */
const withoutLineEnds = (text: string): string => text.replaceAll("\r", "\\u000d").replaceAll("\n", "\\u000a");

const isNumber = (cell: Cell): boolean => typeof cell === "number" || /^-?[\d,]+\.\d\d$/.test(cell ?? "");

/** A table with headings; columns of numbers are aligned to the right. */
export const table = (headings: readonly string[], rows: readonly (readonly Cell[])[]): string => {
  if (rows.length === 0) return "None.";
  // A row may have fewer cells than there are headings.
  const cells = rows.map((row) => headings.map((_, column) => cellText(row[column])));
  const isRight = headings.map((_, column) => rows.every((row) => isNumber(row[column])));
  return inColumns([headings.map((heading) => heading.toUpperCase()), ...cells], isRight);
};

/** One record, a line for each field. */
export const fields = (named: Readonly<Record<string, Cell>>): string =>
  inColumns(Object.entries(named).map(([name, cell]) => [name, cellText(cell)]));

/** Indented sections, each below its heading. */
export const sections = (parts: Readonly<Record<string, string>>): string =>
  Object.entries(parts)
    .map(([heading, text]) => `${heading}\n${text.replaceAll(/^/gm, "  ")}`)
    .join("\n\n");

/** A time in the zone of the stage, with its offset from UTC. JSON output has UTC. */
export const localTime = (iso: string, timeZone: string): string => timeIn(Date.parse(iso), timeZone);

/** The same of a time that may be absent. */
export const timeCell = (iso: string | null | undefined, timeZone: string): Cell => iso && localTime(iso, timeZone);

/** Until when the figures of the books are complete, in the zone of the stage and in UTC. */
export const completeText = (until: string | null, timeZone: string): string =>
  until === null
    ? "Nothing has been added up yet."
    : `Complete until ${localTime(until, timeZone)} (${until}), but for open orders.`;

/** Prints the progress of a long command on standard error, with the time; standard output holds the result only. */
export const logProgress = (message: string): void => {
  printMessage(`${new Date().toISOString()} ${message}`);
};
