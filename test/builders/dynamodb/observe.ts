import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { logOutput } from "../../../shared/platform/log.ts";
import { sum } from "../../../shared/platform/sum.ts";
import { until } from "../run/until.ts";
import type { DynamoDbProxy } from "./dynamodb-proxy.ts";

/** The DynamoDB calls of some work, as they went over the wire, and its log lines. */
export type Observed<Result> = {
  readonly result: Result;
  readonly calls: DynamoDbProxy["calls"];
  readonly lines: readonly string[];
};

/** Runs work of the service in this process, and waits for the log lines that follow its end. */
export const observe = async <Result>(
  proxy: DynamoDbProxy,
  linesExpected: number,
  work: () => Promise<Result>,
): Promise<Observed<Result>> => {
  const lines: string[] = [];
  const { write } = logOutput;
  logOutput.write = (line): void => void lines.push(line);
  proxy.calls.length = 0;
  try {
    const result = await work();
    await until(`${linesExpected} lines of log`, () => lines.length >= linesExpected);
    return { result, calls: [...proxy.calls], lines };
  } finally {
    logOutput.write = write;
  }
};

const READS: readonly string[] = ["GetItem", "BatchGetItem", "Query"];

/** The capacity units of some calls. */
export const capacityOf = (calls: DynamoDbProxy["calls"]) => {
  const writes = calls.filter(({ operation }) => !READS.includes(operation));
  const reads = calls.filter(({ operation }) => READS.includes(operation));
  return {
    tableWriteUnits: sum(writes.map(({ tableUnits }) => tableUnits)),
    indexWriteUnits: sum(writes.map(({ indexUnits }) => indexUnits)),
    /** Writes whose condition failed. AWS charges for them and the emulator does not say how much: one unit each. */
    refusedWriteUnits: writes.filter(({ tableUnits }) => tableUnits === 0).length,
    readUnits: sum(reads.map(({ tableUnits, indexUnits }) => tableUnits + indexUnits)),
  };
};

/** An answer with its size on the wire, head and body. */
export type WeighedAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: number;
  readonly bodyBytes: number;
};

/** Sends one request on its own connection. The answer is not decompressed. */
export const weigh = async (
  method: "GET" | "POST",
  url: string,
  headers: Readonly<Record<string, string>>,
  body = "",
): Promise<WeighedAnswer> => {
  const answer = Promise.withResolvers<IncomingMessage>();
  const length = { "content-length": Buffer.byteLength(body) };
  request(url, { method, agent: false, headers: { "content-type": "application/json", ...headers, ...length } })
    .once("response", answer.resolve)
    .once("error", answer.reject)
    .end(body);
  const incoming = await answer.promise;
  const { length: bodyBytes } = await buffer(incoming);
  const { statusCode = 0, socket } = incoming;
  return { status: statusCode, headers: incoming.headers, bytes: socket.bytesRead, bodyBytes };
};
