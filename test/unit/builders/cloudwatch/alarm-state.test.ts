import { describe, expect, test } from "vitest";
import { type AlarmRule, evaluate } from "../../../builders/cloudwatch/alarm-state.ts";

/** `0 - X` is a value within the threshold, a missing one, and a breach; the newest is the last. */
const range = (points: string) => points.split(" ").map((point) => (point === "-" ? undefined : point === "X"));
const KEPT = "INSUFFICIENT_DATA";
const treatments = ["missing", "ignore", "breaching", "notBreaching"] as const;
const stateOf = (points: string, treatMissingData: AlarmRule["treatMissingData"], datapointsToAlarm: number) =>
  evaluate({ evaluationPeriods: 3, datapointsToAlarm, treatMissingData }, range(points), KEPT);

// The two tables of AWS, "Configuring how CloudWatch alarms treat missing data".
describe.each([
  {
    needed: 3,
    rows: [
      ["0 - X - X", "OK", "OK", "OK", "OK"],
      ["0 - - - -", "OK", "OK", "OK", "OK"],
      ["- - - - -", "INSUFFICIENT_DATA", KEPT, "ALARM", "OK"],
      ["0 X X - X", "ALARM", "ALARM", "ALARM", "ALARM"],
      ["- - X - -", "ALARM", KEPT, "ALARM", "OK"],
    ],
  },
  {
    needed: 2,
    rows: [
      ["0 - X - X", "ALARM", "ALARM", "ALARM", "ALARM"],
      ["0 0 X 0 X", "ALARM", "ALARM", "ALARM", "ALARM"],
      ["0 - X - -", "OK", "OK", "ALARM", "OK"],
      ["- - - - 0", "OK", "OK", "ALARM", "OK"],
      ["- - - X -", "ALARM", KEPT, "ALARM", "OK"],
    ],
  },
])("an alarm on $needed of 3 data points", ({ needed, rows }) => {
  test.each(rows)(
    "%s is %s, or %s if missing data is ignored, %s if breaching, %s if not",
    (points = "", ...states) => {
      expect(treatments.map((treatment) => stateOf(points, treatment, needed))).toEqual(states);
    },
  );

  test("a breach that is the newest data point does not raise it before there is more data, unless that is breaching", () => {
    const states = treatments.map((treatment) => stateOf("- - - - X", treatment, needed));
    expect(states).toEqual([KEPT, KEPT, "ALARM", "OK"]);
  });
});
