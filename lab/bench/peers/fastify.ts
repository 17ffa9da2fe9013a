import fastify from "fastify";
import * as z from "zod";
import { bearerOf, logged, type Order, orderSchema, refusalOf } from "./shop.ts";
import { admit, buyOnce } from "./wallet-by-packages.ts";

declare module "fastify" {
  interface FastifyRequest {
    accountId: string;
  }
}

export const app = fastify({ bodyLimit: 16_384 });

// https://fastify.dev/docs/latest/Reference/Decorators/
app.decorateRequest("accountId", "");
// https://fastify.dev/docs/latest/Reference/Hooks/ (onRequest: before the body is parsed)
app.addHook("onRequest", async (request) => {
  const { account_id } = await admit(bearerOf(request.headers.authorization), request.ip);
  request.accountId = account_id;
});
app.addHook("onResponse", async (_request, { statusCode, elapsedTime }) => logged(statusCode, elapsedTime));
// https://fastify.dev/docs/latest/Reference/Errors/
app.setErrorHandler((error, _request, reply) => {
  const isInvalid = typeof error === "object" && error !== null && "validation" in error;
  const { status, message } = isInvalid ? { status: 422, message: "The order is not valid" } : refusalOf(error);
  return reply.status(status).send({ status: false, message });
});

// https://fastify.dev/docs/latest/Reference/Validation-and-Serialization/ (Ajv compiles this draft only)
const body = z.toJSONSchema(orderSchema, { target: "draft-7" });

app.post<{ Body: Order }>("/v1/vtu/data/purchase", { schema: { body } }, ({ accountId, body: order }) =>
  buyOnce({ accountId, order }),
);
