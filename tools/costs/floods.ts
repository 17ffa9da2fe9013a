import { callerRoutes, DEFAULT_ROUTE, REQUESTS_PER_SECOND_MAX, routeLimits } from "../../infra/gateway.ts";
import { rateGroups } from "../../shared/contract/limits.ts";
import { routeKey } from "../../shared/contract/route.ts";
import { receiveUpstreamEventRoutes, serveDocsRoutes } from "../../shared/contract/routes.ts";
import { sum } from "../../shared/platform/sum.ts";
import { budgets, publicFileBytes } from "./budgets.ts";
import { dollarsOf, type Usage } from "./prices.ts";
import { times, usageOf } from "./request-usage.ts";

type FloodCost = {
  readonly attacker: string;
  readonly requestsPerSecond: number;
  readonly each: string;
  /** USD a day, if it lasts for all of it. */
  readonly dollars: number;
};

const DAY_S = 86_400;
const limits = routeLimits(REQUESTS_PER_SECOND_MAX);
const limitOf = (...keys: readonly string[]): number => sum(keys.map((key) => limits.get(key) ?? 0));

const floodOf = (attacker: string, requestsPerSecond: number, each: string, usage: Usage): FloodCost => ({
  attacker,
  requestsPerSecond,
  each,
  dollars: dollarsOf(times(usage, requestsPerSecond * DAY_S)),
});

const publicFileOf = (bytes: number): Usage => usageOf({ ...budgets.malformedKey, responseBytes: bytes });

/**
 * The most that those cost who want the company to pay, with `front: http` and the default limit. API Gateway applies a limit to
 * each route, and charges nothing for what it refuses by one. Sources: AWS, "Throttle requests to your HTTP APIs"; AWS re:Post,
 * "Does AWS charge for throttled requests".
 */
export const floodCosts = (): readonly FloodCost[] => {
  const ofApps = limitOf(...callerRoutes.keys());
  const unknown = limitOf(DEFAULT_ROUTE, routeKey(receiveUpstreamEventRoutes.receiveUpstreamEvent));
  const { malformedKey, overLimit, refundedPurchase, webhook } = budgets;
  const withWebhook = dollarsOf(usageOf(refundedPurchase)) + dollarsOf(usageOf(webhook));
  const purchases = rateGroups.vtu.requestsPerMinute / 60;
  return [
    floodOf("a stranger, on all routes of apps", ofApps, malformedKey.title, usageOf(malformedKey)),
    floodOf(
      "a stranger, on unknown paths and events without the token",
      unknown,
      malformedKey.title,
      usageOf(malformedKey),
    ),
    floodOf(
      "a stranger, on the console's pages",
      limitOf("GET /console/{path+}"),
      "the largest file",
      publicFileOf(publicFileBytes["serve-console"]),
    ),
    floodOf(
      "a stranger, on the documentation page",
      limitOf(routeKey(serveDocsRoutes.showDocs)),
      "the page",
      publicFileOf(publicFileBytes["serve-docs"]),
    ),
    floodOf("a key beyond its limits, on all routes of apps", ofApps, overLimit.title, usageOf(overLimit)),
    {
      attacker: "a live key within its limits",
      requestsPerSecond: purchases,
      each: `${refundedPurchase.title}, and its webhook`,
      dollars: withWebhook * purchases * DAY_S,
    },
  ];
};
