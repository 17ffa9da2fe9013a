import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { projectRoot } from "../../../../infra/bundle/bundle.ts";
import { secretNames } from "../../../../shared/platform/secret-table.ts";
import type { Budget } from "../../../../tools/costs/budgets.ts";
import { requestCosts, restCosts } from "../../../../tools/costs/costs.ts";
import { dollarsOf, type PriceName, priceNames, prices } from "../../../../tools/costs/prices.ts";
import { usageOf } from "../../../../tools/costs/request-usage.ts";

describe("a price", () => {
  test.each(priceNames)("the price of %s has a source with its date and the date of reading", (name) => {
    const { dollars, per, unit, source } = prices[name];
    expect(dollars).toBeGreaterThan(0);
    expect(per).toBeGreaterThan(0);
    expect(unit).not.toBe("");
    expect(z.url({ protocol: /^https$/ }).safeParse(source.url).success).toBe(true);
    expect(z.iso.date().safeParse(source.read).success).toBe(true);
    expect(source.dated === "undated" || source.dated <= source.read).toBe(true);
  });
});

/** Costs that can be checked by hand: one function of 1 GB that waits for the upstream and sends a message. */
const budget: Budget = {
  title: "an order",
  invocations: [{ function: "purchase", calls: ["UpdateItem", "PutItem"], sends: "delivery", waitsFor: "upstream" }],
  writeUnits: { tables: 2, indexes: 1, cancelled: 4 },
  readUnits: 0.5,
  log: { events: ["request.answered"], bytes: 400 },
  responseBytes: 1_000,
};

describe("a request", () => {
  test("the usage of a request is its budget and what Lambda and API Gateway add", () => {
    expect(usageOf(budget)).toMatchObject({
      apiRequests: 1,
      lambdaRequests: 1,
      // 10 ms of its own time, 3 calls of 5 ms and 1 s of waiting.
      lambdaGbSeconds: 1.025,
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

  test("a request costs the sum of what each service charges", () => {
    for (const { dollars, total } of requestCosts()) {
      expect(Object.values(dollars).reduce((sum, part) => sum + part, 0)).toBeCloseTo(total, 9);
    }
    expect(dollarsOf({ writeUnits: 7_000_000, queueRequests: 3_000_000, fairQueueRequests: 3_000_000 })).toBeCloseTo(
      7 * 0.625 + 3 * 0.5,
      9,
    );
  });
});

describe("a stage at rest", () => {
  const [none, one, two, three] = restCosts();

  test("a stage at rest pays for one NAT gateway and one address per zone", () => {
    const zone = 730 * (0.045 + 0.005);
    expect(two && one && two.total - one.total).toBeCloseTo(zone, 9);
    expect(three && two && three.total - two.total).toBeCloseTo(zone, 9);
    expect(one && none && one.total - none.total).toBeCloseTo(zone, 9);
  });

  test("a stage at rest pays for the secrets, alarms, custom metrics and the dashboard of its stacks", () => {
    const used = (name: PriceName): number =>
      (none?.parts ?? []).reduce((sum, { usage }) => sum + (usage[name] ?? 0), 0);
    expect([used("secrets"), used("metrics"), used("dashboards")]).toEqual([secretNames.length, 5, 1]);
    expect(used("alarms")).toBeGreaterThan(60);
  });
});

describe("npm run costs", () => {
  const run = (...args: readonly string[]) =>
    promisify(execFile)(process.execPath, ["tools/costs/print.ts", ...args], { cwd: projectRoot });

  test("npm run costs prints the tables of docs/deployment.md", async () => {
    const { stdout } = await run();
    expect(stdout).toContain("| live purchase | 1.00 |");
    expect(stdout).toContain("| NAT gateways |");
  });

  test("npm run costs prints their data as JSON with --json", async () => {
    const { stdout } = await run("--json");
    const printed = z
      .object({
        requests: z.array(z.looseObject({ title: z.string(), total: z.number() })),
        atRest: z.array(z.looseObject({ egress: z.string(), total: z.number() })),
        prices: z.record(z.string(), z.looseObject({ dollars: z.number() })),
      })
      .parse(JSON.parse(stdout));
    expect(printed.requests.map(({ total }) => total)).toEqual(requestCosts().map(({ total }) => total));
    expect(printed.atRest.map(({ egress }) => egress)).toEqual(["none", "1 zone", "2 zones", "3 zones"]);
    expect(Object.keys(printed.prices)).toEqual(priceNames);
  });

  test("npm run costs refuses another option with a message", async () => {
    await expect(run("--yaml")).rejects.toMatchObject({
      code: 1,
      stderr: "The only option is --json: npm run costs -- --json.\n",
    });
  });
});
