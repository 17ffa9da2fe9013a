import { expect, test } from "vitest";
import { raisedBy } from "../../../../../tools/acceptance/steps/alarms.ts";

const arn = (name: string) => `arn:aws:cloudwatch:eu-west-1:111122223333:alarm:${name}`;

test("only the alarms that a rule has in full raise its composite alarm, by their state ALARM", () => {
  const rule = `(ALARM("${arn("Try-Orders-1AB")}") OR ALARM("Try-Events-2CD") OR OK("Try-Other"))`;
  expect(raisedBy(rule)).toEqual([arn("Try-Orders-1AB"), "Try-Events-2CD"]);
  // A part of its name is in the rule, and it would not be raised.
  expect(rule).toContain("Try-Orders");
  expect(raisedBy(rule)).not.toContain(arn("Try-Orders"));
});
