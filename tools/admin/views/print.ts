import Table from "cli-table3";
import { escapeControls } from "../../../shared/contract/control-characters.ts";
import { timeIn } from "../../../shared/contract/time-zone.ts";
import { printMessage } from "../terminal.ts";

export { duration } from "../../../shared/contract/durations.ts";
export { koboText, nairaText } from "../../../shared/contract/money.ts";
export { orNull } from "../../../shared/platform/format.ts";

export type Cell = string | number | null | undefined;

const EDGES = [
  ...["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left", "bottom-right"],
  ...["left", "left-mid", "mid", "mid-mid", "right", "right-mid", "middle"],
];
/** Columns without borders: easy to read, copy and grep. */
const layout = {
  chars: Object.fromEntries(EDGES.map((edge) => [edge, edge === "middle" ? "  " : ""])),
  style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
};

const trimLines = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");

const cellText = (cell: Cell): string =>
  cell === null || cell === undefined || cell === "" ? "-" : withoutLineEnds(escapeControls(String(cell)));

/** A cell has one line, and is as wide as what is printed. */
const withoutLineEnds = (text: string): string => text.replaceAll("\r", "\\u000d").replaceAll("\n", "\\u000a");

const isNumber = (cell: Cell): boolean => typeof cell === "number" || /^-?[\d,]+\.\d\d$/.test(cell ?? "");

/** A table with headings; columns of numbers are aligned to the right. */
export const table = (headings: readonly string[], rows: readonly (readonly Cell[])[]): string => {
  if (rows.length === 0) return "None.";
  const printed = new Table({
    ...layout,
    head: headings.map((heading) => heading.toUpperCase()),
    colAligns: headings.map((_, column) => (rows.every((row) => isNumber(row[column])) ? "right" : "left")),
  });
  // A row with fewer cells than the others would be printed with an empty line behind it.
  printed.push(...rows.map((row) => headings.map((_, column) => cellText(row[column]))));
  return trimLines(printed.toString());
};

/** One record, a line for each field. */
export const fields = (named: Readonly<Record<string, Cell>>): string => {
  const printed = new Table(layout);
  printed.push(...Object.entries(named).map(([name, cell]) => [name, cellText(cell)]));
  return trimLines(printed.toString());
};

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
