import { expect, test } from "vitest";
import { withThousands } from "../../../../../console/components/values/number-text.ts";

test("a count has commas between thousands, and a text is as it is", () => {
  expect([0, 999, 1_000, 1_234_567].map(withThousands)).toEqual(["0", "999", "1,000", "1,234,567"]);
  expect(["1000", null].map(withThousands)).toEqual(["1000", null]);
});
