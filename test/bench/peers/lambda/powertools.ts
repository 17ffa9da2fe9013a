import type { APIGatewayProxyEventV2, APIGatewayProxyResultV2 } from "aws-lambda";
import { logged, refusalOf } from "../shop.ts";
import { buyByPackages } from "../wallet-by-packages.ts";

/** No framework: a handler, Powertools' idempotency and a rate limiter. */
export const handler = async ({ headers, body }: APIGatewayProxyEventV2): Promise<APIGatewayProxyResultV2> => {
  const startedAtMs = Date.now();
  const answer = await answered(headers.authorization, body);
  logged(answer.statusCode, startedAtMs);
  return { ...answer, headers: { "content-type": "application/json" } };
};

const answered = async (authorization: string | undefined, body = "{}") => {
  try {
    return { statusCode: 200, body: JSON.stringify(await buyByPackages(authorization, JSON.parse(body))) };
  } catch (error) {
    const { status, message } = refusalOf(error);
    return { statusCode: status, body: JSON.stringify({ status: false, message }) };
  }
};
