import awsLambdaFastify from "@fastify/aws-lambda";
import type { APIGatewayProxyEventV2, Context } from "aws-lambda";
import { app } from "../fastify.ts";
import { idempotency } from "../wallet-by-packages.ts";

/** https://fastify.dev/docs/latest/Guides/Serverless/ */
const proxy = awsLambdaFastify(app);
// https://github.com/fastify/aws-lambda-fastify#lower-cold-start-latency
await app.ready();

export const handler = (event: APIGatewayProxyEventV2, context: Context) => {
  idempotency.registerLambdaContext(context);
  return proxy(event, context);
};
