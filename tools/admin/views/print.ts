import Table from "cli-table3";

type Cell = string | number | null | undefined;

const EDGES = [
  ...["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left", "bottom-right"],
  ...["left", "left-mid", "mid", "mid-mid", "right", "right-mid", "middle"],
];
/** Columns without lines: easy to read, to copy and to grep. */
const look = {
  chars: Object.fromEntries(EDGES.map((edge) => [edge, edge === "middle" ? "  " : ""])),
  style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
};

const lines = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");

const shown = (cell: Cell): string =>
  cell === null || cell === undefined || cell === "" ? "-" : String(cell).replace(/[\p{Cc}\p{Cf}]/gu, escaped);

/** A control character of somebody's text, as `\u001b`: it must not reach the terminal as such. */
const escaped = (character: string): string => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;

const isNumber = (cell: Cell): boolean => typeof cell === "number" || /^-?[\d,]+\.\d\d$/.test(cell ?? "");

/** Rows below their headings; numbers stand to the right. */
export const table = (headings: readonly string[], rows: readonly (readonly Cell[])[]): string => {
  if (rows.length === 0) return "None.";
  const printed = new Table({
    ...look,
    head: headings.map((heading) => heading.toUpperCase()),
    colAligns: headings.map((_, column) => (rows.every((row) => isNumber(row[column])) ? "right" : "left")),
  });
  printed.push(...rows.map((row) => row.map(shown)));
  return lines(printed.toString());
};

/** One thing, a line for each of its fields. */
export const fields = (named: Readonly<Record<string, Cell>>): string => {
  const printed = new Table(look);
  printed.push(...Object.entries(named).map(([name, cell]) => [name, shown(cell)]));
  return lines(printed.toString());
};

/** Parts below each other, each under its own heading. */
export const sections = (parts: Readonly<Record<string, string>>): string =>
  Object.entries(parts)
    .map(([heading, text]) => `${heading}\n${text.replaceAll(/^/gm, "  ")}`)
    .join("\n\n");

/** Kobo, signed or not, as people read NGN. */
export const naira = (kobo: number): string =>
  (kobo / 100).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** Kobo as a JSON number of NGN. */
export const nairaNumber = (kobo: number): number => kobo / 100;

/** An amount as `show` has it; null where there is none. */
export const orNull = <Shown>(kobo: number | undefined, show: (kobo: number) => Shown): Shown | null =>
  kobo === undefined ? null : show(kobo);

const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
] as const;

/** `3 min`, `5 h`, `2 d`. */
export const duration = (spanMs: number): string => {
  const spanS = Math.max(0, Math.floor(spanMs / 1_000));
  const [unit, unitS] = UNITS.find(([, lengthS]) => spanS >= lengthS) ?? ["s", 1];
  return `${Math.floor(spanS / unitS)} ${unit}`;
};

/** A line about the progress of a long command, with its time; not a part of the answer, which goes to standard output. */
export const logProgress = (sentence: string): void => {
  process.stderr.write(`${new Date().toISOString()} ${sentence}\n`);
};
