import { functionNames } from "../../../infra/functions.ts";
import { queues } from "../../../infra/queues.ts";
import { commonSchedules } from "../../../infra/schedules.ts";
import { streamConsumers } from "../../../infra/streams.ts";
import { MINUTE_MS } from "../../../shared/contract/values/durations.ts";
import { sum } from "../../../shared/platform/sum.ts";
import type { Context, Stage } from "../context.ts";
import { type Metric, metricValues } from "../metric-values.ts";
import { assertThat, found, type Outcome } from "../outcome.ts";
import { requestCounts } from "../request-counts.ts";

/** Consumers must keep up with the purchases of this run; the alarms on them begin at minutes. */
const LAG_S_MAX = 60;
/** CloudWatch shows most metrics after one to three minutes. */
const COMPLETE_MS_MAX = 15 * MINUTE_MS;
const POLL_MS = 15_000;

/** What CloudWatch counted: errors of functions, lag of stream and queues, and writes that DynamoDB refused. */
export const readLagAndConflicts = async (
  { stage, startedAt, wait }: Context,
  { outputs }: Stage,
): Promise<Outcome> => {
  const [ApiId = ""] = new URL(outputs.ApiUrl).hostname.split(".");
  const requests = metric("AWS/ApiGateway", "Count", "Sum", { ApiId });
  for (const untilMs = Date.now() + COMPLETE_MS_MAX; ; ) {
    const [counted = 0] = await metricValues([requests], startedAt);
    if (counted >= requestCounts.requests) break;
    assertThat(Date.now() < untilMs, `CloudWatch shows ${counted} of ${requestCounts.requests} requests`);
    await wait(POLL_MS, "CloudWatch, which shows requests after some minutes");
  }

  const read = (metrics: readonly Metric[]) => metricValues(metrics, startedAt);
  const ofFunctions = (name: string, functions = functionNames): readonly Metric[] =>
    functions.map((each) => metric("AWS/Lambda", name, "Sum", { FunctionName: `${stage}-airtime-${each}` }));
  const errors = await read(ofFunctions("Errors"));
  const failed = functionNames.filter((_, index) => errors[index] !== 0);
  assertThat(failed.length === 0, `functions crashed or timed out: ${failed.join(", ")}`);
  const throttles = sum(await read(ofFunctions("Throttles")));

  const consumer = `${stage}-airtime-${streamConsumers.webhooks.consumer}`;
  const [streamMs = 0] = await read([metric("AWS/Lambda", "IteratorAge", "Maximum", { FunctionName: consumer })]);
  assertThat(streamMs <= LAG_S_MAX * 1_000, `the ledger's stream was ${streamMs} ms behind`);
  const age = "ApproximateAgeOfOldestMessage";
  const ages = Object.keys(queues).map((queue) =>
    metric("AWS/SQS", age, "Maximum", { QueueName: `${stage}-airtime-${queue}` }),
  );
  const queueS = Math.max(...(await read(ages)));
  assertThat(queueS <= LAG_S_MAX, `a message waited for ${queueS} s`);

  const runs = await read(ofFunctions("Invocations", commonSchedules));
  const idle = commonSchedules.filter((_, index) => runs[index] === 0);
  assertThat(
    idle.length === 0,
    `no schedule has run ${idle.join(", ")}: check that EventBridge may invoke them each minute`,
  );

  const ofLedger = (name: string) => metric("AWS/DynamoDB", name, "Sum", { TableName: outputs.LedgerTable });
  const [conflicts, conditions, writeThrottles] = await read(
    ["TransactionConflict", "ConditionalCheckFailedRequests", "WriteThrottleEvents"].map(ofLedger),
  );
  return found(
    `stream ${streamMs} ms behind and messages ${queueS} s old at most; ledger: ${conflicts} transaction conflicts, ${conditions} failed conditions, ${writeThrottles} write throttles; functions: 0 errors, ${throttles} throttles`,
  );
};

const metric = (
  namespace: string,
  name: string,
  statistic: Metric["statistic"],
  dimensions: Metric["dimensions"],
): Metric => ({ namespace, name, statistic, dimensions });
