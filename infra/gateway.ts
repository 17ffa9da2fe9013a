import { isOrder, type Route, routeKey } from "../shared/contract/route.ts";
import { appRoutes, routes } from "../shared/contract/routes.ts";
import { type ConsoleRoute, consoleRoutes, operatorRoutes } from "./console-routes.ts";

/** The key of requests without a route. */
export const DEFAULT_ROUTE = "$default";

/**
 * A line of the access log, with API Gateway's variables. The route key, never the path: paths contain references, and
 * one contains a secret. `answered` is the status that the function returned, `invocation` the id in the lines that Lambda
 * itself writes, such as those of a time-out. No text of the caller, such as the user
 * agent: AWS documents no escaping, and alarms read the other fields of the line.
 */
export const accessLogFields = {
  request_id: "$context.requestId",
  invocation: "$context.awsEndpointRequestId",
  route: "$context.routeKey",
  status: "$context.status",
  answered: "$context.integration.status",
  latency_ms: "$context.responseLatency",
  error: "$context.error.message",
  source_ip: "$context.identity.sourceIp",
} as const;

/**
 * The same of a REST API, where a header of the caller can set `$context.requestId`, and where the message of an unknown
 * path with an `Authorization` header quotes the header, which is a key: the type of the answer stands for it. Sources:
 * AWS, "Variables for access logging for API Gateway"; amazon-archives/aws-cognito-angular-quickstart 50.
 */
export const restAccessLogFields: Readonly<Record<keyof typeof accessLogFields, string>> = {
  ...accessLogFields,
  request_id: "$context.extendedRequestId",
  route: "$context.httpMethod $context.resourcePath",
  error: "$context.error.responseType",
};

/** The routes that apps call with a key: those of a REST API, if the stage has one. */
export const callerRoutes: ReadonlyMap<string, Route> = new Map(
  Object.values(appRoutes).flatMap((route) => (route.document === undefined ? [[routeKey(route), route]] : [])),
);

/** A stage's rate limit, unless its settings have another. */
export const REQUESTS_PER_SECOND_MAX = 200;

/** Shares of the stage's rate limit. */
const SHARE_OF_READS = 0.5;
/** Anyone can load them, and the page has half a megabyte. */
const SHARE_OF_DOCUMENTS = 0.01;
const SHARE_OF_UNKNOWN = 0.1;

/** A page's first visit loads about ten files at once, and then reads what it shows. */
const CONSOLE_REQUESTS_MIN = 20;

const limitOf = (requestsPerSecondMax: number, share: number): number =>
  Math.max(1, Math.floor(requestsPerSecondMax * share));

/** A route's share of the stage's rate limit, in requests per second. */
export const requestsPerSecondOf = (route: Route, requestsPerSecondMax: number): number => {
  if (isOrder(route)) return limitOf(requestsPerSecondMax, 1);
  return limitOf(requestsPerSecondMax, route.document === undefined ? SHARE_OF_READS : SHARE_OF_DOCUMENTS);
};

const consoleRequestsPerSecondOf = ({ share }: ConsoleRoute, requestsPerSecondMax: number): number =>
  Math.max(CONSOLE_REQUESTS_MIN, limitOf(requestsPerSecondMax, share));

/**
 * The requests a second that each route takes, by its key. Each has a limit of its own, so that no other one can use up
 * that of the purchases.
 */
export const routeLimits = (requestsPerSecondMax: number): ReadonlyMap<string, number> =>
  new Map([
    ...Object.values<Route>(routes).map(
      (route) => [routeKey(route), requestsPerSecondOf(route, requestsPerSecondMax)] as const,
    ),
    ...[...consoleRoutes, ...operatorRoutes].map(
      (route) => [routeKey(route), consoleRequestsPerSecondOf(route, requestsPerSecondMax)] as const,
    ),
    [DEFAULT_ROUTE, limitOf(requestsPerSecondMax, SHARE_OF_UNKNOWN)],
  ]);
