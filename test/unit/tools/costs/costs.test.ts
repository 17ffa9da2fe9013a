import { describe, expect, test, vi } from "vitest";
import * as z from "#zod";
import { consoleFunctions } from "../../../../infra/functions.ts";
import { isOrder, type Route } from "../../../../shared/contract/route.ts";
import { appRoutes } from "../../../../shared/contract/routes.ts";
import { secretNames } from "../../../../shared/platform/secret-table.ts";
import { budgets } from "../../../../tools/costs/budgets.ts";
import { consoleRestCost, frontCosts, requestCosts, restCosts } from "../../../../tools/costs/costs.ts";
import { floodCosts } from "../../../../tools/costs/floods.ts";
import { dollarsOf, type PriceName, priceNames } from "../../../../tools/costs/prices.ts";
import { recoveryCosts, replicaUsage, standbyAddressUsage } from "../../../../tools/costs/recovery.ts";

test("a request costs the sum of what each service charges", () => {
  const costs = requestCosts();
  expect(costs.map(({ title }) => title)).toContain("live purchase");
  for (const { dollars, total } of costs) {
    expect(Object.values(dollars).reduce((sum, part) => sum + part, 0)).toBeCloseTo(total, 9);
  }
});

test("a million live purchases cost at most 15 USD", () => {
  const purchase = requestCosts().find(({ title }) => title === budgets.purchase.title);
  expect(purchase?.total).toBeLessThanOrEqual(15);
});

describe("restCosts", () => {
  const [none, one, two, three] = restCosts();

  test("a stage at rest pays for one NAT gateway and one address per zone", () => {
    const zone = 730 * (0.045 + 0.005);
    expect(two && one && two.total - one.total).toBeCloseTo(zone, 9);
    expect(three && two && three.total - two.total).toBeCloseTo(zone, 9);
    // A stage with `none` sells nothing, and has no alarm on direct writes.
    expect(one && none && one.total - none.total).toBeCloseTo(zone + 0.1, 9);
  });

  test("a stage at rest pays for the secrets, alarms, custom metrics and the dashboard of its stacks", () => {
    const used = (name: PriceName): number =>
      (none?.parts ?? []).reduce((sum, { usage }) => sum + (usage[name] ?? 0), 0);
    expect([used("secrets"), used("dashboards")]).toEqual([secretNames.length, 1]);
    expect(used("metrics")).toBeGreaterThan(5);
    expect(used("alarms")).toBeGreaterThan(60);
  });

  test("an alarm costs as many metrics as it watches: two are on a share and its count", () => {
    const [[alarms = 0, metrics = 0] = []] = (none?.parts ?? []).flatMap(({ title }) => {
      const [, ...counts] = /^(\d+) alarms on (\d+) metrics$/.exec(title) ?? [];
      return counts.length === 0 ? [] : [counts.map(Number)];
    });
    expect(metrics).toBe(alarms + 2);
  });
});

test("a console costs its alarms at rest, that of the silence of its schedule too, and the runs of that", () => {
  const { alarms, dollars } = consoleRestCost();
  expect(alarms).toBe(3 * consoleFunctions.length + 2);
  const run = requestCosts().find(({ title }) => title === budgets.notifications.title)?.total ?? 0;
  // EventBridge asks 1 USD for a million events.
  expect(dollars).toBeCloseTo(0.1 * alarms + ((run + 1) * 730 * 60) / 1_000_000, 9);
});

test("a REST API costs 2.50 USD more for a million requests, its web ACL 6 a month, and strangers its inspection only", () => {
  const [http, rest, closed] = frontCosts();
  expect(closed && http && closed.purchases - http.purchases).toBeCloseTo(2.5, 9);
  expect(rest && http && rest.purchases - http.purchases).toBeCloseTo(2.5 + 0.6, 9);
  expect([http?.rest, rest?.rest, closed?.rest]).toEqual([0, 6, 0]);
  expect(http?.strangers).toBe(requestCosts().find(({ title }) => title === budgets.malformedKey.title)?.total);
  expect([rest?.strangers, closed?.strangers]).toEqual([0.6, 0]);
});

describe("floodCosts", () => {
  const ofApps = (of: string) => floodCosts().find(({ attacker }) => attacker.startsWith(of));
  const million = (title: string) => requestCosts().find((cost) => cost.title === title)?.total ?? 0;

  test("a flood takes the limits of all routes of apps together, of which those for reads have half of an order's", () => {
    const { requestsPerSecond = 0, dollars } = ofApps("a stranger") ?? {};
    const routesOfApps = Object.values<Route>(appRoutes).filter(({ document }) => document === undefined);
    const limits = routesOfApps.map((route) => (isOrder(route) ? 200 : 100));
    expect(requestsPerSecond).toBe(limits.reduce((sum, limit) => sum + limit, 0));
    expect(dollars).toBeCloseTo((million(budgets.malformedKey.title) * requestsPerSecond * 86_400) / 1_000_000, 6);
  });

  test("a key within its limits costs a few USD a day, and beyond them no more than a stranger", () => {
    const [within, beyond, strangers] = ["a live key within", "a key beyond", "a stranger"].map(
      (of) => ofApps(of)?.dollars ?? 0,
    );
    expect(within).toBeLessThan(5);
    expect(beyond).toBe(strangers);
  });
});

test("copies in another region cost the backups of a week in both regions, and each copy, for every GB of the tables", () => {
  const [hourly, , daily] = recoveryCosts();
  expect(hourly?.dollars).toBeCloseTo(2 * 168 * 0.1 + 730 * 0.02, 9);
  expect(daily?.dollars).toBeCloseTo(2 * 7 * 0.1 + (730 / 24) * 0.02, 9);
  expect(replicaUsage()).toEqual({ secrets: 3 });
  expect(dollarsOf(standbyAddressUsage())).toBeCloseTo(730 * 0.005, 9);
});

test("npm run costs prints their data as JSON with --json", async () => {
  const print = vi.spyOn(console, "log").mockReturnValue();
  const { argv } = process;
  process.argv = ["node", "print.ts", "--json"];
  await import("../../../../tools/costs/print.ts");
  process.argv = argv;
  const printed = z
    .object({
      requests: z.array(z.looseObject({ title: z.string(), total: z.number() })),
      atRest: z.array(z.looseObject({ egress: z.string(), total: z.number() })),
      prices: z.record(z.string(), z.looseObject({ dollars: z.number() })),
    })
    .parse(JSON.parse(String(print.mock.lastCall)));
  expect(printed.requests.map(({ total }) => total)).toEqual(requestCosts().map(({ total }) => total));
  expect(printed.atRest.map(({ egress }) => egress)).toEqual(["none", "1 zone", "2 zones", "3 zones"]);
  expect(Object.keys(printed.prices)).toEqual(priceNames);
});
