/** What a line may hold: ids, codes and counts. Never a body, a header, a key, or a person's number. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

const write = (level: "info" | "warn" | "error", event: string, fields: LogFields): void => {
  console.log(JSON.stringify({ level, event, ...fields }));
};

/**
 * One JSON object a line. `event` is a dotted constant such as `request.answered`: alarms and the runbook search for it.
 */
export const log = {
  info: (event: string, fields: LogFields = {}): void => write("info", event, fields),
  warn: (event: string, fields: LogFields = {}): void => write("warn", event, fields),
  error: (event: string, fields: LogFields = {}): void => write("error", event, fields),
};

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
export const putMetrics = (metrics: Readonly<Record<string, number>>, now_ms: number): void => {
  const Metrics = Object.keys(metrics).map((Name) => ({ Name, Unit: Name.endsWith("Seconds") ? "Seconds" : "Count" }));
  const _aws = { Timestamp: now_ms, CloudWatchMetrics: [{ Namespace: METRICS_NAMESPACE, Dimensions: [[]], Metrics }] };
  console.log(JSON.stringify({ _aws, ...metrics }));
};
export const METRICS_NAMESPACE = "AirtimeDataIdentity";
