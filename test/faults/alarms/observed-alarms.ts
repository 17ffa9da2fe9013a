import { vi } from "vitest";
import { accessLogLine } from "../../../infra/access-log.ts";
import { scheduledFunctions } from "../../../infra/schedules.ts";
import { HOUR_MS, MINUTE_MS } from "../../../shared/contract/values/durations.ts";
import { deadLettersOf } from "../../../shared/platform/queue-names.ts";
import { type AlarmChange, alarmsOf } from "../../builders/cloudwatch/alarms.ts";
import { type Sample, samplesOf } from "../../builders/cloudwatch/samples.ts";
import { templatesOf } from "../../builders/templates/templates.ts";
import { type Observed, type System, startSystem } from "../system/system.ts";
import { type AppEndpoint, openAppEndpoint } from "../test-account.ts";

const STAGE = "prod";

const { service } = templatesOf(STAGE);
const stage = alarmsOf(service);
const samples = samplesOf(service);
const streamMappings = service
  .all("AWS::Lambda::EventSourceMapping")
  .filter(({ Properties }) => Properties.MetricsConfig !== undefined);

export const urgencyOf = (alarm: string) => stage.urgencies.get(alarm);

const functionNamed = (name: string): string => `${STAGE}-airtime-${name}`;

/** What was observed becomes the samples of the stage's metrics. */
const seen = ({ lines, invocations, answers, samples: measured }: Observed): readonly Sample[] => [
  ...lines.flatMap(({ atMs, line }) => [...samples.logged(line), ...samples.filtered(atMs, line)]),
  ...invocations.flatMap(({ name, endedMs, ending }) =>
    samples.invoked(endedMs, functionNamed(name), ending !== "returned"),
  ),
  ...answers.flatMap(({ atMs, route, status }) => {
    const line = {
      requestId: "r",
      invocation: undefined,
      routeKey: route,
      status,
      answered: status,
      latencyMs: 1,
      error: undefined,
      sourceIp: "203.0.113.7",
    };
    return samples.accessed(atMs, accessLogLine(line));
  }),
  ...measured.flatMap((sample) => {
    if (sample.kind === "stream") {
      if (sample.name !== "webhooks") return [];
      const FunctionName = functionNamed("enqueue-webhooks");
      return [samples.measured(sample.atMs, ["AWS/Lambda", "IteratorAge"], { FunctionName }, sample.oldestMs)];
    }
    const queueName = functionNamed(sample.name);
    const ofQueue = (metric: string, value: number, QueueName = queueName): Sample =>
      samples.measured(sample.atMs, ["AWS/SQS", metric], { QueueName }, value);
    return [
      ofQueue("ApproximateAgeOfOldestMessage", sample.oldestMs / 1_000),
      ofQueue("ApproximateNumberOfMessagesVisible", sample.messages),
      ofQueue("ApproximateNumberOfMessagesVisible", sample.deadLetters, deadLettersOf(queueName)),
    ];
  }),
];

/** Minutes that a test leaves out are healthy: the schedules are invoked, and the streams are polled. */
const healthy = (fromMs: number, toMs: number): readonly Sample[] =>
  Array.from({ length: Math.ceil((toMs - fromMs) / MINUTE_MS) }, (_, minute) => fromMs + minute * MINUTE_MS).flatMap(
    (atMs) => [
      ...scheduledFunctions.map((name) =>
        samples.measured(atMs, ["AWS/Lambda", "Invocations"], { FunctionName: functionNamed(name) }, 1),
      ),
      ...["OldestOpenSeconds", "OldestQueuedSeconds"].map((name) =>
        samples.measured(atMs, ["AirtimeDataIdentity", name], { Stage: STAGE }, 0),
      ),
      ...streamMappings.map(({ id: EventSourceMappingUUID }) =>
        samples.measured(atMs, ["AWS/Lambda", "PolledEventCount"], { EventSourceMappingUUID }, 0),
      ),
    ],
  );

/** The alarms that were raised by what was observed between two moments, those that notify nobody left out. */
export const alarmsIn = (observed: Observed, fromMs: number, toMs: number): readonly AlarmChange[] => {
  const [beginMs, endMs] = [Math.floor(fromMs / MINUTE_MS) * MINUTE_MS, toMs + 2 * MINUTE_MS];
  return stage
    .changes([...healthy(beginMs - HOUR_MS, endMs), ...seen(observed)], { fromMs: beginMs, toMs: endMs })
    .filter(({ alarm, to }) => to === "ALARM" && urgencyOf(alarm) !== undefined);
};

/** From now on the functions write the metrics of the stage. */
export const writeMetricsOfStage = (): void => {
  vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", functionNamed("any"));
};

/** Does work with a system whose functions write the metrics of the stage. */
export const withStage = async <Result>(
  work: (system: System, endpoint: AppEndpoint) => Promise<Result>,
): Promise<Result> => {
  writeMetricsOfStage();
  const system = await startSystem();
  const endpoint = await openAppEndpoint();
  try {
    await system.runSchedule("refresh-catalog");
    return await work(system, endpoint);
  } finally {
    await endpoint.stop();
    await system.stop();
    vi.unstubAllEnvs();
  }
};

/** As the tables show an alarm: a page is bold, and those on errors of the functions are one. */
export const shownAlarm = (alarm: string): string => {
  const name = alarm.endsWith("Errors") && alarm !== "ServerErrors" ? "`…Errors`" : `\`${alarm}\``;
  return urgencyOf(alarm) === "page" ? `**${name}**` : name;
};
