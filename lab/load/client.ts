import { Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { text as textOf } from "node:stream/consumers";

/** Longer than any response takes, because the functions time out after 29 s. */
const TIMEOUT_MS = 35_000;

export type Sent = {
  readonly method: string;
  /** Appended to the base URL as it is, without normalisation. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
};
export type Reply =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly text: string;
      readonly durationMs: number;
    }
  | { readonly kind: "no_answer"; readonly reason: string; readonly durationMs: number };

export type Client = {
  readonly send: (sent: Sent) => Promise<Reply>;
  readonly close: () => void;
};

/** A caller's HTTP client, with persistent connections and without retries. */
export const createClient = (baseUrl: string): Client => {
  const { hostname, port, pathname } = new URL(baseUrl);
  const agent = new Agent({ keepAlive: true });
  return {
    send: ({ method, path, headers = {}, body }) =>
      new Promise((resolve) => {
        const begun = performance.now();
        const durationMs = (): number => performance.now() - begun;
        const fail = (error: Error): void =>
          resolve({ kind: "no_answer", reason: error.message, durationMs: durationMs() });
        const request = httpRequest(
          { agent, hostname, port, method, path: `${pathname}${path}`, headers },
          (response) => {
            const { statusCode: status = 0, headers: answered } = response;
            textOf(response).then(
              (text) => resolve({ kind: "answered", status, headers: answered, text, durationMs: durationMs() }),
              fail,
            );
          },
        );
        request.setTimeout(TIMEOUT_MS, () => request.destroy(new Error("timeout")));
        request.on("error", fail).end(body);
      }),
    close: () => agent.destroy(),
  };
};

/** A POST request with a key and a JSON body, as callers send it. */
export const orderRequest = (path: string, key: string, body: unknown): Sent => {
  const text = JSON.stringify(body);
  return {
    method: "POST",
    path,
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(text)),
    },
    body: text,
  };
};
