/** One period of a metric: whether its value breaches the threshold, or undefined where it has none. */
export type DataPoint = boolean | undefined;

export type AlarmState = "OK" | "ALARM" | "INSUFFICIENT_DATA";

export type AlarmRule = {
  readonly evaluationPeriods: number;
  readonly datapointsToAlarm: number;
  readonly treatMissingData: "breaching" | "notBreaching" | "ignore" | "missing";
};

/** CloudWatch reads more periods than it evaluates. AWS says how many for one example only: 5 for 3. */
export const evaluationRange = ({ evaluationPeriods }: AlarmRule): number => evaluationPeriods + 2;

/**
 * The state of an alarm after an evaluation of its range, the newest data point last. Source: AWS, "Configuring how
 * CloudWatch alarms treat missing data", whose tables are the test of this.
 */
export const evaluate = (rule: AlarmRule, range: readonly DataPoint[], state: AlarmState): AlarmState => {
  const { evaluationPeriods, datapointsToAlarm, treatMissingData } = rule;
  const real = range.filter((point) => point !== undefined);
  const evaluated = real.slice(-evaluationPeriods);
  const filled = treatMissingData === "breaching" ? evaluationPeriods - evaluated.length : 0;
  if (evaluated.filter(Boolean).length + filled >= datapointsToAlarm) return "ALARM";
  if (treatMissingData === "breaching" || treatMissingData === "notBreaching") return "OK";
  if (evaluated.length === evaluationPeriods || real.includes(false)) return "OK";
  if (treatMissingData === "ignore") return state;
  // Only a breach that is old enough raises the alarm: those after it could still be within the threshold.
  const age = range.length - range.indexOf(true);
  if (real.length > 0) return age >= datapointsToAlarm ? "ALARM" : state;
  return "INSUFFICIENT_DATA";
};
