import { expect, test } from "vitest";
import { withTimes } from "../../../../../console/components/values/time-text.ts";

test("times in a sentence of the service are in the viewer's zone, and all else stays", () => {
  expect(withTimes("GTB-1 was booked at 2020-11-15T16:47:19.939Z: propose it again")).toMatch(
    /^GTB-1 was booked at 1\d Nov 2020, \d\d:\d\d:19 (?:UTC|GMT)\S*: propose it again$/,
  );
  expect(withTimes("2020-11-15 is signed off")).toBe("2020-11-15 is signed off");
});
