import type { Context } from "aws-lambda";
import { getConnInfo, handle, type LambdaEvent } from "hono/aws-lambda";
import { createApp } from "../hono.ts";
import { idempotency } from "../wallet-by-packages.ts";

/** https://hono.dev/docs/getting-started/aws-lambda */
const proxy = handle(createApp(getConnInfo));

export const handler = (event: LambdaEvent, context: Context) => {
  idempotency.registerLambdaContext(context);
  return proxy(event);
};
