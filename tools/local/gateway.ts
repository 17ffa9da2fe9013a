import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import * as z from "#zod";
import { accessLogLine } from "../../infra/access-log.ts";
import { errorFields } from "../../shared/platform/log.ts";
import { sleep } from "../../shared/platform/time.ts";
import type { Invoke } from "./functions.ts";
import {
  createRouter,
  type GatewayRoute,
  gatewayEvent,
  peerAddressOf,
  type RouteMatch,
  restEvent,
  splitTarget,
} from "./gateway-event.ts";
import { iamCaller } from "./iam-authorizer.ts";
import type { Authorize } from "./jwt-authorizer.ts";
import { localLog } from "./local-log.ts";
import { LOOPBACK, listenOnLoopback } from "./loopback.ts";
import { createThrottle } from "./throttle.ts";

const BODY_BYTES_MAX = 10 * 1024 * 1024;
/** Lambda takes no larger event. Sources: AWS, "Lambda quotas"; aws/aws-lambda-dotnet, ApiGatewayEmulatorProcess.cs. */
const EVENT_BYTES_MAX = 6 * 1024 * 1024;
/** How long open requests may take to finish once the gateway closes. */
const CLOSE_MS_MAX = 2_000;
/** Longer than clients keep idle connections, so none reuses a connection while the gateway closes it. */
const KEEP_ALIVE_MS = 75_000;

/** Responses that API Gateway itself makes; they lack the service's headers. */
const platformMessages = new Map([
  [401, "Unauthorized"],
  [403, "Forbidden"],
  [413, "Request Entity Too Large"],
  [429, "Too Many Requests"],
  [500, "Internal Server Error"],
  [503, "Service Unavailable"],
]);

/**
 * API Gateway also takes a bare value as the body of a 200. No function of the service uses that, so here it is a 500.
 */
const functionResponse = z.object({
  statusCode: z.int().check(z.minimum(200), z.maximum(599)),
  headers: z._default(z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])), {}),
  cookies: z._default(z.array(z.string()), []),
  body: z._default(z.string(), ""),
  isBase64Encoded: z._default(z.boolean(), false),
});

export type Gateway = Awaited<ReturnType<typeof openGateway>>;

/** Opens an API Gateway on loopback: an HTTP API (payload 2.0), or one whose routes for callers are a REST API's. */
export const openGateway = async (options: {
  readonly port: number;
  readonly routes: readonly GatewayRoute[];
  /** Whether the functions get a REST API's events on these routes. */
  readonly isRest?: ((routeKey: string) => boolean) | undefined;
  /** Serves `$default`: every request without a route. */
  readonly defaultFunction: string;
  /** Requests a second by route key; a route without one takes all. */
  readonly limits?: ReadonlyMap<string, number> | undefined;
  /** Gets a line for each answer, as in the access log of a stage. */
  readonly accessLog?: ((line: string) => void) | undefined;
}) => {
  const route = createRouter(options.routes, options.defaultFunction);
  const admits = createThrottle(options.limits ?? new Map());
  const openResponses = new Set<ServerResponse>();
  let invoke: Invoke | undefined;
  let authorize: Authorize = async () => undefined;

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    openResponses.add(response);
    response.once("close", () => openResponses.delete(response));
    void serveRequest(request, response);
  });

  /** What the authorizer of a route adds to the event; undefined if it refuses the request. */
  const authorized = async (
    { authorizer }: RouteMatch,
    request: IncomingMessage,
    { headers }: APIGatewayProxyEventV2,
    body: Buffer,
  ): Promise<object | undefined> => {
    if (authorizer === "iam") {
      const iam = await iamCaller({ method: request.method ?? "", ...splitTarget(request), headers, body });
      return iam && { iam };
    }
    const claims = authorizer === "jwt" ? await authorize(headers.authorization) : {};
    return claims && { jwt: { claims, scopes: null } };
  };

  const serveRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const target = route(request.method ?? "", splitTarget(request).path);
    const begunMs = performance.now();
    const requestId = randomUUID();
    // A closed socket has none any more.
    const sourceIp = peerAddressOf(request);
    let answered: number | undefined;
    response.once("finish", () => {
      const { statusCode: status } = response;
      const error = answered === undefined ? platformMessages.get(status) : undefined;
      const latencyMs = Math.round(performance.now() - begunMs);
      const { routeKey } = target;
      const invocation = undefined;
      options.accessLog?.(
        accessLogLine({ requestId, invocation, routeKey, status, answered, latencyMs, error, sourceIp }),
      );
    });
    try {
      if (!admits(target.routeKey, begunMs)) return sendPlatformError(response, 429);
      const body = await readBody(request);
      if (body === "too_large") return sendPlatformError(response, 413);
      if (invoke === undefined) return sendPlatformError(response, 503);
      const event = gatewayEvent(request, body, target, requestId);
      const authorizer = await authorized(target, request, event, body);
      if (authorizer === undefined) return sendRefused(response, target, event.headers.authorization !== undefined);
      const passed = options.isRest?.(target.routeKey) ? restEvent(request, body, target, requestId) : event;
      const invoked = target.authorizer ? withAuthorizer(event, authorizer) : passed;
      if (Buffer.byteLength(JSON.stringify(invoked)) > EVENT_BYTES_MAX) return sendPlatformError(response, 413);
      const result = await invoke(target.functionName, invoked);
      const answer = functionResponse.parse(result);
      sendResponse(response, answer);
      answered = answer.statusCode;
    } catch (error) {
      // A client that disconnects while it sends is not a failed invocation.
      if (request.destroyed && !request.complete) return;
      localLog.error("invocation.failed", { function: target.functionName, ...errorFields(error) });
      // Also of a function that ran out of time: API Gateway waits a second longer than the functions run.
      sendPlatformError(response, 500);
    }
  };

  const port = await listenOnLoopback(server, options.port);

  return {
    port,
    /** Without a trailing slash. */
    origin: `http://${LOOPBACK}:${port}`,
    /** Begins to serve; until then every request gets API Gateway's 503. `authorize` is needed if a route needs a token. */
    serve: (invokeFunction: Invoke, authorizeToken: Authorize = authorize): void => {
      invoke = invokeFunction;
      authorize = authorizeToken;
    },
    close: async (): Promise<void> => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.race([
        Promise.allSettled([...openResponses].map((response) => once(response, "close"))),
        sleep(CLOSE_MS_MAX),
      ]);
      server.closeAllConnections();
      await closed;
    },
  };
};

/** Reads the whole body. The rest of a body that is too large is discarded, so the client can read the 413. */
const readBody = async (request: IncomingMessage): Promise<Buffer | "too_large"> => {
  if (Number(request.headers["content-length"]) > BODY_BYTES_MAX) return "too_large";
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > BODY_BYTES_MAX) return "too_large";
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
};

const sendResponse = (response: ServerResponse, result: z.output<typeof functionResponse>): void => {
  const body = Buffer.from(result.body, result.isBase64Encoded ? "base64" : "utf8");
  for (const [name, value] of Object.entries(result.headers)) response.setHeader(name, String(value));
  if (result.cookies.length > 0) response.setHeader("set-cookie", result.cookies);
  if (body.length > 0 && !response.hasHeader("content-type")) {
    response.setHeader("content-type", "text/plain; charset=utf-8");
  }
  response.writeHead(result.statusCode).end(body);
};

const withAuthorizer = (event: APIGatewayProxyEventV2, authorizer: object) => ({
  ...event,
  requestContext: { ...event.requestContext, authorizer },
});

/** Source: AWS, "Troubleshooting HTTP API JWT authorizers". */
const sendRefused = (response: ServerResponse, { authorizer }: RouteMatch, hasToken: boolean): void => {
  if (authorizer === "iam") {
    sendPlatformError(response, 403);
    return;
  }
  const problem = ' scope="" error="invalid_token" error_description="the token is not valid"';
  sendPlatformError(response, 401, { "www-authenticate": `Bearer${hasToken ? problem : ""}` });
};

const sendPlatformError = (response: ServerResponse, status: number, headers: OutgoingHttpHeaders = {}): void => {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ message: platformMessages.get(status) }));
};
