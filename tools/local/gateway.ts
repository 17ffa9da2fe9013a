import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import * as z from "zod";
import { errorFields } from "../../shared/platform/log.ts";
import { sleep } from "../../shared/platform/time.ts";
import { FunctionTimedOut, type Invoke } from "./functions.ts";
import { eventOf, type GatewayRoute, router, splitTarget } from "./gateway-event.ts";
import { localLog } from "./local-log.ts";

const HOST = "127.0.0.1";
const BODY_BYTES_MAX = 10 * 1024 * 1024;
/** How long requests may go on once the gateway closes. */
const CLOSE_MS_MAX = 2_000;
/** Longer than callers keep a connection for the next request, so that they do not find it closed in that very moment. */
const KEEP_ALIVE_MS = 75_000;

/** Answers that are the platform's own; they have no headers of ours. */
const platformAnswers = {
  413: "Request Entity Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
} as const;

/**
 * What a function may answer. The platform also takes a bare value for a body with status 200; here that is a mistake worth a
 * 500, for no function of ours means it.
 */
const functionAnswer = z.object({
  statusCode: z.int().min(200).max(599),
  headers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  cookies: z.array(z.string()).default([]),
  body: z.string().default(""),
  isBase64Encoded: z.boolean().default(false),
});

export type Gateway = {
  readonly port: number;
  /** Without a slash at the end. */
  readonly origin: string;
  /** Begins to serve; until then every request meets a 503 of the platform. */
  readonly serve: (invoke: Invoke) => void;
  readonly close: () => Promise<void>;
};

/** An API Gateway HTTP API (payload 2.0) on loopback. */
export const openGateway = async (options: {
  readonly port: number;
  readonly routes: readonly GatewayRoute[];
  /** Serves `$default`: whatever fits no route. */
  readonly defaultFunction: string;
}): Promise<Gateway> => {
  const route = router(options.routes, options.defaultFunction);
  const open = new Set<ServerResponse>();
  let invoke: Invoke | undefined;

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    open.add(response);
    response.once("close", () => open.delete(response));
    void serveRequest(request, response);
  });

  const serveRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const target = route(request.method ?? "", splitTarget(request).path);
    try {
      const body = await readBody(request);
      if (body === "too_large") return answerAsPlatform(response, 413);
      if (invoke === undefined) return answerAsPlatform(response, 503);
      const answer = await invoke(target.functionName, eventOf(request, body, target));
      answerWith(response, functionAnswer.parse(answer));
    } catch (error) {
      // A caller who hung up while sending is no failure of the function.
      if (request.destroyed && !request.complete) return;
      localLog.error("invocation.failed", { function: target.functionName, ...errorFields(error) });
      answerAsPlatform(response, error instanceof FunctionTimedOut ? 503 : 500);
    }
  };

  server.listen(options.port, HOST);
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : options.port;

  return {
    port,
    origin: `http://${HOST}:${port}`,
    serve: (with_) => {
      invoke = with_;
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.race([
        Promise.allSettled([...open].map((response) => once(response, "close"))),
        sleep(CLOSE_MS_MAX),
      ]);
      server.closeAllConnections();
      await closed;
    },
  };
};

/** The whole body. What is left of one that is too large is read and forgotten, so that the caller gets to see the answer. */
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

const answerWith = (response: ServerResponse, answer: z.output<typeof functionAnswer>): void => {
  const body = Buffer.from(answer.body, answer.isBase64Encoded ? "base64" : "utf8");
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, String(value));
  if (answer.cookies.length > 0) response.setHeader("set-cookie", answer.cookies);
  if (body.length > 0 && !response.hasHeader("content-type")) {
    response.setHeader("content-type", "text/plain; charset=utf-8");
  }
  response.writeHead(answer.statusCode).end(body);
};

const answerAsPlatform = (response: ServerResponse, status: keyof typeof platformAnswers): void => {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ message: platformAnswers[status] }));
};
