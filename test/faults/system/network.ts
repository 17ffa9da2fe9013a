import { subscribe } from "node:diagnostics_channel";
import { createServer, type IncomingMessage, Server, type ServerResponse } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { Duplex } from "node:stream";
import * as z from "#zod";
import { type Event, miss, type Process, processes, schedule } from "./clock.ts";
import type { Effect, FreezeEffect } from "./effects.ts";
import { isPooled, meet } from "./realities.ts";

/** The modules as everybody reads them: these functions are looked up when they are called. */
const net = process.getBuiltinModule("node:net");
const { Agent } = process.getBuiltinModule("node:http");

const ADDRESS = "127.0.0.1";

type Done = (error?: Error | null) => void;

/** What both ends of a connection have of a socket of `node:net`. */
abstract class End extends Duplex {
  remoteAddress: string | undefined = ADDRESS;
  setTimeout(_delayMs: number, _callback?: () => void): this {
    return this;
  }
  setKeepAlive = (): this => this;
  setNoDelay = (): this => this;
  ref = (): this => this;
  unref = (): this => this;
  override _read(): void {}
}

/** Its bytes, and with null its end, are passed on to the other side. */
abstract class PassingEnd extends End {
  abstract send(chunk: Buffer | null): void;
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.send(chunk);
    done();
  }
  override _final(done: Done): void {
    this.send(null);
    done();
  }
  override _destroy(error: Error | null, done: Done): void {
    this.send(null);
    done(error);
  }
}

/** The end of the process that has connected. */
export class ClientEnd extends End {
  readonly process: Process;
  readonly port: number;
  readonly place: Effect["place"];
  connecting = true;
  timeout = 0;
  #idle: Event | undefined;
  readonly #server: ServerEnd;
  /** How it ended while its process was frozen. */
  #lost: FreezeEffect | undefined;

  constructor(owner: Process, port: number, place: Effect["place"], signal: AbortSignal | undefined) {
    super({ allowHalfOpen: false, ...(signal && { signal }) });
    this.remoteAddress = undefined;
    this.process = owner;
    this.port = port;
    this.place = place;
    this.#server = new ServerEnd(this);
    connections.set(owner, connectionsOf(owner).add(this));
  }

  /** Its process is frozen, and it comes to an end. */
  lose(effect: FreezeEffect): void {
    this.#lost = effect;
    if (isPooled(this.place)) meet(`${effect} of connections to ${this.place}`);
    processes.exit(() => this.#server.abandon());
    if (effect === "fin") miss(this.process, () => this.receive(null));
    if (effect === "rst") miss(this.process, () => this.reset());
  }

  /** The connection stands. */
  open(server: Server): void {
    if (this.destroyed) return;
    this.connecting = false;
    this.remoteAddress = ADDRESS;
    processes.exit(() => server.emit("connection", this.#server));
    this.#inProcess(() => {
      this.emit("connect");
      this.emit("ready");
    });
  }

  /** Bytes arrive, or with null the other side's end. */
  receive(chunk: Buffer | null): void {
    if (this.destroyed || this.readableEnded) return;
    this.#touch();
    this.#inProcess(() => this.push(chunk));
  }

  /** The connection is reset. */
  reset(): void {
    if (this.destroyed) return;
    const error = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    this.#inProcess(() => this.destroy(error));
  }

  #inProcess(act: () => void): void {
    processes.run(this.process, act);
  }

  #touch(): void {
    if (this.#idle) this.#idle.isOver = true;
    if (this.timeout > 0) {
      const act = () => this.#inProcess(() => this.emit("timeout"));
      this.#idle = schedule(this.timeout, act, this.process, "timer");
    }
  }

  override setTimeout(delayMs: number, callback?: () => void): this {
    this.timeout = delayMs;
    this.#touch();
    if (callback !== undefined) this[delayMs > 0 ? "once" : "removeListener"]("timeout", callback);
    return this;
  }
  override _write(chunk: Buffer, encoding: BufferEncoding, done: Done): void {
    if (this.connecting) {
      this.once("connect", () => this._write(chunk, encoding, done));
      return;
    }
    this.#touch();
    if (this.#lost === undefined) processes.exit(() => this.#server.push(chunk));
    else if (this.#lost !== "swallowed") schedule(1, () => this.reset(), this.process, "socket");
    done();
  }
  override _final(done: Done): void {
    processes.exit(() => this.#server.push(null));
    done();
  }
  override _destroy(error: Error | null, done: Done): void {
    this.timeout = 0;
    this.#touch();
    connectionsOf(this.process).delete(this);
    processes.exit(() => this.#server.destroy());
    done(error);
  }
}

const connections = new WeakMap<Process, Set<ClientEnd>>();
/** The open connections of a process. */
export const connectionsOf = (process: Process): Set<ClientEnd> => connections.get(process) ?? new Set();

/** The server's end. What it writes arrives with the next event. */
class ServerEnd extends PassingEnd {
  readonly client: ClientEnd;
  #isAbandoned = false;

  constructor(client: ClientEnd) {
    super();
    this.client = client;
    this.on("error", () => {});
  }

  /** It ends, and the client does not learn it. */
  abandon(): void {
    this.#isAbandoned = true;
    this.destroy();
  }

  override send(chunk: Buffer | null): void {
    if (!this.#isAbandoned) schedule(0, () => this.client.receive(chunk), this.client.process, "socket");
  }
}

/**
 * One end of a connection of the test itself to a server in this process, without a socket: its system calls would take
 * longer than all else.
 */
class LocalEnd extends PassingEnd {
  other: LocalEnd | undefined;

  override send(chunk: Buffer | null): void {
    const { other } = this;
    process.nextTick(() => {
      if (other !== undefined && !other.destroyed && !other.readableEnded) other.push(chunk);
    });
  }
}

/** The HTTP servers in this process, by their port. */
const localServers = new Map<number, Server>();

/** Source: Node.js, "Diagnostics Channel", net. */
subscribe("tracing:net.server.listen:asyncEnd", (message) => {
  const { data } = listening.safeParse(message);
  if (data !== undefined) localServers.set(data.server.port, data.server.server);
});
const addressOf = z.object({ port: z.int() });
const listening = z.object({
  server: z.pipe(
    z.instanceof(Server),
    z.transform((server) => ({ server, ...addressOf.parse(server.address()) })),
  ),
});

/** Undefined if no server of this process listens there. */
const connectLocally = (port: number): LocalEnd | undefined => {
  const server = localServers.get(port);
  if (!server?.listening) return undefined;
  const [client, served] = [new LocalEnd(), new LocalEnd()];
  Object.assign(client, { other: served });
  Object.assign(served, { other: client });
  process.nextTick(() => {
    server.emit("connection", served);
    client.emit("connect");
  });
  return client;
};

/** Serves one request that a process sends. */
export type Serve = (client: ClientEnd, request: IncomingMessage, response: ServerResponse) => Promise<void>;

const target = z.object({ port: z.coerce.number(), signal: z.optional(z.instanceof(AbortSignal)) });

/**
 * Has the connections of processes end at `serve`, without sockets; those of the test itself end at the real servers.
 * Returns the function that undoes it.
 */
export const openNetwork = (
  serve: Serve,
  placeOf: (port: number) => Effect["place"],
  latencyMs: () => number,
): (() => void) => {
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const { socket } = request;
    if (!(socket instanceof ServerEnd)) throw new Error("A connection that is not simulated");
    response.sendDate = false;
    serve(socket.client, request, response).catch((error: unknown) => socket.destroy(Error(String(error))));
  });
  const { connect, createConnection } = net;
  const { getName } = Agent.prototype;

  const connectSimulated = (owner: Process, options: unknown, opened: unknown): ClientEnd => {
    const { port, signal } = target.parse(options);
    owner.loaded();
    const client = new ClientEnd(owner, port, placeOf(port), signal);
    if (typeof opened === "function") client.once("connect", () => opened());
    schedule(latencyMs(), () => client.open(server), owner, "socket");
    return client;
  };
  const simulated =
    (real: typeof connect) =>
    (...args: unknown[]): unknown => {
      const owner = processes.getStore();
      if (owner !== undefined) return connectSimulated(owner, args[0], args[1]);
      return connectLocally(target.safeParse(args[0]).data?.port ?? 0) ?? Reflect.apply(real, net, args);
    };
  Object.assign(net, { connect: simulated(connect), createConnection: simulated(createConnection) });
  syncBuiltinESMExports();
  // A process does not see the idle connections of another one.
  Agent.prototype.getName = function (options) {
    return `${getName.call(this, options)}:${processes.getStore()?.name ?? ""}`;
  };
  return () => {
    Object.assign(net, { connect, createConnection });
    syncBuiltinESMExports();
    Agent.prototype.getName = getName;
  };
};
