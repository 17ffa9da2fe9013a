import { expect, test } from "vitest";
import { stageView } from "../../../../shared/actions/person.ts";

test.each([
  ["a stage that sells", true, { name: "prod" }, { name: "prod", kind: "live", colour: "red" }],
  ["one with test keys only", false, { name: "sandbox" }, { name: "sandbox", kind: "test", colour: "green" }],
  ["the service on a machine", true, { name: "local" }, { name: "local", kind: "local", colour: "violet" }],
  ["one whose settings choose", true, { name: "uat", colour: "amber" }, { name: "uat", kind: "live", colour: "amber" }],
] as const)("the colour of %s", (_, sells, stage, shown) => {
  expect(stageView(sells, stage)).toEqual(shown);
});
