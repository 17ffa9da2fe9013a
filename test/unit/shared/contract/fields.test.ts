import { expect, test } from "vitest";
import { referenceField } from "../../../../shared/contract/fields.ts";

const message = "Must be 1 to 100 of the characters A-Z a-z 0-9 . _ : -, and not . or ..";

test.each([".", "..", "", "a/b", "١٢٣", "１２３", "a\n", "r".repeat(101)])("%j is no reference", (reference) => {
  expect(referenceField.safeParse(reference).error?.issues).toMatchObject([{ message }]);
});

test.each(["...", ".a", "..-", "a.", "a..b", ":", "order-1042"])(
  "an order with the reference %s can be looked up by its URL",
  (reference) => {
    expect(referenceField.parse(reference)).toBe(reference);
    const { pathname } = new URL(`https://api.example/v1/transactions/${reference}`);
    expect(pathname).toBe(`/v1/transactions/${reference}`);
  },
);
