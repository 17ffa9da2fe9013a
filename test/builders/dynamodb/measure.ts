import { expect } from "vitest";
import * as z from "#zod";
import type { Budget } from "../../../tools/costs/budgets.ts";
import type { DynamoDbProxy } from "./dynamodb-proxy.ts";
import { capacityOf, type Observed, observe } from "./observe.ts";

const logLine = z.object({ event: z._default(z.string(), "metrics") });

/** Runs the work and expects its DynamoDB calls, capacity and log lines to be within the budget. */
export const expectWithin = async <Result>(
  proxy: DynamoDbProxy,
  budget: Budget,
  work: () => Promise<Result>,
): Promise<Observed<Result>> => {
  const { events, bytes } = budget.log;
  const observed = await observe(proxy, events.length, work);
  const { calls, lines } = observed;
  const { tableWriteUnits, indexWriteUnits, readUnits } = capacityOf(calls);
  expect(calls.map(({ operation }) => operation)).toEqual(budget.invocations.flatMap(({ calls = [] }) => calls));
  expect(tableWriteUnits).toBe(budget.writeUnits.tables);
  expect(indexWriteUnits).toBeLessThanOrEqual(budget.writeUnits.indexes);
  expect(readUnits).toBe(budget.readUnits);
  expect(lines.map((line) => logLine.parse(JSON.parse(line)).event)).toEqual(events);
  expect(Buffer.byteLength(lines.join(""))).toBeLessThanOrEqual(bytes);
  return observed;
};
