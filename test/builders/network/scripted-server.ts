import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll } from "vitest";
import { listenOnLoopback } from "../../../tools/local/loopback.ts";

/** What the server does with one request. `body` is the request's. */
export type Step = (response: ServerResponse, request: IncomingMessage, body: string) => void;

export type ReceivedRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};

/** Stopped after the importing file, because its tests run at the same time. */
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** A server that answers each request by the next step of its script, and the rest by the last one. */
export const startScriptedServer = async (...script: readonly Step[]) => {
  const received: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    const step = script[Math.min(received.length, script.length - 1)];
    const { method = "", url = "", headers } = request;
    const body = await text(request);
    received.push({ method, path: url, headers, body });
    step?.(response, request, body);
  });
  servers.push(server);
  const port = await listenOnLoopback(server);
  return { baseUrl: `http://127.0.0.1:${port}/v1`, received };
};

/** An answer of the service. To an order it is about that order, unless `headers` name another one. */
export const answers = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Step => {
  const common = { "content-type": "application/json", "x-request-id": "req-1" };
  const rate = { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "59" };
  return (response, _request, sent) => {
    const reference = referenceIn(sent);
    const named = reference !== undefined && { "x-caller-reference": reference };
    response.writeHead(status, { ...common, ...rate, ...named, ...headers }).end(JSON.stringify(body));
  };
};

/** A success of the service. To an order it is about that order, unless `data` names another one. */
export const succeeds =
  (data: object, headers: Readonly<Record<string, string>> = {}): Step =>
  (response, request, sent) => {
    const reference = referenceIn(sent);
    const isOrder = reference !== undefined && "transaction" in data;
    const transaction = isOrder && { transaction: { caller_reference: reference, ...Object(data.transaction) } };
    const body = { status: true, message: "Done", data: { ...data, ...transaction } };
    answers(200, body, headers)(response, request, sent);
  };

const referenceIn = (body: string): string | undefined => (body === "" ? undefined : JSON.parse(body).reference);

/** An error of the service. */
export const refuses = (
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
  errors?: Readonly<Record<string, readonly string[]>>,
): Step =>
  answers(status, { status: false, message: `Refused: ${code}`, errors }, { "x-error-code": code, ...headers });

/** An answer of something between client and service. */
export const proxyAnswers =
  (status: number, headers: Readonly<Record<string, string>> = {}): Step =>
  (response) =>
    response.writeHead(status, { "content-type": "text/html", ...headers }).end("<h1>Bad gateway</h1>");

/** Closes the connection without an answer. */
export const drops: Step = (response) => void response.destroy();

/** Sends the head and a part of the body, and closes the connection. */
export const breaksOff: Step = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "500" });
  response.write('{"status":true,"data":{"transaction":{"refer', () => response.destroy());
};

/** Never answers. */
export const hangs: Step = () => {};
