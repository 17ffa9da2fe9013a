import middy from "@middy/core";
import type { Context } from "aws-lambda";
import type * as z from "zod";
import { OutcomeUnknown, ServiceError } from "../contract/errors.ts";
import { rateGroups } from "../contract/limits.ts";
import type { OperationOf, Route } from "../contract/routes.ts";
import { isOrder, routeKey } from "../contract/routes.ts";
import type { Mode } from "../contract/transaction.ts";
import type { Deadline } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import { type ApiRequest, apiEvent, parseInput } from "./api-request.ts";
import {
  type ApiResponse,
  commonHeaders,
  errorResponse,
  type OperationResult,
  type PreparedResponse,
  preparedResponse,
  type Rate,
  successResponse,
} from "./api-response.ts";

/** Who calls, as the key says. */
export type Caller = { readonly accountId: string; readonly keyId: string; readonly mode: Mode };

/** The gate's verdict: the caller, or why there is none. The rate is known either way once a key was recognised. */
export type Admission =
  | { readonly rate: Rate; readonly caller: Caller }
  | { readonly rate: Rate; readonly refusal: ServiceError };
export type Admit = (route: Route, request: ApiRequest) => Promise<Admission>;

/** One admitted request with its parsed input. */
export type Call<Input> = {
  readonly input: Input;
  readonly caller: Caller;
  readonly request: ApiRequest;
  readonly deadline: Deadline;
};

/** A route with the code that serves it, its types already settled. */
export type Operation = {
  readonly route: Route;
  readonly serve: (caller: Caller, request: ApiRequest, deadline: Deadline) => Promise<ApiResponse>;
};

/** Binds a route to its code: input and answer are parsed by the route's own schemas. */
export const operation = <Input extends z.ZodObject, Data extends z.ZodType>(
  route: Route<Input, Data>,
  run: (call: Call<z.output<Input>>) => Promise<OperationResult<z.input<Data>> | PreparedResponse>,
): Operation => ({
  route,
  serve: async (caller, request, deadline) => {
    const answer = await run({ input: parseInput(route.input, request), caller, request, deadline });
    if ("statusCode" in answer) return preparedResponse(answer);
    return successResponse({ ...answer, data: route.data.parse(answer.data) });
  },
});

/** The gate of what is public: no key, no count. */
export const admitPublic: Admit = async (route) => ({
  rate: fullRate(route),
  caller: { accountId: "public", keyId: "public", mode: "test" },
});

/** What is known of the request while it is served. */
type Progress = {
  readonly startedAtMs: number;
  readonly requestId: string;
  rate: Rate;
  route?: Route;
  caller?: Caller;
};
type ApiContext = Context & { progress?: Progress };

/**
 * The handler of one function: middy with everything that all routes share.
 *
 * Order of the gates: route, key, account, permission, address, rate, JSON, fields, and then the operation's own.
 */
export const apiHandler = <Name extends string>(
  _function: Name,
  admit: Admit,
  operations: Readonly<Record<OperationOf<Name>, Operation>>,
) => {
  const byRouteKey = new Map(
    Object.values<Operation>(operations).map((bound): [string, Operation] => [routeKey(bound.route), bound]),
  );
  // middy's own early time-out would answer with an error while a purchase may be under way.
  return middy<unknown, ApiResponse, Error, ApiContext>({ timeoutEarlyInMillis: 0 })
    .use(answering())
    .handler(async (event: unknown, context: ApiContext): Promise<ApiResponse> => {
      const request = apiEvent.parse(event);
      const progress = begin(context, request);
      const bound = byRouteKey.get(request.routeKey);
      if (bound === undefined) throw new ServiceError("not_found");
      progress.route = bound.route;
      progress.rate = fullRate(bound.route);

      const admission = await admit(bound.route, request);
      progress.rate = admission.rate;
      if ("refusal" in admission) throw admission.refusal;
      progress.caller = admission.caller;
      return bound.serve(admission.caller, request, { remainingMs: () => context.getRemainingTimeInMillis() });
    });
};

const fullRate = ({ group }: Pick<Route, "group">): Rate => ({
  limit: rateGroups[group],
  remaining: rateGroups[group],
});

const begin = (context: ApiContext, request: ApiRequest): Progress => {
  context.progress = {
    startedAtMs: Date.now(),
    requestId: request.requestContext.requestId,
    rate: fullRate({ group: "catalog" }),
  };
  return context.progress;
};

/** Turns errors into answers, completes the headers and writes the request's one log line. */
const answering = (): middy.MiddlewareObj<unknown, ApiResponse, Error, ApiContext> => ({
  after: ({ response, context }) => {
    if (response) complete(response, context.progress);
  },
  onError: (request) => {
    const { progress } = request.context;
    const error = answerable(request.error, progress);
    if (error instanceof OutcomeUnknown) {
      // Nobody answers: the caller meets the platform's own 5xx, which says what we know. See OutcomeUnknown.
      const { requestId: request_id, route } = progress ?? {};
      const fields = { request_id, route: route && routeKey(route), ...errorFields(error.cause ?? error) };
      log.warn("request.outcome_unknown", fields);
      request.error = error;
      return;
    }
    request.response = errorResponse(error);
    complete(request.response, progress, error);
  },
});

/**
 * The error as it may leave. One that nobody foresaw is `internal_error`; of an order it says nothing, because the order, or an
 * earlier one with its reference, may have been charged.
 */
const answerable = (error: unknown, progress: Progress | undefined): ServiceError | OutcomeUnknown => {
  if (error instanceof OutcomeUnknown) return error;
  if (error instanceof ServiceError && error.code !== "internal_error") return error;
  const cause = error instanceof ServiceError ? error.cause : error;
  log.alarm("request.failed", { request_id: progress?.requestId, ...errorFields(cause) });
  if (error instanceof ServiceError) return error;
  if (progress?.route && isOrder(progress.route)) return new OutcomeUnknown("An order broke");
  return new ServiceError("internal_error");
};

const complete = (response: ApiResponse, progress: Progress | undefined, error?: ServiceError): void => {
  if (progress === undefined) return;
  Object.assign(response.headers, commonHeaders(progress.rate, progress.requestId));
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
