import middy from "@middy/core";
import type { Context } from "aws-lambda";
import type * as z from "zod";
import type { Admit, Call, Caller } from "../call/call.ts";
import { type ApiRequest, apiEvent } from "../call/request.ts";
import { type OperationResult, type PreparedResponse, type Rate, unusedRate } from "../call/result.ts";
import { OutcomeUnknown, ServiceError } from "../contract/errors.ts";
import { headers } from "../contract/headers.ts";
import {
  isOrder,
  isRouteOf,
  type Route,
  type RouteName,
  type RouteOf,
  type RouteTable,
  routeKey,
  routes,
} from "../contract/routes.ts";
import { errorFields, log } from "../platform/log.ts";
import { parseInput } from "./api-request.ts";
import {
  type ApiResponse,
  commonHeaders,
  errorResponse,
  platformFailure,
  preparedResponse,
  successResponse,
} from "./api-response.ts";

/** The code that serves one route, typed by the route's own schemas. */
export type OperationOf<Name extends RouteName> = (
  call: Call<z.output<RouteTable[Name]["input"]>>,
) => Promise<OperationResult<z.input<RouteTable[Name]["data"]>> | PreparedResponse>;

/** The operations of one function, each under the name of its route. */
export type Operations<Function extends string> = {
  readonly [Name in RouteOf<Function>]: OperationOf<Name>;
};

/** Admits everybody, without a key and without counting the request. */
export const admitPublic: Admit = async ({ group }) => ({
  rate: unusedRate(group),
  caller: { accountId: "public", keyId: "public", mode: "test" },
});

/** What is known of the request so far: it completes the response and the log line. */
type RequestProgress = {
  readonly startedAtMs: number;
  readonly requestId: string;
  rate: Rate;
  route?: Route;
  caller?: Caller;
  /** Of an order, once its input is read. */
  callerReference?: string | undefined;
};
type ApiContext = Context & { progress?: RequestProgress };
export type ApiMiddleware = middy.MiddlewareObj<unknown, ApiResponse, Error, ApiContext>;

/**
 * The handler of one function, with everything that its routes share. Order of checks: route, key, account, permission,
 * address, rate, JSON, fields, and then the operation's own. Source: docs/interface.md 4.D3.
 */
export const apiHandler = <Function extends string>(
  functionName: Function,
  admit: Admit,
  operations: Operations<Function>,
) => {
  const names = Object.keys(operations).filter((name) => isRouteOf(name, functionName));
  const byRouteKey = new Map(names.map((name) => [routeKey(routes[name]), serve(name, operations[name])]));
  // middy's own early time-out would respond with an error while a purchase may be in progress.
  return middy<unknown, ApiResponse, Error, ApiContext>({ timeoutEarlyInMillis: 0 })
    .use(responseMiddleware)
    .handler(async (event: unknown, context: ApiContext): Promise<ApiResponse> => {
      const request = apiEvent.parse(event);
      const progress = begin(context, request);
      const match = byRouteKey.get(request.routeKey);
      if (match === undefined) throw new ServiceError("not_found");
      progress.route = match.route;
      progress.rate = unusedRate(match.route.group);

      const admission = await admit(match.route, request);
      progress.rate = admission.rate;
      if ("refusal" in admission) throw admission.refusal;
      progress.caller = admission.caller;
      const deadline = { remainingMs: () => context.getRemainingTimeInMillis() };
      return match.serve({ caller: admission.caller, request, deadline }, progress);
    });
};

type ServedRoute = {
  readonly route: Route;
  readonly serve: (call: Omit<Call<unknown>, "input">, progress: RequestProgress) => Promise<ApiResponse>;
};

/** Parses the input and the data of the response by the route's own schemas. */
const serve = <Name extends RouteName>(name: Name, run: OperationOf<Name>): ServedRoute => {
  const table: RouteTable = routes;
  const route = table[name];
  return {
    route,
    serve: async (call, progress) => {
      const input = parseInput(route.input, call.request);
      if (isOrder(route)) progress.callerReference = referenceIn(input);
      const result = await run({ ...call, input });
      if ("statusCode" in result) return preparedResponse(result);
      return successResponse({ ...result, data: route.data.parse(result.data) });
    },
  };
};

const referenceIn = (input: object): string | undefined =>
  "reference" in input && typeof input.reference === "string" ? input.reference : undefined;

const begin = (context: ApiContext, request: ApiRequest): RequestProgress => {
  context.progress = {
    startedAtMs: Date.now(),
    requestId: request.requestContext.requestId,
    rate: unusedRate("catalog"),
  };
  return context.progress;
};

/** Turns errors into responses, adds the common headers and writes the request's one log line. */
const responseMiddleware: ApiMiddleware = {
  after: ({ response, context }) => {
    if (response) complete(response, context.progress);
  },
  onError: (request) => {
    const { progress } = request.context;
    const error = publicError(request.error, progress);
    if (error instanceof OutcomeUnknown) {
      const { requestId: request_id, route } = progress ?? {};
      const fields = { request_id, route: route && routeKey(route), ...errorFields(error.cause ?? error) };
      log.warn("request.outcome_unknown", fields);
      request.response = platformFailure();
      return;
    }
    request.response = errorResponse(error);
    complete(request.response, progress, error);
  },
};

/**
 * The error that the caller gets. An unexpected one is `internal_error`, except for an order: it, or an earlier one
 * with its reference, may have been charged, so its outcome is unknown.
 */
const publicError = (error: unknown, progress: RequestProgress | undefined): ServiceError | OutcomeUnknown => {
  if (error instanceof OutcomeUnknown) return error;
  if (error instanceof ServiceError && error.code !== "internal_error") return error;
  const cause = error instanceof ServiceError ? error.cause : error;
  log.alarm("request.failed", { request_id: progress?.requestId, ...errorFields(cause) });
  if (error instanceof ServiceError) return error;
  if (progress?.route && isOrder(progress.route)) return new OutcomeUnknown("An order met an unexpected error");
  return new ServiceError("internal_error");
};

const complete = (response: ApiResponse, progress: RequestProgress | undefined, error?: ServiceError): void => {
  if (progress === undefined) return;
  const { rate, requestId, callerReference } = progress;
  Object.assign(
    response.headers,
    commonHeaders(rate, requestId),
    callerReference !== undefined && { [headers.callerReference]: callerReference },
  );
  log.info("request.answered", {
    request_id: progress.requestId,
    route: progress.route && routeKey(progress.route),
    status: response.statusCode,
    code: error?.code,
    account: progress.caller?.accountId,
    key: progress.caller?.keyId,
    mode: progress.caller?.mode,
    reference: response.headers["x-transaction-reference"],
    duration_ms: Date.now() - progress.startedAtMs,
  });
};
