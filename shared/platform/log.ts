import { Console } from "node:console";
import { faultEvents } from "./fault-events.ts";
import type { FieldType, FieldTypes, LogCatalog, LogEventSpec } from "./log-catalog.ts";
import type { LogEvents } from "./log-events.ts";

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

const stdout = new Console({ stdout: process.stdout });

/**
 * Where lines go. Lambda's Node runtime puts time, request id and level before what the global console logs, so that a
 * line is no JSON and no filter pattern finds its fields. A console of our own writes it as it is. Source:
 * aws/aws-lambda-nodejs-runtime-interface-client, `LogPatch.js`.
 */
export const logOutput = { write: (line: string): void => stdout.log(line) };

const writeLine = (level: "info" | "warn" | "error", event: string, fields: object): void =>
  logOutput.write(JSON.stringify({ level, event, ...fields }));

/** A log whose lines are one JSON object each. */
export const createLog = <Catalog extends LogCatalog>(): Log<Catalog> => ({
  info: (event, fields) => writeLine("info", event, fields),
  warn: (event, fields) => writeLine("warn", event, fields),
  error: (event, fields) => writeLine("error", event, { ...fields, ...embedded(Date.now(), faultsOf(event)) }),
  alarm: (event, fields) => {
    const alarms = { values: { Alarms: 1 }, dimensions: { Stage: stageName(), Event: event } };
    writeLine("error", event, { ...fields, ...embedded(Date.now(), [alarms, ...faultsOf(event)]) });
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
  const place = placesOf(error)[error.name === "$ZodError" ? PARSE_FRAMES : 0];
  return { error: error.name, at: place?.trim().slice(0, 160) };
};
/** The stack begins with the message, which may have lines that look like places. */
const placesOf = ({ stack = "", message }: Error): readonly string[] =>
  stack
    .replace(message, "")
    .split("\n")
    .filter((line) => line.trimStart().startsWith("at "));
/** The method `parse` of zod/mini and what it calls come first in the stack of its error, and would be the place of each. */
const PARSE_FRAMES = 2;

/**
 * What an invocation may reject with: the name and the places of an error. Lambda's runtime logs the message and every
 * property of what it is given, and an error of DynamoDB may have whole items. Source:
 * aws/aws-lambda-nodejs-runtime-interface-client, `Errors.js`.
 */
export const loggableError = (error: unknown): Error => {
  const loggable = new Error("The message is not logged");
  loggable.name = errorFields(error).error;
  loggable.stack = [loggable.name, ...(error instanceof Error ? placesOf(error) : [])].join("\n");
  return loggable;
};

/**
 * Metrics for alarms and the dashboard, in CloudWatch's embedded metric format: the log line is the metric. With more dimensions
 * than the stage each combination is a metric of its own, which is paid for.
 */
export const putMetrics = (
  values: Readonly<Record<string, number>>,
  nowMs: number,
  dimensions: Readonly<Record<string, string>> = {},
): void => {
  logOutput.write(JSON.stringify(embedded(nowMs, [{ values, dimensions: { Stage: stageName(), ...dimensions } }])));
};
export const METRICS_NAMESPACE = "AirtimeDataIdentity";
/** Counts the `faultEvents` of one version of a function. */
export const FAULTS_METRIC = "Faults";

type MetricSet = {
  readonly values: Readonly<Record<string, number>>;
  readonly dimensions: Readonly<Record<string, string>>;
};

/** Fields that make a log line a metric; none without a set. */
const embedded = (nowMs: number, sets: readonly MetricSet[]): object => {
  if (sets.length === 0) return {};
  const CloudWatchMetrics = sets.map(({ values, dimensions }) => ({
    Namespace: METRICS_NAMESPACE,
    Dimensions: [Object.keys(dimensions)],
    Metrics: Object.keys(values).map((Name) => ({ Name, Unit: Name.endsWith("Seconds") ? "Seconds" : "Count" })),
  }));
  const fields = sets.flatMap(({ values, dimensions }) => [values, dimensions]);
  return Object.assign({}, ...fields, { _aws: { Timestamp: nowMs, CloudWatchMetrics } });
};

/** Only published versions are counted: without a canary release there is none. */
const faultsOf = (event: string): readonly MetricSet[] => {
  const { AWS_LAMBDA_FUNCTION_NAME: name = "local", AWS_LAMBDA_FUNCTION_VERSION: version = LATEST } = process.env;
  if (version === LATEST || !faultEvents.includes(event)) return [];
  return [{ values: { [FAULTS_METRIC]: 1 }, dimensions: { Function: name, Version: version } }];
};

/** The version of a function that is invoked without an alias. Source: AWS, "Lambda function versions". */
const LATEST = "$LATEST";

/** Functions are named `<stage>-airtime-<function>`: the metrics of two stages in one account stay apart. */
export const stageName = (): string => process.env.AWS_LAMBDA_FUNCTION_NAME?.split("-")[0] ?? LOCAL_STAGE;
/** The name of the stage on this machine. */
export const LOCAL_STAGE = "local";
