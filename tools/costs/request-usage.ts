import { accessLogLine } from "../../infra/access-log.ts";
import { specOf } from "../../infra/functions.ts";
import { queues } from "../../infra/queues.ts";
import { settingsOf } from "../../infra/stage-settings.ts";
import { sum } from "../../shared/platform/sum.ts";
import { BATCH_MESSAGES_MAX } from "../../shared/webhooks/delivery-queue.ts";
import { stages } from "../../stages.ts";
import type { Budget, Invocation } from "./budgets.ts";
import { MONTH_HOURS, type Usage } from "./prices.ts";

/** Assumptions that only an AWS account can measure. Functions are warm and pay for the time that they wait. */
export const assumed = {
  /**
   * A function's own time, and the time of one call to DynamoDB, SQS or KMS. The longest own time that docs/performance.md
   * shows under Memory, p50, is 17 ms with the TLS handshake, which belongs to `waitMs` here.
   */
  runMs: 15,
  callMs: 5,
  /** The response time of an outside party, TLS handshake included. */
  waitMs: { upstream: 1_000, endpoint: 200 },
  /** Bytes of one such exchange: through the NAT gateway in both directions, and the part that goes out. */
  exchangeBytes: { through: 8_000, out: 2_000 },
  /** Bytes of one call of KMS through the NAT gateway, on a connection that is open. */
  keyRequestBytes: 3_000,
};

/** The lines that Lambda itself logs. Source: AWS, "Log and monitor Node.js Lambda functions". */
const INVOCATION = "c793869b-ee49-115b-a5b6-4fd21e8dedac";
const lambdaLines = [
  `START RequestId: ${INVOCATION} Version: $LATEST`,
  `END RequestId: ${INVOCATION}`,
  `REPORT RequestId: ${INVOCATION}\tDuration: 1234.56 ms\tBilled Duration: 1235 ms\tMemory Size: 1024 MB\tMax Memory Used: 123 MB\t`,
];
/** API Gateway's access log line of a request. */
const ACCESS_LINE = accessLogLine({
  requestId: "JKJaXmPLvHcESHA=",
  invocation: INVOCATION,
  routeKey: "POST /v1/identity/nin/retrieve",
  status: 200,
  answered: 200,
  latencyMs: 1234,
  error: undefined,
  sourceIp: "203.0.113.250",
});

/** Memory with which a function has a whole vCPU. Source: AWS, "Configure Lambda function memory". */
const VCPU_MB = 1_769;

const GB = 1_000_000_000;
const MONTH_DAYS = MONTH_HOURS / 24;
/** How long the committed stage that sells keeps its logs. */
const { logRetentionDays: retentionDays } = settingsOf("prod", stages);

/** Requests arrive one by one, or faster than batches are handled. */
export type Batches = "alone" | "full";

/** The billed usage of one request that takes all of its budget, and is alone in its batches or in full ones. */
export const usageOf = (budget: Budget, batches: Batches = "alone"): Usage => {
  const { invocations, writeUnits, readUnits, responseBytes } = budget;
  const sent = invocations.flatMap(({ sends }) => sends ?? []);
  const queued = sum(sent.map((queue) => queueRequests(queue, batches)));
  const exchanges = invocations.filter(({ waitsFor }) => waitsFor !== undefined).length;
  const keyRequests = sum(invocations.map(({ keyRequests = 0 }) => keyRequests));
  const logged = functionLogBytes(budget, batches) + (responseBytes === undefined ? 0 : ACCESS_LINE.length);
  return {
    apiRequests: responseBytes === undefined ? 0 : 1,
    lambdaRequests: invocationsOf(budget, batches),
    lambdaGbSeconds: sum(
      invocations.map((invocation) => gigabytesOf(invocation) * (durationMs(invocation, batches) / 1_000)),
    ),
    writeUnits: writeUnits.tables + writeUnits.indexes + (writeUnits.cancelled ?? 0),
    readUnits,
    keyRequests,
    queueRequests: queued,
    fairQueueRequests: sent.includes("delivery") ? queued : 0,
    logGb: logged / GB,
    keptLogGbMonths: (logged / GB) * (retentionDays / MONTH_DAYS),
    dataOutGb: ((responseBytes ?? 0) + exchanges * assumed.exchangeBytes.out) / GB,
    natGb: (exchanges * assumed.exchangeBytes.through + keyRequests * assumed.keyRequestBytes) / GB,
  };
};

const sizeOf = ({ batch }: Invocation, batches: Batches): number =>
  batches === "full" && batch !== undefined ? batch.size : 1;

const invocationsOf = ({ invocations }: Budget, batches: Batches): number =>
  sum(invocations.map((invocation) => 1 / sizeOf(invocation, batches)));

/** Send, receive and delete. */
const queueRequests = (queue: keyof typeof queues, batches: Batches): number =>
  batches === "alone" ? 3 : 1 / BATCH_MESSAGES_MAX + 2 / queues[queue].batchSize;

/** What the functions of one request log, with what Lambda adds. */
export const functionLogBytes = (budget: Budget, batches: Batches = "alone"): number =>
  budget.log.bytes + invocationsOf(budget, batches) * lambdaLines.join("").length;

/** The additional usage for each 100 ms that an outside party takes longer. */
export const usageOfWaiting = ({ invocations }: Budget, batches: Batches): Usage => ({
  lambdaGbSeconds: sum(
    invocations
      .filter(({ waitsFor }) => waitsFor !== undefined)
      .map((invocation) => gigabytesOf(invocation) / 10 / sizeOf(invocation, batches)),
  ),
});

/**
 * How long a warm invocation lasts, or the share of it that one request of a full batch has: a batch waits once, and has
 * the CPU time of each.
 */
export const durationMs = (invocation: Invocation, batches: Batches = "alone"): number => {
  const { calls = [], keyRequests = 0, sends, waitsFor, batch } = invocation;
  const size = sizeOf(invocation, batches);
  const aloneMs =
    assumed.runMs +
    assumed.callMs * (calls.length + keyRequests + (sends === undefined ? 0 : 1)) +
    (waitsFor === undefined ? 0 : assumed.waitMs[waitsFor]);
  const cpuMs = (batch?.cpuMs ?? 0) * (VCPU_MB / specOf(invocation.function).memoryMb);
  return (aloneMs + (size - 1) * cpuMs) / size;
};

const gigabytesOf = (invocation: Invocation): number => {
  return specOf(invocation.function).memoryMb / 1_024;
};

export const times = (usage: Usage, count: number): Usage =>
  Object.fromEntries(Object.entries(usage).map(([name, quantity]) => [name, quantity * count]));
