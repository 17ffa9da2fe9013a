import fastify from "fastify";
import { logged, refusalOf } from "./shop.ts";
import { buyByPackages } from "./wallet-by-packages.ts";

export const app = fastify({ bodyLimit: 16_384 });

app.post("/v1/vtu/data/purchase", async (request, reply) => {
  const startedAtMs = Date.now();
  try {
    return await buyByPackages(request.headers.authorization, request.body);
  } catch (error) {
    const { status, message } = refusalOf(error);
    reply.status(status);
    return { status: false, message };
  } finally {
    logged(reply.statusCode, startedAtMs);
  }
});
