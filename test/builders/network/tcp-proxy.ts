import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { listenOnLoopback } from "../../../tools/local/loopback.ts";

/**
 * What happened to the connections of a process while it was frozen. `fin`: the server closed them. `rst`: they were
 * reset. `forgotten`: something on the way, such as a NAT gateway, no longer knows them, and answers the next byte with
 * an RST. `swallowed`: the same, and nothing answers.
 */
export type FreezeEffect = "fin" | "rst" | "forgotten" | "swallowed";

/** Passes connections on to a server, below HTTP, until they are dropped. */
export type TcpProxy = {
  readonly endpoint: string;
  /** Open connections. */
  readonly connections: () => number;
  /** Drops all open connections in this way. Later ones are passed on. */
  readonly drop: (effect: FreezeEffect) => void;
  readonly stop: () => Promise<void>;
};

export const startTcpProxy = async (target: string): Promise<TcpProxy> => {
  const { hostname, port: targetPort } = new URL(target);
  const flows = new Map<Socket, Socket>();
  const dropped = new Set<Socket>();

  const listener = createServer((client) => {
    const server = connect(Number(targetPort), hostname);
    flows.set(client, server);
    const end = (): void => {
      // The client of a dropped flow does not learn that the server has gone.
      if (dropped.has(client)) return;
      flows.delete(client);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on("error", end).on("close", end);
    client.once("close", () => dropped.delete(client));
    client.pipe(server).pipe(client);
  });
  const port = await listenOnLoopback(listener);

  const dropFlow = (client: Socket, server: Socket, effect: FreezeEffect): void => {
    flows.delete(client);
    dropped.add(client);
    server.unpipe(client);
    client.unpipe(server);
    server.destroy();
    if (effect === "fin") client.destroySoon();
    if (effect === "rst") client.resetAndDestroy();
    if (effect === "forgotten") client.once("data", () => client.resetAndDestroy());
    client.resume();
  };

  return {
    endpoint: `http://127.0.0.1:${port}`,
    connections: () => flows.size,
    drop: (effect) => {
      for (const [client, server] of flows) dropFlow(client, server, effect);
    },
    stop: async () => {
      const closed = once(listener, "close");
      listener.close();
      for (const client of [...flows.keys(), ...dropped]) client.destroy();
      await closed;
    },
  };
};
