import { createServer, request as httpRequest, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import * as z from "#zod";
import { jsonOf } from "../../shared/contract/values/json.ts";
import { sleep } from "../../shared/platform/time.ts";
import { listenOnLoopback } from "../local/loopback.ts";
import { draws } from "./draws.ts";

type Forwarded = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer };

/** How long a request may be on its way after its client has gone. */
const LATE_MS_MAX = 3_000;
/** When a copy of an answered request arrives, at the latest: its order may be refused, and placed by then. */
const COPY_MS_MAX = 8_000;
const DELAY_MS_MAX = 1_000;
/** How long an answer is held after the client's time-out. */
const HELD_MS = 500;

/** What the proxy does with a request, and how often among 100. The rest is passed on as it is. */
const faults = {
  request_dropped: 5,
  request_late: 4,
  answer_dropped: 6,
  answer_held: 4,
  answer_truncated: 3,
  answer_replaced_by_502: 4,
  refused_with_500: 3,
  refused_with_502: 3,
  refused_with_429: 4,
  rate_limited: 3,
  delayed: 5,
  duplicated: 5,
  copied_late: 7,
  crossed: 2,
  crossed_and_dropped: 3,
} as const;
type Fault = keyof typeof faults;

/** What happened to a request. `unreachable`: the service was down. */
type Event = Fault | "passed" | "unreachable";

type ProxyOptions = {
  /** The service's. */
  readonly port: number;
  readonly seed: number;
  /** The longest that a client waits for an answer. */
  readonly attemptTimeoutMs: number;
  /** By the key that a client has, the keys of its account that its requests get in turn. */
  readonly keys: ReadonlyMap<string, readonly string[]>;
};

const orderSchema = z.object({
  phone_number: z.optional(z.string()),
  amount: z.optional(z.number()),
  reference: z.optional(z.string()),
});

/** What the requests of one order have in common. */
const orderOf = (path: string, body: string): string => {
  const order = orderSchema.safeParse(jsonOf(body)).data;
  return order?.phone_number === undefined ? (order?.reference ?? path) : `${order.phone_number} ${order.amount}`;
};

/** A proxy that loses, delays, repeats, mixes up and replaces requests and answers (docs/conformance.md). */
export const startFaultyProxy = async (options: ProxyOptions) => {
  const { port, seed, attemptTimeoutMs, keys } = options;
  const counts = new Map<Event, number>();
  const count = (name: Event): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  const chances = new Map<string, () => number>();
  const chanceOf = (order: string): (() => number) => {
    const known = chances.get(order) ?? draws(seed, order);
    chances.set(order, known);
    return known;
  };
  let requests = 0;
  const withKeyInTurn = (headers: IncomingHttpHeaders): IncomingHttpHeaders => {
    const own = keys.get(headers.authorization?.replace("Bearer ", "") ?? "");
    requests += 1;
    return own === undefined ? headers : { ...headers, authorization: `Bearer ${own[requests % own.length]}` };
  };

  let underWay = 0;
  /** The latest answer of each route, and which request it was to. */
  const answers = new Map<string, { readonly path: string; readonly body: string; readonly answer: Forwarded }>();
  const server = createServer(async (request, response) => {
    const { method, url: path = "", headers } = request;
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    const text = body.toString();
    const random = chanceOf(orderOf(path, text));
    const forward = (): Promise<Forwarded> =>
      new Promise((resolve, reject) => {
        const target = { host: "127.0.0.1", port, method, path, headers: withKeyInTurn(headers) };
        const outgoing = httpRequest(target, (incoming) => {
          buffer(incoming).then(
            (received) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: received }),
            reject,
          );
        });
        outgoing.once("error", reject).end(body);
      });
    const route = `${method} ${path.replace(/(transactions)\/(?!cancel).*/, "$1")}`;
    const other = answers.get(route);
    const isOther = other !== undefined && (other.path !== path || other.body !== text);
    const forwardNoted = async (): Promise<Forwarded> => {
      const answer = await forward();
      answers.set(route, { path, body: text, answer });
      return answer;
    };
    const chosen = chooseFault(random());
    const fault = chosen?.startsWith("crossed") && !isOther ? undefined : chosen;
    count(fault ?? "passed");
    underWay += 1;
    try {
      await serve(fault, { forward: forwardNoted, response, random, other: other?.answer, attemptTimeoutMs });
    } catch {
      count("unreachable");
      badGateway(response);
    } finally {
      underWay -= 1;
    }
  });
  const ownPort = await listenOnLoopback(server);
  return {
    baseUrl: `http://127.0.0.1:${ownPort}/v1`,
    counts,
    /** Resolves once no request is on its way, and no copy of one. */
    idle: async () => {
      while (underWay > 0) await sleep(20);
    },
    stop: () => server.close().closeAllConnections(),
  };
};

const isFault = (name: string): name is Fault => Object.hasOwn(faults, name);

/** `chance` is from 0 up to 1. */
const chooseFault = (chance: number): Fault | undefined => {
  let left = chance * 100;
  for (const [fault, share] of Object.entries(faults)) {
    left -= share;
    if (left < 0 && isFault(fault)) return fault;
  }
  return undefined;
};

type Exchange = {
  readonly forward: () => Promise<Forwarded>;
  readonly response: ServerResponse;
  readonly random: () => number;
  /** The latest answer to another request of this route. */
  readonly other: Forwarded | undefined;
  readonly attemptTimeoutMs: number;
};

const serve = async (
  fault: Fault | undefined,
  { forward, response, random, other, attemptTimeoutMs }: Exchange,
): Promise<void> => {
  switch (fault) {
    case "crossed":
    case "crossed_and_dropped":
      if (fault === "crossed") await forward();
      if (other !== undefined) pass(other, response);
      return;
    case "copied_late":
      pass(await forward(), response);
      await sleep(random() * COPY_MS_MAX);
      await forward();
      return;
    case "request_dropped":
      response.destroy();
      return;
    case "request_late":
      response.destroy();
      await sleep(random() * LATE_MS_MAX);
      await forward();
      return;
    case "answer_dropped":
      await forward();
      response.destroy();
      return;
    case "answer_held": {
      const answer = await forward();
      await sleep(attemptTimeoutMs + HELD_MS);
      pass(answer, response);
      return;
    }
    case "answer_truncated": {
      const { status, headers, body } = await forward();
      const { "content-length": _length, "transfer-encoding": _encoding, ...kept } = headers;
      response.writeHead(status, kept).end(body.subarray(0, body.length / 2));
      return;
    }
    case "answer_replaced_by_502":
      await forward();
      badGateway(response);
      return;
    case "refused_with_502":
      badGateway(response);
      return;
    case "refused_with_500":
      response.writeHead(500, { "content-type": "application/json" }).end('{"message":"Internal Server Error"}');
      return;
    case "refused_with_429":
      response.writeHead(429, { "retry-after": "1" }).end("Too many requests");
      return;
    case "rate_limited":
      response
        .writeHead(429, { "content-type": "application/json", "x-error-code": "rate_limited", "retry-after": "1" })
        .end('{"status":false,"message":"Too many requests"}');
      return;
    case "duplicated": {
      const [first] = await Promise.all([forward(), forward()]);
      pass(first, response);
      return;
    }
    case "delayed":
      await sleep(random() * DELAY_MS_MAX);
  }
  pass(await forward(), response);
};

const pass = ({ status, headers, body }: Forwarded, response: ServerResponse): void =>
  void response.writeHead(status, headers).end(body);

const badGateway = (response: ServerResponse): void => {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(502, { "content-type": "text/html" }).end("<html><h1>502 Bad Gateway</h1></html>");
};
