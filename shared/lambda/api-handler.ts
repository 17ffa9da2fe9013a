import middy from "@middy/core";
import type { Context } from "aws-lambda";
import type * as z from "#zod";
import type { Admit, Call, Caller } from "../call/call.ts";
import { type OperationResult, type PreparedResponse, type Rate, unusedRate } from "../call/result.ts";
import { OutcomeUnknown, ServiceError } from "../contract/errors.ts";
import { headers } from "../contract/headers.ts";
import { isOrder, type Route, routeKey } from "../contract/route.ts";
import type { Deadline } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import { isTransient } from "../platform/transient-error.ts";
import { type ApiRequest, apiRequest, callRequest, parseInput } from "./api-request.ts";
import {
  type ApiResponse,
  commonHeaders,
  errorResponse,
  platformFailure,
  preparedResponse,
  successResponse,
} from "./api-response.ts";

/** The code that serves one route, typed by the route's own schemas. */
export type OperationOf<Served extends Pick<Route, "input" | "data">> = (
  call: Call<z.output<Served["input"]>>,
) => Promise<OperationResult<z.input<Served["data"]>> | PreparedResponse>;

/** Admits everybody, without a key and without counting the request. */
export const admitPublic: Admit = async ({ group }) => ({
  rate: unusedRate(group),
  caller: { accountId: "public", keyId: "public", mode: "test", entitlements: {} },
});

/** What is known of the request so far: it completes the response and the log line. */
type RequestProgress = {
  readonly startedAtMs: number;
  readonly requestId: string;
  rate: Rate;
  route?: Route;
  caller?: Caller;
  /** The caller's reference of an order, once its input is read. */
  callerReference?: string | undefined;
  deadline?: Deadline;
};
type ApiContext = Context & { progress?: RequestProgress };
export type ApiMiddleware = middy.MiddlewareObj<unknown, ApiResponse, Error, ApiContext>;

/**
 * The handler of one function: an operation for each of its routes, and everything that they share. Order of checks:
 * route, key, account, permission, address, rate, JSON, fields, and then the operation's own. Source: docs/interface.md
 * 4.D3.
 */
export const apiHandler = <Served extends { readonly [Name in keyof Served]: Route }>(
  routes: Served,
  admit: Admit,
  operations: { readonly [Name in keyof Served]: OperationOf<Served[Name]> },
) => {
  const byRouteKey = new Map<string, ServedRoute>();
  for (const name in routes) byRouteKey.set(routeKey(routes[name]), serve(routes[name], operations[name]));
  // middy's own early time-out would respond with an error while a purchase may be in progress.
  return middy<unknown, ApiResponse, Error, ApiContext>({ timeoutEarlyInMillis: 0 })
    .use(responseMiddleware)
    .handler(async (event: unknown, context: ApiContext): Promise<ApiResponse> => {
      const sent = apiRequest.parse(event);
      const progress = begin(context, sent);
      const match = byRouteKey.get(sent.routeKey);
      if (match === undefined) throw new ServiceError("not_found");
      progress.route = match.route;
      progress.rate = unusedRate(match.route.group);

      const request = callRequest(sent);
      const admission = await admit(match.route, request);
      progress.rate = admission.rate;
      if ("refusal" in admission) throw admission.refusal;
      progress.caller = admission.caller;
      const deadline = { remainingMs: () => context.getRemainingTimeInMillis() };
      progress.deadline = deadline;
      return match.serve(sent, { caller: admission.caller, request, deadline }, progress);
    });
};

type ServedRoute = {
  readonly route: Route;
  readonly serve: (
    sent: ApiRequest,
    call: Omit<Call<unknown>, "input">,
    progress: RequestProgress,
  ) => Promise<ApiResponse>;
};

/** Parses the input and the data of the response by the route's own schemas. */
const serve = <Input extends z.ZodMiniObject, Data extends z.ZodMiniType>(
  route: Route<Input, Data>,
  run: OperationOf<Route<Input, Data>>,
): ServedRoute => ({
  route,
  serve: async (sent, call, progress) => {
    const input = parseInput(route.input, sent);
    if (isOrder(route)) progress.callerReference = referenceIn(input);
    const result = await run({ ...call, input });
    if ("statusCode" in result) return preparedResponse(result);
    return successResponse({ ...result, data: route.data.parse(result.data) });
  },
});

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
  const fields = { request_id: progress?.requestId, ...errorFields(cause) };
  // No alarm: the caller retries, and there is nothing to fix if AWS did not answer once.
  if (isTransient(cause)) log.warn("request.not_served", fields);
  else log.alarm("request.failed", fields);
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
    upstream_ms: progress.deadline?.upstreamMs,
  });
};
