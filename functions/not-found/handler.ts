import type { Context } from "aws-lambda";
import { consoleRedirect } from "../../shared/console/console-redirect.ts";
import { admitPublic, apiHandler } from "../../shared/lambda/api-handler.ts";

const answer = apiHandler({}, admitPublic, {});

/** Requests without a route: 404 in the error envelope, or the way to the console. */
export const handler = async (event: unknown, context: Context) =>
  consoleRedirect(event) ?? (await answer(event, context));
