import { expect, test } from "vitest";
import { typedNumber } from "../../../../../shared/contract/actions/action.ts";
import { entitlementsField, limitsField } from "../../../../../tools/admin/fields.ts";

const REFUSED = [
  "100.000",
  "5.000",
  "1,000",
  "1 000",
  "1e3",
  "0x10",
  "٥",
  "",
  " ",
  "5.",
  ".5",
  "Infinity",
  "1".repeat(16),
];

test.each(REFUSED)(
  "%j is no number: a point may have been meant for thousands, or the text for something else",
  (text) => {
    expect(typedNumber.safeParse(text).success).toBe(false);
    expect(limitsField.safeParse([`day_naira=${text}`]).success).toBe(false);
    expect(entitlementsField.safeParse([`vtu=${text}`]).success).toBe(false);
  },
);

test.each([
  ["5000", 5_000],
  [" 5000 ", 5_000],
  ["0005", 5],
  ["5000.00", 5_000],
  ["-2.5", -2.5],
  ["+2.25", 2.25],
  ["999999999999999", 999_999_999_999_999],
])("%j is the number %d", (text, number) => {
  expect(typedNumber.parse(text)).toBe(number);
});

test("a limit and a quota may be typed with two decimals, which are 00", () => {
  expect(limitsField.parse(["day_naira=5000.00"])).toEqual({ day_naira: 5_000 });
  expect(entitlementsField.parse(["vtu=50"])).toEqual({ vtu: 50 });
});
