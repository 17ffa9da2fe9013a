import { accessLogLine } from "../../infra/access-log.ts";
import { specOf } from "../../infra/functions.ts";
import { settingsOf } from "../../infra/stages.ts";
import { sum } from "../../shared/platform/sum.ts";
import type { Budget, Invocation } from "./budgets.ts";
import type { Usage } from "./prices.ts";

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
  routeKey: "POST /v1/identity/nin/retrieve",
  status: 200,
  answered: 200,
  latencyMs: 1234,
  error: undefined,
  sourceIp: "203.0.113.250",
});

const GB = 1_000_000_000;
const MONTH_DAYS = 730 / 24;
/** How long the committed stage that sells keeps its logs. */
const { logRetentionDays: retentionDays } = settingsOf("prod");

/** The billed usage of one request that takes all of its budget. */
export const usageOf = (budget: Budget): Usage => {
  const { invocations, writeUnits, readUnits, responseBytes } = budget;
  const sent = invocations.flatMap(({ sends }) => sends ?? []);
  const exchanges = invocations.filter(({ waitsFor }) => waitsFor !== undefined).length;
  const keyRequests = sum(invocations.map(({ keyRequests = 0 }) => keyRequests));
  const logged = functionLogBytes(budget) + (responseBytes === undefined ? 0 : ACCESS_LINE.length);
  return {
    apiRequests: responseBytes === undefined ? 0 : 1,
    lambdaRequests: invocations.length,
    lambdaGbSeconds: sum(invocations.map((invocation) => gigabytesOf(invocation) * (durationMs(invocation) / 1_000))),
    writeUnits: writeUnits.tables + writeUnits.indexes + (writeUnits.cancelled ?? 0),
    readUnits,
    keyRequests,
    // Send, receive and delete, for a message that is alone in its batch.
    queueRequests: 3 * sent.length,
    fairQueueRequests: 3 * sent.filter((queue) => queue === "delivery").length,
    logGb: logged / GB,
    keptLogGbMonths: (logged / GB) * (retentionDays / MONTH_DAYS),
    dataOutGb: ((responseBytes ?? 0) + exchanges * assumed.exchangeBytes.out) / GB,
    natGb: (exchanges * assumed.exchangeBytes.through + keyRequests * assumed.keyRequestBytes) / GB,
  };
};

/** What the functions of one request log, with what Lambda adds. */
export const functionLogBytes = ({ invocations, log }: Budget): number =>
  log.bytes + invocations.length * lambdaLines.join("").length;

/** The additional usage for each 100 ms that an outside party takes longer. */
export const usageOfWaiting = ({ invocations }: Budget): Usage => ({
  lambdaGbSeconds: sum(
    invocations.map((invocation) => (invocation.waitsFor === undefined ? 0 : gigabytesOf(invocation) / 10)),
  ),
});

/** How long a warm invocation lasts. */
export const durationMs = ({ calls = [], keyRequests = 0, sends, waitsFor }: Invocation): number =>
  assumed.runMs +
  assumed.callMs * (calls.length + keyRequests + (sends === undefined ? 0 : 1)) +
  (waitsFor === undefined ? 0 : assumed.waitMs[waitsFor]);

const gigabytesOf = (invocation: Invocation): number => {
  return specOf(invocation.function).memoryMb / 1_024;
};

/** A usage multiplied by a count. */
export const times = (usage: Usage, count: number): Usage =>
  Object.fromEntries(Object.entries(usage).map(([name, quantity]) => [name, quantity * count]));
