import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import { DynamoDB } from "@aws-sdk/client-dynamodb";
import { RateLimiterDynamo, RateLimiterRes } from "rate-limiter-flexible";
import { aLambdaContext } from "../../builders/lambda-context.ts";
import {
  type Answer,
  accountOf,
  answerOf,
  client,
  debit,
  deliver,
  type Order,
  orderSchema,
  priceOf,
  Refusal,
  tables,
} from "./shop.ts";

const limiter = new RateLimiterDynamo({
  storeClient: new DynamoDB(),
  tableName: tables.LIMITS_TABLE,
  tableCreated: true,
  ttlSet: true,
  points: 60,
  duration: 60,
});

type Paid = { readonly accountId: string; readonly order: Order };

/** Without a Lambda context Powertools logs a warning for each request. */
const config = new IdempotencyConfig({
  eventKeyJmesPath: "[accountId, order.reference]",
  lambdaContext: aLambdaContext(),
});

const buyOnce = makeIdempotent(
  async ({ accountId, order }: Paid): Promise<Answer> => {
    const kobo = priceOf(order);
    await debit(accountId, kobo);
    return answerOf(order, kobo, await deliver(order));
  },
  {
    persistenceStore: new DynamoDBPersistenceLayer({ tableName: tables.IDEMPOTENCY_TABLE, awsSdkV3Client: client }),
    config,
    dataIndexArgument: 0,
  },
);

/** A purchase built from well-known packages for rate limit and idempotency, with the debit written by hand. */
export const buyByPackages = async (authorization: string | undefined, body: unknown): Promise<Answer> => {
  const accountId = await accountOf(authorization);
  await withinLimit(authorization ?? "");
  const parsed = orderSchema.safeParse(body);
  if (!parsed.success) throw new Refusal(422, "The order is not valid");
  return buyOnce({ accountId, order: parsed.data });
};

const withinLimit = async (key: string): Promise<void> => {
  try {
    await limiter.consume(key);
  } catch (refusal) {
    throw refusal instanceof RateLimiterRes ? new Refusal(429, "Too many requests") : refusal;
  }
};
