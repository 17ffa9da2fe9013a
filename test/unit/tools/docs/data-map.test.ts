import { expect, test } from "vitest";
import { mistakesOfMap, unmappedAttributes } from "../../../../tools/docs/data-map.ts";

test("each field of a stored item says what it says of a person", () => {
  expect(mistakesOfMap()).toEqual([]);
});

test("an attribute without an entry is found in a stored item", () => {
  expect(unmappedAttributes({ pk: "wallet#acc_1", balance_kobo: 1, surname: "x" }, "ledger")).toEqual([
    "wallet.surname",
  ]);
  expect(unmappedAttributes({ pk: "hash", "vtu:29412345": 3 }, "access")).toEqual([]);
  expect(unmappedAttributes({ pk: "other#1" }, "cache")).toEqual(["cache: an item of no kind"]);
});
