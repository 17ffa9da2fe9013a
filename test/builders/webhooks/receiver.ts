import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { text } from "node:stream/consumers";
import * as z from "#zod";

/** One webhook as it arrived. */
export type Received = {
  /** Which of the endpoints with one receiver it came to. */
  readonly path: string;
  readonly headers: { readonly id: string; readonly timestamp: string; readonly signature: string };
  readonly body: string;
  readonly atMs: number;
};

export type Receiver = {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  readonly stop: () => Promise<void>;
};

const signedHeaders = z.object({
  "webhook-id": z.string(),
  "webhook-timestamp": z.string(),
  "webhook-signature": z.string(),
});

/**
 * An endpoint on loopback. `answer` gets the number of the request, from 1; by default every request is answered with
 * 200.
 */
export const startReceiver = async (
  answer: (response: ServerResponse, count: number) => void = (response) => void response.end("ok"),
  options: {
    readonly host?: string;
    readonly port?: number;
    readonly tls?: { readonly key: string; readonly cert: string };
  } = {},
): Promise<Receiver> => {
  const received: Received[] = [];
  const listener = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const headers = signedHeaders.parse(request.headers);
    received.push({
      path: request.url ?? "",
      headers: {
        id: headers["webhook-id"],
        timestamp: headers["webhook-timestamp"],
        signature: headers["webhook-signature"],
      },
      body,
      atMs: Date.now(),
    });
    answer(response, received.length);
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    listener(request, response).catch(() => response.destroy());
  };
  const { host = "127.0.0.1", port: wanted = 0, tls } = options;
  const server = tls === undefined ? createServer(onRequest) : createTlsServer(tls, onRequest);
  await new Promise<void>((listening) => server.listen(wanted, host, listening));
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return {
    url: `${tls === undefined ? "http" : "https"}://${tls === undefined ? host : "localhost"}:${port}/hook`,
    port,
    received,
    stop: () =>
      new Promise((stopped) => {
        server.close(() => stopped());
        server.closeAllConnections();
      }),
  };
};

/** The headers in the form of the Standard Webhooks library. */
export const standardHeaders = ({ headers }: Received): Record<string, string> => ({
  "webhook-id": headers.id,
  "webhook-timestamp": headers.timestamp,
  "webhook-signature": headers.signature,
});
