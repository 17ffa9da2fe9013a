import type { IncomingMessage, ServerResponse } from "node:http";
import { authenticate, authorize, type Rate, rateHeaders } from "./access.ts";
import { handleControl } from "./control.ts";
import { routeFor } from "./endpoints.ts";
import { type ActiveFaults, processesRequest, sendFault } from "./faults.ts";
import {
  errorResponse,
  HttpError,
  type JsonResponse,
  parseJson,
  type RequestBody,
  readBody,
  sendJson,
} from "./http.ts";
import { sloppyResponse } from "./manner.ts";
import type { SimulatorState } from "./state.ts";

export const VERSION_PREFIX = "/v1";
export const CONTROL_PREFIX = "/_simulator";

const JSON_TYPE = /^application\/json\b/i;
const NO_FAULTS: ActiveFaults = { delayMs: 0, responseFault: undefined };

type HttpExchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly path: string;
};
type Processed = { readonly rate: Rate; readonly result: JsonResponse | "stall" };

/** Handles one request. An unexpected error is a 500 or a closed connection, and never ends the process. */
export const handleRequest = async (
  state: SimulatorState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const exchange = { request, response, method: request.method ?? "GET", path: pathOf(request) };
  try {
    await (exchange.path.startsWith(`${CONTROL_PREFIX}/`) ? serveControl : serveUpstream)(state, exchange);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else sendJson(response, errorResponse(error), rateHeaders(uncountedRate(state, exchange)));
  }
};

const serveControl = async (
  state: SimulatorState,
  { request, response, method, path }: HttpExchange,
): Promise<void> => {
  const route = `${method} ${path.slice(CONTROL_PREFIX.length)}`;
  sendJson(response, await handleControl(state, route, await readBody(request)), {}, 2);
};

const serveUpstream = async (state: SimulatorState, exchange: HttpExchange): Promise<void> => {
  const { request, response, method, path } = exchange;
  const isVersioned = path.startsWith(`${VERSION_PREFIX}/`);
  const { delayMs, responseFault } = isVersioned
    ? state.faults.take(method, path.slice(VERSION_PREFIX.length))
    : NO_FAULTS;

  if (responseFault?.kind === "drop_before_reading") {
    await state.timers.wait(delayMs);
    response.destroy();
    return;
  }
  const body = await readBody(request);
  if (responseFault !== undefined && !processesRequest(responseFault)) {
    await state.timers.wait(delayMs);
    return sendFault(responseFault, response, rateHeaders(uncountedRate(state, exchange)));
  }

  const { rate, result } = processRequest(state, exchange, body);
  // The order is placed before the delay begins: a caller that disconnects during it has still bought.
  await state.timers.wait(delayMs);
  if (responseFault !== undefined) return sendFault(responseFault, response, rateHeaders(rate));
  if (result !== "stall") {
    const sent = state.settings.manner === "sloppy" ? sloppyResponse(result) : result;
    return sendJson(response, sent, rateHeaders(rate));
  }
  await state.timers.wait(state.settings.stallMs);
  response.destroy();
};

/** Precedence: 404, 401, 403, 429, then the endpoint's own errors. */
const processRequest = (state: SimulatorState, exchange: HttpExchange, body: RequestBody): Processed => {
  const { request, method, path } = exchange;
  const route = routeOf(exchange);
  let rate = uncountedRate(state, exchange);
  try {
    if (route === undefined) throw new HttpError(404, "The resource does not exist.");
    const { liveKeys, testKey, manner } = state.settings;
    const isStrict = manner === "strict";
    // On this machine there is only plain HTTP: what is in front of a simulator says how the request came.
    if (isStrict && request.headers["x-forwarded-proto"] === "http") throw new HttpError(400, "HTTPS is required.");
    const caller = authenticate(request.headers, { live: liveKeys, test: testKey }, isStrict);
    const restricted = state.restricted || state.restrictedKeys.has(caller.key);
    authorize(request.socket.remoteAddress ?? "", { restricted, whitelist: state.whitelist });
    rate = state.rates.count(caller.key, route.group, rate.limit);
    if (rate.isExceeded) throw new HttpError(429, "Too many requests.");
    const isJson = JSON_TYPE.test(request.headers["content-type"] ?? "");
    // Only purchases require a content type (docs/interface.md 4.1, 16.D8).
    if (route.group === "vtu" && !isJson) throw new HttpError(400, "The Content-Type must be application/json.");
    const fields = method === "POST" ? parseJson(body) : undefined;
    const result = route.run({ state, path: path.slice(VERSION_PREFIX.length), caller, body: fields });
    return { rate, result: result.kind === "stall" ? "stall" : { status: 200, body: result.body } };
  } catch (error) {
    return { rate, result: errorResponse(error) };
  }
};

/** The rate of a request that is not counted: without a valid key or route, or intercepted by a fault. */
const uncountedRate = (state: SimulatorState, exchange: HttpExchange): Rate => {
  const limit = state.limits[routeOf(exchange)?.group ?? "catalog"];
  return { limit, remaining: limit, isExceeded: false };
};

const routeOf = ({ method, path }: HttpExchange) =>
  path.startsWith(VERSION_PREFIX) ? routeFor(method, path.slice(VERSION_PREFIX.length)) : undefined;

const pathOf = (request: IncomingMessage): string => {
  const [path = "/"] = (request.url ?? "/").split("?", 1);
  return path;
};
