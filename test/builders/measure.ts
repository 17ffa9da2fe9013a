import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { expect, vi } from "vitest";
import * as z from "zod";
import type { Budget } from "../../infra/budgets.ts";
import type { DynamoDbProxy } from "./dynamodb-proxy.ts";

const logLine = z.object({ event: z.string().default("figures") });
const READS: readonly string[] = ["GetItem", "BatchGetItem", "Query"];

/**
 * Does a piece of work and expects it to take what its budget says: calls and capacity as they go over the wire, lines as they are
 * logged. It waits for the lines of what goes on after the work's own end. Resolves with the work's result and the lines.
 */
export const expectWithin = async <Result>(
  proxy: DynamoDbProxy,
  budget: Budget,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly lines: readonly string[] }> => {
  const lines: string[] = [];
  const spy = vi.spyOn(console, "log").mockImplementation((line: unknown) => void lines.push(String(line)));
  proxy.calls.length = 0;
  try {
    const result = await work();
    const { events, bytes } = budget.log;
    await vi.waitFor(() => expect(lines.length).toBeGreaterThanOrEqual(events.length), { timeout: 5_000 });
    const writes = proxy.calls.filter(({ operation }) => !READS.includes(operation));
    const reads = proxy.calls.filter(({ operation }) => READS.includes(operation));
    expect(proxy.calls.map(({ operation }) => operation)).toEqual(budget.runs.flatMap(({ calls = [] }) => calls));
    expect(sum(writes.map(({ tableUnits }) => tableUnits))).toBe(budget.writeUnits.tables);
    expect(sum(writes.map(({ indexUnits }) => indexUnits))).toBeLessThanOrEqual(budget.writeUnits.indexes);
    expect(sum(reads.map(({ tableUnits, indexUnits }) => tableUnits + indexUnits))).toBe(budget.readUnits);
    expect(lines.map((line) => logLine.parse(JSON.parse(line)).event)).toEqual(events);
    expect(Buffer.byteLength(lines.join(""))).toBeLessThanOrEqual(bytes);
    return { result, lines };
  } finally {
    spy.mockRestore();
  }
};

/** An answer with its size on the wire, head and body. */
export type WeighedAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: number;
  readonly bodyBytes: number;
};

/** One request on a connection of its own, whose answer stays as it came: compressed, where it is. */
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

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
