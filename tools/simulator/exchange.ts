import type { IncomingMessage, ServerResponse } from "node:http";
import { admit, authenticate, type Rate, rateHeaders } from "./access.ts";
import { answerControl } from "./control.ts";
import { routes } from "./endpoints.ts";
import { misbehave, type Trouble, takesOrder } from "./faults.ts";
import type { Reply } from "./fulfilment.ts";
import type { SimulatorState } from "./state.ts";
import { type Answer, parseJson, Refusal, type RequestBody, readBody, refusalAnswer, send } from "./wire.ts";

export const VERSION_PREFIX = "/v1";
export const CONTROL_PREFIX = "/_simulator";

const JSON_TYPE = /^application\/json\b/i;
const NO_TROUBLE: Trouble = { delayMs: 0, breakage: undefined };

type Exchange = { request: IncomingMessage; response: ServerResponse; method: string; path: string };
type Judged = { rate: Rate; answer: Answer | "stall" };

/** Answers one request. Nothing it does may end the process: what nobody foresaw is a 500, or a closed connection. */
export async function serve(state: SimulatorState, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const exchange = { request, response, method: request.method ?? "GET", path: pathOf(request) };
  try {
    await (exchange.path.startsWith(`${CONTROL_PREFIX}/`) ? serveControl : serveInterface)(state, exchange);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else send(response, refusalAnswer(error), rateHeaders(untouchedRate(state, exchange)));
  }
}

async function serveControl(state: SimulatorState, { request, response, method, path }: Exchange): Promise<void> {
  const route = `${method} ${path.slice(CONTROL_PREFIX.length)}`;
  send(response, await answerControl(state, route, await readBody(request)));
}

async function serveInterface(state: SimulatorState, exchange: Exchange): Promise<void> {
  const { request, response, method, path } = exchange;
  const versioned = path.startsWith(`${VERSION_PREFIX}/`);
  const { delayMs, breakage } = versioned ? state.faults.take(method, path.slice(VERSION_PREFIX.length)) : NO_TROUBLE;

  if (breakage?.kind === "drop_before_reading") {
    await state.timers.wait(delayMs);
    response.destroy();
    return;
  }
  const body = await readBody(request);
  if (breakage !== undefined && !takesOrder(breakage)) {
    await state.timers.wait(delayMs);
    return misbehave(breakage, response, rateHeaders(untouchedRate(state, exchange)));
  }

  const { rate, answer } = judge(state, exchange, body);
  // The order stands before the delay begins: a caller who does not wait has still bought.
  await state.timers.wait(delayMs);
  if (breakage !== undefined) return misbehave(breakage, response, rateHeaders(rate));
  if (answer !== "stall") return send(response, answer, rateHeaders(rate));
  await state.timers.wait(state.settings.slowAnswerMs);
  response.destroy();
}

/** From the route to the answer: 404, 401, 403, 429, then what the endpoint says. */
function judge(state: SimulatorState, exchange: Exchange, body: RequestBody): Judged {
  const { request, method, path } = exchange;
  const route = routeOf(exchange);
  let rate = untouchedRate(state, exchange);
  try {
    if (route === undefined) throw new Refusal(404, "The resource does not exist.");
    const { liveKey, testKey } = state.settings;
    const caller = authenticate(request.headers, { live: liveKey, test: testKey });
    admit(request.socket.remoteAddress ?? "", state);
    rate = state.rates.count(caller.key, route.group, rate.limit);
    if (rate.retryAfterS !== undefined) throw new Refusal(429, "Too many requests.");
    const isJsonTyped = JSON_TYPE.test(request.headers["content-type"] ?? "");
    // Only VTU requests are told to name their type (INTERFACE "Endpoints").
    if (route.group === "vtu" && !isJsonTyped) throw new Refusal(400, "The Content-Type must be application/json.");
    const fields = method === "POST" ? parseJson(body) : undefined;
    const reply = route.run({ state, path: path.slice(VERSION_PREFIX.length), caller, body: fields });
    return { rate, answer: answerOf(reply) };
  } catch (error) {
    return { rate, answer: refusalAnswer(error) };
  }
}

/** The limit of a request that is not counted: one without a key, off the map, or kept from the endpoints by a fault. */
function untouchedRate(state: SimulatorState, exchange: Exchange): Rate {
  const limit = state.limits[routeOf(exchange)?.group ?? "catalog"];
  return { limit, remaining: limit };
}

function routeOf({ method, path }: Exchange) {
  return path.startsWith(VERSION_PREFIX) ? routes.get(`${method} ${path.slice(VERSION_PREFIX.length)}`) : undefined;
}

function answerOf(reply: Reply): Answer | "stall" {
  return reply.kind === "stall" ? "stall" : { status: 200, body: reply.body };
}

function pathOf(request: IncomingMessage): string {
  const [path = "/"] = (request.url ?? "/").split("?", 1);
  return path;
}
