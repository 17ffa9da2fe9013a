/**
 * A spreadsheet treats a cell that begins like this as a formula, some also behind spaces and characters that nobody
 * sees. Full-width signs and the minus sign count in some languages.
 */
const FORMULA = /^[\t\r\n]|^[\s\p{Cc}\p{Cf}]*[=+\-@\u2212]/u;
/**
 * The same within a text: where a list separator is `;`, as it is beside a decimal comma, a spreadsheet splits our cells there,
 * and at each line end, because a quotation mark counts only where it begins a cell. Source: OWASP, "CSV Injection".
 */
const FORMULA_INSIDE = /([;\t\r\n][\s\p{Cc}\p{Cf}]*)(?=[=+\-@\u2212＝＋－＠﹢﹣﹫])/gu;
const AMOUNT = /^[+-]?\d+\.\d\d$/;

const csvCell = (text: string): string => {
  const isFormula = FORMULA.test(text.normalize("NFKC")) && !AMOUNT.test(text);
  const safe = (isFormula ? `'${text}` : text).replaceAll(FORMULA_INSIDE, "$1'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** A row of RFC 4180, without its line end. */
export const csvRow = (cells: readonly string[]): string => cells.map(csvCell).join(",");

/** The end of each row but the last. */
export const CSV_LINE_END = "\r\n";

/** A whole file. */
export const csvText = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, ...rows].map(csvRow).join(CSV_LINE_END);
