import { createHash } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";

/** What the peers share: order, price, key, debit and upstream request, written in the simplest way. */
const env = z
  .object({
    KEYS_TABLE: z.string(),
    WALLETS_TABLE: z.string(),
    PURCHASES_TABLE: z.string(),
    IDEMPOTENCY_TABLE: z.string(),
    LIMITS_TABLE: z.string(),
    UPSTREAM_BASE_URL: z.string(),
    UPSTREAM_KEY: z.string(),
  })
  .parse(process.env);
export const tables = env;

export const client = new DynamoDBClient();
export const db = DynamoDBDocumentClient.from(client);

export const orderSchema = z.object({
  network_id: z.int(),
  plan_id: z.int(),
  phone_number: z.string().regex(/^0\d{10}$/),
  reference: z.string().min(1).max(100),
});
export type Order = z.infer<typeof orderSchema>;

const pricesKobo: Readonly<Record<number, number>> = { 101: 50_000, 201: 50_000, 301: 45_000, 401: 48_550 };
export const priceOf = ({ plan_id }: Order): number => {
  const kobo = pricesKobo[plan_id];
  if (kobo === undefined) throw new Refusal(422, "There is no such plan");
  return kobo;
};

/** A response that is not 200. */
export class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const keyItem = z.object({ account_id: z.string(), whitelist: z.array(z.string()) });
export type KeyItem = z.infer<typeof keyItem>;

export const bearerOf = (authorization = ""): string => authorization.replace(/^Bearer /, "");

/**
 * The account of a key, and its whitelist. One read.
 * https://docs.aws.amazon.com/AWSJavaScriptSDK/v3/latest/Package/-aws-sdk-lib-dynamodb/ (GetCommand)
 */
export const findKey = async (key: string): Promise<KeyItem> => {
  const hash = createHash("sha256").update(key).digest("hex");
  const { Item } = await db.send(new GetCommand({ TableName: env.KEYS_TABLE, Key: { pk: hash } }));
  if (Item === undefined) throw new Refusal(401, "The key is not valid");
  return keyItem.parse(Item);
};

/**
 * Debits the wallet if the balance is sufficient. One write.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.ConditionExpressions.html
 */
export const debit = async (accountId: string, kobo: number): Promise<void> => {
  const command = new UpdateCommand({
    TableName: env.WALLETS_TABLE,
    Key: { pk: accountId },
    UpdateExpression: "SET balance_kobo = balance_kobo - :kobo",
    ConditionExpression: "balance_kobo >= :kobo",
    ExpressionAttributeValues: { ":kobo": kobo },
  });
  try {
    await db.send(command);
  } catch (error) {
    if (error instanceof Error && error.name === "ConditionalCheckFailedException") {
      throw new Refusal(402, "The balance is insufficient");
    }
    throw error;
  }
};

const delivered = z.object({
  data: z.object({ transaction: z.object({ reference: z.string(), status: z.string() }) }),
});

/** Orders from the upstream; resolves with the upstream's reference and status. */
export const deliver = async (order: Order): Promise<{ readonly reference: string; readonly status: string }> => {
  const response = await fetch(`${env.UPSTREAM_BASE_URL}/vtu/data/purchase`, {
    method: "POST",
    headers: { authorization: `Bearer ${env.UPSTREAM_KEY}`, "content-type": "application/json" },
    body: JSON.stringify(order),
    signal: AbortSignal.timeout(20_000),
  });
  if (!response.ok) throw new Refusal(502, "The upstream has rejected the order");
  return delivered.parse(await response.json()).data.transaction;
};

export const answerOf = (order: Order, kobo: number, { reference, status }: { reference: string; status: string }) => ({
  status: true,
  message: "Data purchase",
  data: {
    transaction: {
      reference,
      caller_reference: order.reference,
      status,
      amount: kobo / 100,
      phone_number: order.phone_number,
      created_at: new Date().toISOString(),
    },
  },
});
export type Answer = ReturnType<typeof answerOf>;

/** The response to an error; an unexpected one is logged and becomes a 500. */
export const refusalOf = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error;
  console.error(error);
  return new Refusal(500, "Server error");
};

/** Logs one line per request. */
export const logged = (status: number, durationMs: number): void => {
  const line = { event: "request.answered", status, duration_ms: Math.round(durationMs) };
  console.log(JSON.stringify(line));
};
