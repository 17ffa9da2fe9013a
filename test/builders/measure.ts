import { expect } from "vitest";
import * as z from "zod";
import type { Budget } from "../../infra/budgets.ts";
import type { DynamoDbProxy } from "./dynamodb-proxy.ts";
import { type Observed, observe } from "./observe.ts";

const logLine = z.object({ event: z.string().default("figures") });
const READS: readonly string[] = ["GetItem", "BatchGetItem", "Query"];

/** Does a piece of work and expects it to take what its budget says: calls, capacity and lines of log. */
export const expectWithin = async <Result>(
  proxy: DynamoDbProxy,
  budget: Budget,
  work: () => Promise<Result>,
): Promise<Observed<Result>> => {
  const { events, bytes } = budget.log;
  const observed = await observe(proxy, events.length, work);
  const { calls, lines } = observed;
  const writes = calls.filter(({ operation }) => !READS.includes(operation));
  const reads = calls.filter(({ operation }) => READS.includes(operation));
  expect(calls.map(({ operation }) => operation)).toEqual(budget.runs.flatMap(({ calls = [] }) => calls));
  expect(sum(writes.map(({ tableUnits }) => tableUnits))).toBe(budget.writeUnits.tables);
  expect(sum(writes.map(({ indexUnits }) => indexUnits))).toBeLessThanOrEqual(budget.writeUnits.indexes);
  expect(sum(reads.map(({ tableUnits, indexUnits }) => tableUnits + indexUnits))).toBe(budget.readUnits);
  expect(lines.map((line) => logLine.parse(JSON.parse(line)).event)).toEqual(events);
  expect(Buffer.byteLength(lines.join(""))).toBeLessThanOrEqual(bytes);
  return observed;
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
