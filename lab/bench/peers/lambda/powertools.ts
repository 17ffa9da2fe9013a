import type { APIGatewayProxyEventV2, APIGatewayProxyResultV2, Context } from "aws-lambda";
import { type Answer, bearerOf, logged, orderSchema, Refusal, refusalOf } from "../shop.ts";
import { admit, buyOnce, idempotency } from "../wallet-by-packages.ts";

/**
 * No framework. https://docs.aws.amazon.com/powertools/typescript/latest/features/idempotency/ (registerLambdaContext)
 */
export const handler = async (event: APIGatewayProxyEventV2, context: Context): Promise<APIGatewayProxyResultV2> => {
  const startedAtMs = Date.now();
  idempotency.registerLambdaContext(context);
  const answer = await answered(event);
  logged(answer.statusCode, Date.now() - startedAtMs);
  return { ...answer, headers: { "content-type": "application/json" } };
};

const answered = async (event: APIGatewayProxyEventV2) => {
  try {
    return { statusCode: 200, body: JSON.stringify(await purchase(event)) };
  } catch (error) {
    const { status, message } = refusalOf(error);
    return { statusCode: status, body: JSON.stringify({ status: false, message }) };
  }
};

const purchase = async ({ headers, body = "{}", requestContext }: APIGatewayProxyEventV2): Promise<Answer> => {
  const { account_id } = await admit(bearerOf(headers.authorization), requestContext.http.sourceIp);
  const order = orderSchema.safeParse(JSON.parse(body));
  if (!order.success) throw new Refusal(422, "The order is not valid");
  return buyOnce({ accountId: account_id, order: order.data });
};
