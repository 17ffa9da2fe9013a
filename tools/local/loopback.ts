import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import { createServer, type Server } from "node:net";

export const LOOPBACK = "127.0.0.1";

/** Resolves with the server's port once it takes connections; by default that is a free one. */
export const listenOnLoopback = async (server: Server, port = 0): Promise<number> => {
  server.listen(port, LOOPBACK);
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The server has no port");
  return address.port;
};

/** Stops a server, and ends the connections that are open. */
export const closeServer = async (server: HttpServer): Promise<void> => {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
};

/** A port on which nothing listens. */
export const freePort = async (): Promise<number> => {
  const server = createServer();
  const port = await listenOnLoopback(server);
  server.close();
  await once(server, "close");
  return port;
};
