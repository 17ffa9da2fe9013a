import { expect, test } from "vitest";
import { settingsOf } from "../../../../infra/stage-settings.ts";
import { stages } from "../../../../stages.ts";
import type { Budget } from "../../../../tools/costs/budgets.ts";
import { usageOf } from "../../../../tools/costs/request-usage.ts";

/** Costs that can be checked by hand: one function of 384 MB that waits for the upstream and sends a message. */
const budget: Budget = {
  title: "an order",
  invocations: [{ function: "purchase", calls: ["UpdateItem", "PutItem"], sends: "delivery", waitsFor: "upstream" }],
  writeUnits: { tables: 2, indexes: 1, cancelled: 4 },
  readUnits: 0.5,
  log: { events: ["request.answered"], bytes: 400 },
  responseBytes: 1_000,
};

test("the usage of a request is its budget and what Lambda and API Gateway add", () => {
  expect(usageOf(budget)).toMatchObject({
    apiRequests: 1,
    lambdaRequests: 1,
    // 15 ms of its own time, 3 calls of 5 ms and 1 s of waiting.
    lambdaGbSeconds: (384 / 1_024) * 1.03,
    writeUnits: 7,
    readUnits: 0.5,
    queueRequests: 3,
    fairQueueRequests: 3,
    dataOutGb: 0.000003,
    natGb: 0.000008,
  });
  // The function's line, and those of Lambda and API Gateway.
  expect(usageOf(budget).logGb).toBeGreaterThan(0.0000007);
  expect(usageOf(budget).logGb).toBeLessThan(0.000001);
});

test("in full batches the requests share an invocation, its waits and the requests to SQS, and each has its own CPU time", () => {
  const batched = budget.invocations.map((invocation) => ({ ...invocation, batch: { size: 10, cpuMs: 2 } }));
  const { lambdaRequests, lambdaGbSeconds, queueRequests } = usageOf({ ...budget, invocations: batched }, "full");
  expect(lambdaRequests).toBe(0.1);
  // 384 MB are 22 % of a vCPU: nine further requests of 9.2 ms.
  expect(lambdaGbSeconds).toBeCloseTo((384 / 1_024) * (0.103 + 9 * 0.00092), 4);
  // One is sent for ten messages, and the delivery queue's batches have five.
  expect(queueRequests).toBeCloseTo(0.5, 9);
});

test("the log of a request is paid for each month that prod keeps it", () => {
  const { logGb = 0, keptLogGbMonths } = usageOf(budget);
  expect(settingsOf("prod", stages).logRetentionDays).toBe(90);
  expect(keptLogGbMonths).toBeCloseTo(logGb * (90 / (730 / 24)), 15);
});
