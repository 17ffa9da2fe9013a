/** What a line may hold: ids, codes and counts. Never a body, a header, a key, or a person's number. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

const write = (level: "info" | "warn" | "error", event: string, fields: LogFields, figures?: object): void => {
  console.log(JSON.stringify({ level, event, ...fields, ...figures }));
};

/**
 * One JSON object a line. `event` is a dotted constant such as `request.answered`: alarms and the runbook search for it.
 */
export const log = {
  info: (event: string, fields: LogFields = {}): void => write("info", event, fields),
  warn: (event: string, fields: LogFields = {}): void => write("warn", event, fields),
  error: (event: string, fields: LogFields = {}): void => write("error", event, fields),
  /** An error that an operator must hear of: the line counts for the alarm of its event. */
  alarm: (event: AlarmEvent, fields: LogFields = {}): void => {
    const figures = metricsHead(Date.now(), ["Alarms"], ["Stage", "Event"]);
    write("error", event, { ...fields, Alarms: 1, Stage: stage(), Event: event }, figures);
  },
};

/** The events of `log.alarm`; infra/constructs/service-alarms.ts says what a customer loses by each. */
export type AlarmEvent =
  | "catalog.entries_dropped"
  | "catalog.refused"
  | "catalog.too_old"
  | "ledger.not_proved"
  | "order.left_open"
  | "phones.not_masked"
  | "request.broke"
  | "status.amount_differs"
  | "status.contradicted"
  | "status.event_refused"
  | "status.left_to_operator"
  | "upstream.unrecognized_404"
  | "upstream.trouble_is_ours"
  | "webhook.switched_off";

/**
 * An unexpected error as log fields: its class and where it was thrown, never its message (a parser's message quotes what it
 * read, and that may be a person's data).
 */
export const errorFields = (error: unknown): LogFields => {
  if (!(error instanceof Error)) return { error: typeof error };
  const place = error.stack?.split("\n").find((line) => line.trimStart().startsWith("at "));
  return { error: error.name, at: place?.trim().slice(0, 160) };
};

/** Figures for alarms and the dashboard, in CloudWatch's embedded metric format: the log line is the metric. */
export const putMetrics = (metrics: Readonly<Record<string, number>>, nowMs: number): void => {
  console.log(JSON.stringify({ ...metricsHead(nowMs, Object.keys(metrics), ["Stage"]), ...metrics, Stage: stage() }));
};
export const METRICS_NAMESPACE = "AirtimeDataIdentity";

const metricsHead = (nowMs: number, names: readonly string[], dimensions: readonly string[]): object => {
  const Metrics = names.map((Name) => ({ Name, Unit: Name.endsWith("Seconds") ? "Seconds" : "Count" }));
  const CloudWatchMetrics = [{ Namespace: METRICS_NAMESPACE, Dimensions: [dimensions], Metrics }];
  return { _aws: { Timestamp: nowMs, CloudWatchMetrics } };
};

/** Functions are named `<stage>-airtime-<function>`: the figures of two stages in one account stay apart. */
const stage = (): string => process.env.AWS_LAMBDA_FUNCTION_NAME?.split("-")[0] ?? "local";
