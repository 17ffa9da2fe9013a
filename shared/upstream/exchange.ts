import type { IncomingMessage } from "node:http";
import { UPSTREAM_CONNECT_MS_MAX } from "../platform/time-budgets.ts";
import { utf8 } from "../platform/utf8.ts";

/** A request to the upstream, complete. */
export type Request = {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** One request and what came back. `never_sent` is certain; after `no_answer` the upstream may have acted. */
export type Exchange =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly headers: Readonly<Record<string, string | undefined>>;
      readonly body: string;
    }
  | { readonly kind: "never_sent"; readonly reason: string }
  | { readonly kind: "no_answer"; readonly reason: string };

export type ExchangeLimits = {
  /** For everything, from the first packet to the last byte. */
  readonly totalMs: number;
  /** Largest answer that is read. */
  readonly bytesMax: number;
};

// Loaded in this way, and not by an import, the module costs 3 ms of a cold start instead of 30 (an import's names evaluate
// all of node:http, fetch included).
const http = process.getBuiltinModule("node:http");
const https = process.getBuiltinModule("node:https");

/**
 * Sends one request over a connection of its own and reads the answer. The connection is fresh, because the pooled socket of a
 * function that was frozen may be dead; the request is written once and never again; redirects are not followed.
 */
export const exchange = async (request: Request, limits: ExchangeLimits): Promise<Exchange> => {
  try {
    return await attempt(request, limits);
  } catch (error) {
    // Node refuses a request that it cannot write, such as one with a line break in its key, before it connects.
    return { kind: "never_sent", reason: error instanceof Error ? error.name : "unwritable" };
  }
};

const attempt = (request: Request, { totalMs, bytesMax }: ExchangeLimits): Promise<Exchange> =>
  new Promise((resolve) => {
    const isTls = request.url.startsWith("https:");
    let stood = false;
    let timer: NodeJS.Timeout | undefined;
    let connectTimer: NodeJS.Timeout | undefined;

    const finish = (result: Exchange): void => {
      clearTimeout(timer);
      clearTimeout(connectTimer);
      outgoing.destroy();
      resolve(result);
    };
    const fail = (reason: string): void => finish({ kind: stood ? "no_answer" : "never_sent", reason });

    const outgoing = (isTls ? https : http).request(request.url, {
      method: request.method,
      headers: {
        ...request.headers,
        ...(request.body !== undefined && { "content-length": String(Buffer.byteLength(request.body)) }),
      },
      agent: false,
    });
    outgoing.once("socket", (socket) => {
      // Not one byte of the request leaves before this.
      socket.once(isTls ? "secureConnect" : "connect", () => {
        stood = true;
        clearTimeout(connectTimer);
      });
    });
    // Stays attached: destroying the request may raise further errors.
    outgoing.on("error", (error) => fail("code" in error ? String(error.code) : error.name));
    outgoing.once("response", (incoming) => readAnswer(incoming, bytesMax, finish));
    timer = setTimeout(() => fail("timeout"), totalMs);
    connectTimer = setTimeout(() => fail("connect_timeout"), Math.min(UPSTREAM_CONNECT_MS_MAX, totalMs));
    outgoing.end(request.body);
  });

const readAnswer = (incoming: IncomingMessage, bytesMax: number, finish: (result: Exchange) => void): void => {
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
