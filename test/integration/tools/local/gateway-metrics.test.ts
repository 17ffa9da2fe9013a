import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "#zod";
import { consoleRoutes, operatorRoutes } from "../../../../infra/console-routes.ts";
import { accessLogFields, routeLimits } from "../../../../infra/gateway.ts";
import { type Route, routeKey } from "../../../../shared/contract/route.ts";
import { routes } from "../../../../shared/contract/routes.ts";
import { type Gateway, openGateway } from "../../../../tools/local/gateway.ts";
import { matchesFilter } from "../../../builders/cloudwatch/filter-pattern.ts";
import { aConsole } from "../../../builders/templates/console.ts";
import { templatesOf } from "../../../builders/templates/templates.ts";

const REQUESTS_PER_SECOND_MAX = 10;
const { service } = templatesOf("prod", { console: aConsole, requestsPerSecondMax: REQUESTS_PER_SECOND_MAX });
const stage = z
  .object({
    AccessLogSettings: z.object({ Format: z.string() }),
    RouteSettings: z.record(z.string(), z.object({ ThrottlingRateLimit: z.int() })),
  })
  .parse(service.all("AWS::ApiGatewayV2::Stage")[0]?.Properties);
const filters = service.all("AWS::Logs::MetricFilter").map(({ Properties }) =>
  z
    .object({
      FilterPattern: z.string(),
      MetricTransformations: z.tuple([z.object({ MetricName: z.string() })]),
    })
    .parse(Properties),
);

let lines: string[];
let gateway: Gateway;
beforeEach(async () => {
  lines = [];
  const limits = routeLimits(REQUESTS_PER_SECOND_MAX);
  const accessLog = (line: string): void => void lines.push(line);
  const all = [...Object.values<Route>(routes), ...consoleRoutes, ...operatorRoutes];
  gateway = await openGateway({ port: 0, routes: all, defaultFunction: "not-found", limits, accessLog });
  gateway.serve(async (name) => {
    if (name === "list-catalog") throw new Error("It crashed");
    return { statusCode: name === "check-identity" ? 500 : 200 };
  });
});
afterEach(() => gateway.close());

/** Sends requests of a route at once; resolves with the answers of the gateway's own limit. */
const send = async (route: Pick<Route, "method" | "path">, times: number): Promise<readonly string[]> => {
  const sent = Array.from({ length: times }, () => fetch(`${gateway.origin}${route.path}`, { method: route.method }));
  const answers = await Promise.all(sent);
  const refused = answers.filter(({ status }) => status === 429);
  return Promise.all(refused.map((answer) => answer.text()));
};

/** How often the metric filters of the stage count a line of the access log, by metric. */
const counted = (): Readonly<Record<string, number>> =>
  Object.fromEntries(
    filters.flatMap(({ FilterPattern, MetricTransformations: [{ MetricName }] }) => {
      const count = lines.filter((line) => matchesFilter(FilterPattern, line)).length;
      return count === 0 ? [] : [[MetricName, count]];
    }),
  );

describe("the local gateway is API Gateway with the stage's settings", () => {
  test("its limits and the fields of its access log are those of the template", () => {
    const limits = Object.entries(stage.RouteSettings).map(([key, { ThrottlingRateLimit }]) => [
      key,
      ThrottlingRateLimit,
    ]);
    expect(routeLimits(REQUESTS_PER_SECOND_MAX)).toEqual(new Map(Object.entries(Object.fromEntries(limits))));
    expect(JSON.parse(stage.AccessLogSettings.Format)).toEqual(accessLogFields);
  });

  test("requests beyond the limit of a document get API Gateway's 429 and raise no alarm", async () => {
    const refused = await send(routes.showDocs, 21);
    // A flood of them would cost some thousand dollars a month in transfer: half a megabyte each.
    expect(refused.length).toBeGreaterThanOrEqual(18);
    expect(new Set(refused)).toEqual(new Set(['{"message":"Too Many Requests"}']));
    expect(lines).toHaveLength(21);
    expect(counted()).toEqual({});
  });

  test("orders beyond the limit are counted as throttles of the gateway", async () => {
    const refused = await send(routes.buyData, 50);
    expect(refused.length).toBeGreaterThan(0);
    expect(counted()).toEqual({ "GatewayThrottles-prod": refused.length });
    expect(lines.filter((line) => line.includes('"429"')).map((line) => JSON.parse(line))[0]).toMatchObject({
      route: routeKey(routes.buyData),
      status: "429",
      answered: "-",
      error: "Too Many Requests",
    });
  });

  test("the limit of one route leaves the others alone", async () => {
    await send(routes.showDocs, 21);
    expect(await send(routes.buyData, 1)).toEqual([]);
  });

  test.each([
    ["crashes", routes.listCatalog, "-"],
    ["answers 500", routes.verifyNin, "500"],
  ])("a request whose function %s is counted as an error of the server", async (_what, route, answered) => {
    await send(route, 1);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ status: "500", answered }]);
    expect(counted()).toEqual({ "ServerErrors-prod": 1 });
  });
});
