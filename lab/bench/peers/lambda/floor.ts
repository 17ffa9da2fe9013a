import type { APIGatewayProxyEventV2, APIGatewayProxyResultV2 } from "aws-lambda";
import { ANSWER, sendThreeCalls } from "../floor.ts";

export const handler = async ({ headers }: APIGatewayProxyEventV2): Promise<APIGatewayProxyResultV2> => {
  await sendThreeCalls(headers.authorization);
  return { statusCode: 200, body: ANSWER };
};
