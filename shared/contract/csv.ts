/** A spreadsheet treats a cell that begins like this as a formula, unless it is a number. */
const FORMULA = /^[=+\-@\t\r](?!\d+\.\d\d$)/;

const csvCell = (text: string): string => {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** A row of RFC 4180, without its line end. */
export const csvRow = (cells: readonly string[]): string => cells.map(csvCell).join(",");

/** The end of each row but the last. */
export const CSV_LINE_END = "\r\n";
