import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import * as z from "zod";
import { reportTo } from "../server-report.ts";

/** Starts one stack as a server: `node server.ts express`. */
const port = (address: AddressInfo | string | null): number => z.object({ port: z.number() }).parse(address).port;
const HOST = "127.0.0.1";

const servers = {
  express: async (): Promise<number> => {
    const { app } = await import("./express.ts");
    const server = app.listen(0, HOST);
    await once(server, "listening");
    return port(server.address());
  },
  fastify: async (): Promise<number> => {
    const { app } = await import("./fastify.ts");
    await app.listen({ port: 0, host: HOST });
    return port(app.server.address());
  },
  hono: async (): Promise<number> => {
    const { app } = await import("./hono.ts");
    const server = serve({ fetch: app.fetch, port: 0, hostname: HOST });
    await once(server, "listening");
    return port(server.address());
  },
};

const name = z.enum(["express", "fastify", "hono"]).parse(process.argv[2]);
reportTo(await servers[name]());
