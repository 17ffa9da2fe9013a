import { expect, test } from "vitest";
import { csvRow } from "../../../../../shared/contract/values/csv.ts";

const signs = ["=", "+", "-", "@", "＝", "＋", "－", "＠", "﹢", "﹣", "\u2212"];
const prefixes = ["", " ", "\u00a0 ", "\t", "\r", "\n", "\u3000", "\ufeff", "\u200b", "\u202e", "\u0000", "\u001f"];

test.each(prefixes.flatMap((prefix) => signs.map((sign) => `${prefix}${sign}SUM(A1)`)))(
  "%j is no formula in a spreadsheet",
  (text) => {
    expect(csvRow([text]).replace(/^"/, "")).toMatch(/^'/);
    expect(csvRow([text]).replaceAll("'", "")).toContain(text);
  },
);

test("a cell that begins with a tab or a line end is quoted text", () => {
  expect(csvRow(["\tcmd", "\rcmd"])).toBe(`'\tcmd,"'\rcmd"`);
});

test.each([";", "; ", "\t", "\n", "\r\n", ";\u200b"].flatMap((separator) => signs.map((sign) => [separator, sign])))(
  "a spreadsheet that takes %j for the end of a cell or a row has no formula behind it: %j",
  (separator, sign) => {
    expect(csvRow([`ticket 7${separator}${sign}SUM(A1);${sign}1`]).replaceAll('"', "")).toBe(
      `ticket 7${separator}'${sign}SUM(A1);'${sign}1`,
    );
  },
);

test("amounts, negative ones too, and ordinary texts stay as they are", () => {
  const cells = ["-500.00", "+5.00", "12.34", "a=b", "order-1", "a; b = c", "", "2026-11-21T12:00:00.000Z", "ọjà"];
  expect(csvRow(cells)).toBe(cells.join(","));
});

test("a cell with a comma, a quotation mark or a line end is quoted", () => {
  expect(csvRow(["a,b", 'say "hi"', "a\nb", "=1,2"])).toBe(`"a,b","say ""hi""","a\nb","'=1,2"`);
});
