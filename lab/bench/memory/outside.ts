import { createServer } from "node:https";
import { text } from "node:stream/consumers";
import { listenOnLoopback } from "../../../tools/local/loopback.ts";

export const UPSTREAM_MS = 1_000;
export const ENDPOINT_MS = 200;
const ENDPOINT_PATH = "/webhooks";

/** The upstream and a webhook endpoint, over TLS: each takes its time, and every order succeeds. */
export const openOutside = async (tls: { readonly key: string; readonly cert: string }) => {
  let waitedMs = 0;
  let orders = 0;
  const server = createServer(tls, async (request, response) => {
    await text(request);
    const beginMs = performance.now();
    await new Promise((wake) => setTimeout(wake, request.url === ENDPOINT_PATH ? ENDPOINT_MS : UPSTREAM_MS));
    orders += 1;
    const transaction = { reference: `UPSTREAM_${orders}`, status: "success", amount: 500 };
    const data = request.url?.includes("/identity/") ? { transaction, result: RECORD } : { transaction };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ status: true, message: "Done", data }));
    waitedMs += performance.now() - beginMs;
  });
  const origin = `https://localhost:${await listenOnLoopback(server)}`;
  return {
    upstreamUrl: `${origin}/v1`,
    endpointUrl: `${origin}${ENDPOINT_PATH}`,
    /** From the last byte of each request to its response, since the last call. */
    takeWaitedMs: (): number => {
      const taken = waitedMs;
      waitedMs = 0;
      return taken;
    },
    stop: (): void => {
      server.close();
      server.closeAllConnections();
    },
  };
};

/** An identity record. Source: docs/interface.md 12. */
const RECORD = {
  first_name: "ADAEZE",
  last_name: "OKAFOR",
  middle_name: "NGOZI",
  gender: "F",
  date_of_birth: "1971-04-27",
};
