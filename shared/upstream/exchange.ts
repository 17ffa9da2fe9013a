import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { jsonOf } from "../contract/values/json.ts";
import { UPSTREAM_CONNECT_MS_MAX } from "../platform/time-budgets.ts";
import { tlsContext } from "../platform/tls-context.ts";
import { utf8 } from "../platform/utf8.ts";
import { type Beginning, TURN_OVER } from "./upstream.ts";

export type HttpRequest = {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type Answered = {
  readonly kind: "answered";
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  /** For a 429: whether it refuses this order only, and says nothing about the key's limit (rate-limit.ts). */
  readonly isAboutOrder?: boolean;
};

/** The result of one request. `never_sent` is certain; after `no_answer` the upstream may have acted. */
export type ExchangeResult =
  | Answered
  | { readonly kind: "never_sent"; readonly reason: string }
  | { readonly kind: "no_answer"; readonly reason: string };

export type ExchangeLimits = {
  /** From the first packet to the last byte. */
  readonly totalMs: number;
  /** A larger response counts as `no_answer`. */
  readonly bytesMax: number;
  readonly beginning?: Beginning | undefined;
};

/** They keep no connection open. With the TLS session of an earlier one a handshake takes a quarter less CPU time. */
const agents = { http: new http.Agent(), https: new https.Agent() };

/**
 * Sends one request over a new connection and reads the response. A pooled socket could be dead, because functions are
 * frozen between invocations. The request is never sent again, and redirects are not followed.
 */
export const exchange = async (request: HttpRequest, limits: ExchangeLimits): Promise<ExchangeResult> => {
  try {
    return await send(request, limits);
  } catch (error) {
    // Node rejects a request that it cannot encode, such as one with a line break in its key, before it connects.
    return { kind: "never_sent", reason: error instanceof Error ? error.name : "unwritable" };
  }
};

const send = (request: HttpRequest, { totalMs, bytesMax, beginning }: ExchangeLimits): Promise<ExchangeResult> =>
  new Promise((resolve) => {
    const isTls = request.url.startsWith("https:");
    let isConnected = false;
    let timer: NodeJS.Timeout | undefined;
    let connectTimer: NodeJS.Timeout | undefined;

    const finish = (result: ExchangeResult): void => {
      clearTimeout(timer);
      clearTimeout(connectTimer);
      outgoing.destroy();
      resolve(result);
    };
    const fail = (reason: string): void => finish({ kind: isConnected ? "no_answer" : "never_sent", reason });

    const outgoing = (isTls ? https : http).request(request.url, {
      ...(isTls && { secureContext: tlsContext() }),
      method: request.method,
      headers: {
        ...request.headers,
        ...(request.body !== undefined && { "content-length": String(Buffer.byteLength(request.body)) }),
      },
      agent: isTls ? agents.https : agents.http,
    });
    outgoing.once("socket", (socket) => {
      socket.once(isTls ? "secureConnect" : "connect", () => {
        if (beginning?.mayBegin() === false) return fail(TURN_OVER);
        isConnected = true;
        clearTimeout(connectTimer);
        beginning?.begun();
        // Nothing of the request is written before.
        outgoing.end(request.body);
      });
    });
    // Stays attached: destroying the request may raise further errors.
    outgoing.on("error", (error) => fail("code" in error ? String(error.code) : error.name));
    outgoing.once("response", (incoming) => readResponse(incoming, bytesMax, finish));
    timer = setTimeout(() => fail("timeout"), totalMs);
    connectTimer = setTimeout(() => fail("connect_timeout"), Math.min(UPSTREAM_CONNECT_MS_MAX, totalMs));
  });

const readResponse = (incoming: IncomingMessage, bytesMax: number, finish: (result: ExchangeResult) => void): void => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  incoming.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) finish({ kind: "no_answer", reason: "answer_too_large" });
    else chunks.push(chunk);
  });
  incoming.once("error", () => finish({ kind: "no_answer", reason: "answer_cut_off" }));
  incoming.once("end", () =>
    finish({
      kind: "answered",
      status: incoming.statusCode ?? 0,
      headers: Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, value?.toString()])),
      body: utf8.decode(Buffer.concat(chunks)),
    }),
  );
};

/** What a body says; undefined if it is no JSON. `trim` also removes a byte order mark. */
export const bodyJson = (body: string): unknown => jsonOf(body.trim());
