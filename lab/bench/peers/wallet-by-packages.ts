import { BlockList } from "node:net";
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import { DynamoDB } from "@aws-sdk/client-dynamodb";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { RateLimiterDynamo, RateLimiterRes } from "rate-limiter-flexible";
import {
  type Answer,
  answerOf,
  client,
  db,
  debit,
  deliver,
  findKey,
  type KeyItem,
  type Order,
  priceOf,
  Refusal,
  tables,
} from "./shop.ts";

/**
 * A purchase with the same checks as this service's, from the packages that are usual for them. What was bought is
 * known from the idempotency record alone. https://github.com/animir/node-rate-limiter-flexible/wiki/DynamoDB
 */
const limiter = new RateLimiterDynamo({
  storeClient: new DynamoDB(),
  tableName: tables.LIMITS_TABLE,
  // The table is deployed, so an instance does not create it at its start.
  tableCreated: true,
  ttlSet: true,
  points: 60,
  duration: 60,
});

/** The key's account, if the key may be used from this address and is within its limit. */
export const admit = async (key: string, address: string): Promise<KeyItem> => {
  const found = await findKey(key);
  if (!isWhitelisted(address, found.whitelist)) throw new Refusal(403, "The IP address is not whitelisted");
  await withinLimit(key);
  return found;
};

/** https://nodejs.org/api/net.html#class-netblocklist */
const isWhitelisted = (address: string, whitelist: readonly string[]): boolean => {
  const list = new BlockList();
  for (const range of whitelist) {
    const [network = "", bits] = range.split("/");
    list.addSubnet(network, Number(bits));
  }
  return list.check(address);
};

/** https://github.com/animir/node-rate-limiter-flexible/wiki/Overall-example */
export const withinLimit = async (key: string): Promise<void> => {
  try {
    await limiter.consume(key);
  } catch (refusal) {
    throw refusal instanceof RateLimiterRes ? new Refusal(429, "Too many requests") : refusal;
  }
};

type Paid = { readonly accountId: string; readonly order: Order };

/**
 * The Lambda handlers register their context with it.
 * https://docs.aws.amazon.com/powertools/typescript/latest/features/idempotency/#choosing-a-payload-subset-for-idempotency
 */
export const idempotency = new IdempotencyConfig({ eventKeyJmesPath: "[accountId, order.reference]" });

/** https://docs.aws.amazon.com/powertools/typescript/latest/features/idempotency/#makeidempotent-function-wrapper */
export const buyOnce = makeIdempotent(
  async ({ accountId, order }: Paid): Promise<Answer> => {
    const kobo = priceOf(order);
    await debit(accountId, kobo);
    try {
      return answerOf(order, kobo, await deliver(order));
    } catch (error) {
      // Powertools deletes the record of a function that throws, so the next attempt is debited again.
      await refund(accountId, kobo);
      throw error;
    }
  },
  {
    persistenceStore: new DynamoDBPersistenceLayer({ tableName: tables.IDEMPOTENCY_TABLE, awsSdkV3Client: client }),
    config: idempotency,
    dataIndexArgument: 0,
  },
);

const refund = async (accountId: string, kobo: number): Promise<void> => {
  await db.send(
    new UpdateCommand({
      TableName: tables.WALLETS_TABLE,
      Key: { pk: accountId },
      UpdateExpression: "SET balance_kobo = balance_kobo + :kobo",
      ExpressionAttributeValues: { ":kobo": kobo },
    }),
  );
};
