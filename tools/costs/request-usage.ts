import { type FunctionSpec, functionSpecs } from "../../infra/functions.ts";
import type { Budget, Run } from "./budgets.ts";
import type { Usage } from "./prices.ts";

/** What only an account on AWS could tell, and is assumed here. A function is warm, and pays for the time that it waits. */
export const assumed = {
  /** Of a function's own time, and of one call to DynamoDB or SQS. */
  runMs: 10,
  callMs: 5,
  /** Until the other side has answered, TLS handshake included. */
  waitMs: { upstream: 1_000, app: 200 },
  /** One exchange with the other side: through the NAT gateway in both directions, and of that, out. */
  exchangeBytes: { through: 8_000, out: 2_000 },
};

/** What Lambda writes by itself, and puts before each line of ours. Source: AWS, "Log and monitor Node.js Lambda functions". */
const INVOCATION = "c793869b-ee49-115b-a5b6-4fd21e8dedac";
const linesOfLambda = [
  `START RequestId: ${INVOCATION} Version: $LATEST`,
  `END RequestId: ${INVOCATION}`,
  `REPORT RequestId: ${INVOCATION}\tDuration: 1234.56 ms\tBilled Duration: 1235 ms\tMemory Size: 1024 MB\tMax Memory Used: 123 MB\t`,
];
const LINE_HEAD = `2026-11-21T12:00:00.000Z\t${INVOCATION}\tINFO\t`;
/** API Gateway's line about a request, in the form of infra/constructs/api.ts. */
const ACCESS_LINE =
  '{"request_id":"JKJaXmPLvHcESHA=","route":"POST /v1/identity/nin/retrieve","status":"200","answered":"200","latency_ms":"1234","error":"-"}';

const GB = 1_000_000_000;

/** What one request uses of what AWS charges for, if it takes all of its budget. */
export const usageOf = (budget: Budget): Usage => {
  const { runs, writeUnits, readUnits, log, answerBytes } = budget;
  const sent = runs.flatMap(({ sends }) => sends ?? []);
  const exchanges = runs.filter(({ asks }) => asks !== undefined).length;
  const logged =
    log.bytes +
    log.events.length * LINE_HEAD.length +
    runs.length * linesOfLambda.join("").length +
    (answerBytes === undefined ? 0 : ACCESS_LINE.length);
  return {
    apiRequests: answerBytes === undefined ? 0 : 1,
    lambdaRequests: runs.length,
    lambdaGbSeconds: sum(runs.map((run) => gigabytesOf(run) * (durationMs(run) / 1_000))),
    writeUnits: writeUnits.tables + writeUnits.indexes + (writeUnits.refused ?? 0),
    readUnits,
    // Sent, received and deleted; a message that is alone in its batch has these for itself.
    queueRequests: 3 * sent.length,
    fairQueueRequests: 3 * sent.filter((queue) => queue === "delivery").length,
    logGb: logged / GB,
    dataOutGb: ((answerBytes ?? 0) + exchanges * assumed.exchangeBytes.out) / GB,
    natGb: (exchanges * assumed.exchangeBytes.through) / GB,
  };
};

/** What each 100 ms add that the other side takes longer. */
export const usageOfWaiting = ({ runs }: Budget): Usage => ({
  lambdaGbSeconds: sum(runs.map((run) => (run.asks === undefined ? 0 : gigabytesOf(run) / 10))),
});

const durationMs = ({ calls = [], sends, asks }: Run): number =>
  assumed.runMs +
  assumed.callMs * (calls.length + (sends === undefined ? 0 : 1)) +
  (asks === undefined ? 0 : assumed.waitMs[asks]);

const gigabytesOf = (run: Run): number => {
  const { memoryMb }: FunctionSpec = functionSpecs[run.function];
  return memoryMb / 1_024;
};

/** A usage so many times over. */
export const times = (usage: Usage, count: number): Usage =>
  Object.fromEntries(Object.entries(usage).map(([name, quantity]) => [name, quantity * count]));

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
