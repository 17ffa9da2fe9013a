import type { LogEvents } from "./log-events.ts";

type FieldTypes = { readonly string: string; readonly number: number; readonly boolean: boolean };
type FieldType = keyof FieldTypes;

/** The description of a log event. A field whose type ends in `?` may be absent. */
export type LogEventSpec = {
  /** `alarm` is an error that raises the alarm of its event. */
  readonly level: "info" | "warn" | "error" | "alarm";
  /** Ids, codes and counts. Never a body, a header, a key, or a person's number. */
  readonly fields: Readonly<Record<string, FieldType | `${FieldType}?`>>;
  readonly meaning: string;
  readonly action: string;
};
export type LogCatalog = Readonly<Record<string, LogEventSpec>>;

type RequiredField<Fields> = { [Name in keyof Fields]: Fields[Name] extends FieldType ? Name : never }[keyof Fields];
type FieldsOf<Fields> = {
  readonly [Name in RequiredField<Fields>]: Fields[Name] extends FieldType ? FieldTypes[Fields[Name]] : never;
} & {
  readonly [Name in Exclude<keyof Fields, RequiredField<Fields>>]?:
    | (Fields[Name] extends `${infer Type extends FieldType}?` ? FieldTypes[Type] : never)
    | undefined;
};
type EventAt<Catalog extends LogCatalog, Level extends LogEventSpec["level"]> = {
  [Name in keyof Catalog]: Catalog[Name]["level"] extends Level ? Name : never;
}[keyof Catalog] &
  string;

/** Logs the events of a catalogue, each at its level and with its fields. */
export type Log<Catalog extends LogCatalog> = {
  readonly [Level in LogEventSpec["level"]]: <Event extends EventAt<Catalog, Level>>(
    event: Event,
    fields: FieldsOf<Catalog[Event]["fields"]>,
  ) => void;
};

export type LogEvent<Level extends LogEventSpec["level"]> = EventAt<LogEvents, Level>;
export type LogFields<Event extends keyof LogEvents> = FieldsOf<LogEvents[Event]["fields"]>;

const writeLine = (level: "info" | "warn" | "error", event: string, fields: object, metrics?: object): void => {
  console.log(JSON.stringify({ level, event, ...fields, ...metrics }));
};

/** A log whose lines are one JSON object each. */
export const createLog = <Catalog extends LogCatalog>(): Log<Catalog> => ({
  info: (event, fields) => writeLine("info", event, fields),
  warn: (event, fields) => writeLine("warn", event, fields),
  error: (event, fields) => writeLine("error", event, fields),
  alarm: (event, fields) => {
    const metrics = metricsHead(Date.now(), ["Alarms"], ["Stage", "Event"]);
    writeLine("error", event, { ...fields, Alarms: 1, Stage: stage(), Event: event }, metrics);
  },
});

/** The functions' log; log-events.ts is its catalogue. */
export const log = createLog<LogEvents>();

/**
 * An unexpected error as log fields: its class and where it was thrown, never its message (a parser's message quotes
 * what it read, and that may be a person's data).
 */
export const errorFields = (error: unknown): { readonly error: string; readonly at?: string | undefined } => {
  if (!(error instanceof Error)) return { error: typeof error };
  const place = error.stack?.split("\n").find((line) => line.trimStart().startsWith("at "));
  return { error: error.name, at: place?.trim().slice(0, 160) };
};

/** Metrics for alarms and the dashboard, in CloudWatch's embedded metric format: the log line is the metric. */
export const putMetrics = (metrics: Readonly<Record<string, number>>, nowMs: number): void => {
  console.log(JSON.stringify({ ...metricsHead(nowMs, Object.keys(metrics), ["Stage"]), ...metrics, Stage: stage() }));
};
export const METRICS_NAMESPACE = "AirtimeDataIdentity";

const metricsHead = (nowMs: number, names: readonly string[], dimensions: readonly string[]): object => {
  const Metrics = names.map((Name) => ({ Name, Unit: Name.endsWith("Seconds") ? "Seconds" : "Count" }));
  const CloudWatchMetrics = [{ Namespace: METRICS_NAMESPACE, Dimensions: [dimensions], Metrics }];
  return { _aws: { Timestamp: nowMs, CloudWatchMetrics } };
};

/** Functions are named `<stage>-airtime-<function>`: the metrics of two stages in one account stay apart. */
const stage = (): string => process.env.AWS_LAMBDA_FUNCTION_NAME?.split("-")[0] ?? "local";
