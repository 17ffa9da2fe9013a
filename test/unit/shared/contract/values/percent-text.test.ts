import { expect, test } from "vitest";
import { percentText } from "../../../../../shared/contract/values/percent-text.ts";

test("a share has one decimal, and there is none of nothing", () => {
  expect([percentText(2, 3), percentText(1, 1), percentText(0, 0)]).toEqual(["66.7 %", "100 %", "–"]);
});

test("a share of nearly all or nearly none is not shown as all or none", () => {
  expect([percentText(9_999, 10_000), percentText(1, 10_000), percentText(0, 5)]).toEqual(["99.9 %", "0.1 %", "0 %"]);
  // A chart has the share already.
  expect([percentText(99.99, 100), percentText(100, 100)]).toEqual(["99.9 %", "100 %"]);
});
