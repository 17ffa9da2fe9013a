import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import * as z from "zod";
import { aLambdaContext } from "../../../test/builders/aws/lambda-context.ts";
import { reportTo } from "../server-report.ts";

/** Starts one stack as a server: `node server.ts express`. */
const port = (address: AddressInfo | string | null): number => z.object({ port: z.number() }).parse(address).port;
const HOST = "127.0.0.1";

/** Without a Lambda context Powertools logs a warning for each request. */
const registerContext = async (): Promise<void> => {
  const { idempotency } = await import("./wallet-by-packages.ts");
  idempotency.registerLambdaContext(aLambdaContext());
};

const servers = {
  floor: async (): Promise<number> => {
    const { ANSWER, sendThreeCalls } = await import("./floor.ts");
    const server = createServer(async (request, response) => {
      await sendThreeCalls(request.headers.authorization);
      response.end(ANSWER);
    });
    server.listen(0, HOST);
    await once(server, "listening");
    return port(server.address());
  },
  express: async (): Promise<number> => {
    const { app } = await import("./express.ts");
    const server = app.listen(0, HOST);
    await once(server, "listening");
    return port(server.address());
  },
  fastify: async (): Promise<number> => {
    await registerContext();
    const { app } = await import("./fastify.ts");
    await app.listen({ port: 0, host: HOST });
    return port(app.server.address());
  },
  hono: async (): Promise<number> => {
    await registerContext();
    const { createApp } = await import("./hono.ts");
    const server = serve({ fetch: createApp(getConnInfo).fetch, port: 0, hostname: HOST });
    await once(server, "listening");
    return port(server.address());
  },
};

const name = z.enum(["floor", "express", "fastify", "hono"]).parse(process.argv[2]);
reportTo(await servers[name]());
