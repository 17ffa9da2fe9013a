import { once } from "node:events";
import { type ClientRequest, createServer, type RequestOptions } from "node:http";
import * as z from "zod";
import { type Effect, runs } from "./effects.ts";

/** The module as our code reads it: its `request` is looked up when it is called. */
const http = process.getBuiltinModule("node:http");

/** Answers 429, cuts the connection, or takes a request and never answers. */
type BadServer = { readonly port: number; readonly stop: () => Promise<void> };

const startBadServer = async (kind: "refuses" | "cuts_off" | "silent"): Promise<BadServer> => {
  const server = createServer((request, response) => {
    if (kind === "cuts_off") request.socket.destroy();
    if (kind !== "refuses") return;
    request.resume();
    response.writeHead(429, { "content-type": "application/json", "retry-after": "30" });
    response.end(JSON.stringify({ status: false, message: "Too many requests" }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return {
    port,
    stop: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};

/**
 * Intercepts requests to the upstream and to webhook endpoints where they leave the process; only those of runs.
 * Returns the function that undoes it.
 */
export const interceptHttp = async (): Promise<() => Promise<void>> => {
  const bad = {
    refuses: await startBadServer("refuses"),
    cutsOff: await startBadServer("cuts_off"),
    silent: await startBadServer("silent"),
  };
  const { request: original } = http;

  const request = (...target: Target): ClientRequest => {
    const run = runs.getStore();
    const pass = () => runs.exit(() => (target.length === 2 ? original(...target) : original(...target)));
    const passTo = ({ port }: BadServer) => runs.exit(() => original(redirectedTo(port, target)));
    if (run === undefined) return pass();
    if (run.isDead) return passTo(bad.silent);
    switch (run.plan(effectOf(target))) {
      case "dies_before":
        run.die();
        return passTo(bad.silent);
      case "dies_after":
        return pass().prependOnceListener("response", run.die);
      case "throttled":
        return passTo(bad.refuses);
      case "never_arrives":
        return passTo(bad.cutsOff);
      case "answer_lost":
        return pass().prependOnceListener("response", (answer) => answer.destroy(new Error("cut off")));
      default:
        return pass();
    }
  };
  Object.assign(http, { request });
  return async () => {
    Object.assign(http, { request: original });
    await Promise.all(Object.values(bad).map(({ stop }) => stop()));
  };
};

/** The upstream is called by URL; a webhook endpoint over a socket that is connected already. */
type Target = [url: string, options: RequestOptions] | [options: RequestOptions];

const effectOf = (target: Target): Effect => {
  if (target.length === 1) return { place: "receiver", name: "POST" };
  const [url, { method = "GET" }] = target;
  return { place: "upstream", name: `${method} ${new URL(url).pathname}` };
};

const redirectedTo = (port: number, target: Target): RequestOptions => {
  const [{ createConnection, ...options }] = target.length === 2 ? [target[1]] : target;
  createConnection?.({}, () => {})?.destroy();
  return { ...options, host: "127.0.0.1", port };
};
