import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";
import { listenOnLoopback } from "../../../tools/local/loopback.ts";

/** A proxy that changes the clock of the emulator. */
export type DynamoDbAhead = {
  readonly endpoint: string;
  /** How far the `Date` of answers is ahead of this machine's clock; undefined leaves it out. */
  aheadMs: number | undefined;
  readonly stop: () => Promise<void>;
};

export const startDynamoDbAhead = async (emulator: string): Promise<DynamoDbAhead> => {
  const server = createServer(async (incoming, outgoing) => {
    const body = await text(incoming);
    const { host: _host, ...headers } = incoming.headers;
    const forwarded = httpRequest(emulator, { method: "POST", headers }, async (answer) => {
      outgoing.sendDate = false;
      outgoing.writeHead(answer.statusCode ?? 500, {
        "content-type": "application/x-amz-json-1.0",
        ...(proxy.aheadMs !== undefined && { date: new Date(Date.now() + proxy.aheadMs).toUTCString() }),
      });
      answer.pipe(outgoing);
    });
    forwarded.once("error", () => outgoing.destroy());
    forwarded.end(body);
  });
  const port = await listenOnLoopback(server);
  const proxy: DynamoDbAhead = {
    endpoint: `http://127.0.0.1:${port}`,
    aheadMs: 0,
    stop: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return proxy;
};
