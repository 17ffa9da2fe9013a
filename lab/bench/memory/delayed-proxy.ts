import { connect, createServer, type Server } from "node:net";
import { listenOnLoopback } from "../../../tools/local/loopback.ts";

/** A stand-in for the way to AWS: every request arrives later than it was sent, and the waiting for AWS is added up. */
export const openDelayedProxy = (delayMs: number) => {
  const servers: Server[] = [];
  let waitedMs = 0;
  return {
    /** The endpoint that leads to this emulator. */
    to: async (emulator: string): Promise<string> => {
      const { port, hostname } = new URL(emulator);
      const server = createServer({ noDelay: true }, (caller) => {
        const aws = connect({ port: Number(port), host: hostname, noDelay: true });
        let askedMs: number | undefined;
        caller.on("data", (bytes) => {
          askedMs ??= performance.now();
          setTimeout(() => aws.write(bytes), delayMs);
        });
        aws.on("data", (bytes) => {
          caller.write(bytes);
          if (askedMs !== undefined) waitedMs += performance.now() - askedMs;
          askedMs = undefined;
        });
        for (const [one, other] of [
          [caller, aws],
          [aws, caller],
        ] as const) {
          one.on("error", () => other.destroy());
          one.on("close", () => other.destroy());
        }
      });
      servers.push(server);
      return `http://127.0.0.1:${await listenOnLoopback(server)}`;
    },
    /** From the first byte of each request to the first of its response, since the last call. */
    takeWaitedMs: (): number => {
      const taken = waitedMs;
      waitedMs = 0;
      return taken;
    },
    stop: (): void => {
      for (const server of servers) server.close();
    },
  };
};
