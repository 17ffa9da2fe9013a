import { createHash, randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";

/** What the stacks share: the order, its price, the key, the debit and the upstream, as one writes them at first. */
const env = z
  .object({
    KEYS_TABLE: z.string(),
    WALLETS_TABLE: z.string(),
    PURCHASES_TABLE: z.string(),
    IDEMPOTENCY_TABLE: z.string(),
    LIMITS_TABLE: z.string(),
    /** Absent: orders are made up, as with a test key. */
    UPSTREAM_BASE_URL: z.string().optional(),
    UPSTREAM_KEY: z.string().default(""),
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

/** An answer that is not 200. */
export class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const keyItem = z.object({ account_id: z.string() });

/** Whose key it is. One read. */
export const accountOf = async (authorization = ""): Promise<string> => {
  const hash = createHash("sha256")
    .update(authorization.replace(/^Bearer /, ""))
    .digest("hex");
  const { Item } = await db.send(new GetCommand({ TableName: env.KEYS_TABLE, Key: { pk: hash } }));
  if (Item === undefined) throw new Refusal(401, "The key is not valid");
  return keyItem.parse(Item).account_id;
};

/** Takes the price from the wallet, if it is there. One write. */
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
      throw new Refusal(402, "The balance does not suffice");
    }
    throw error;
  }
};

const delivered = z.object({
  data: z.object({ transaction: z.object({ reference: z.string(), status: z.string() }) }),
});

/** Has the upstream deliver it; resolves with the upstream's reference and status. */
export const deliver = async (order: Order): Promise<{ readonly reference: string; readonly status: string }> => {
  if (env.UPSTREAM_BASE_URL === undefined) return { reference: `DATA_${randomUUID()}`, status: "success" };
  const response = await fetch(`${env.UPSTREAM_BASE_URL}/vtu/data/purchase`, {
    method: "POST",
    headers: { authorization: `Bearer ${env.UPSTREAM_KEY}`, "content-type": "application/json" },
    body: JSON.stringify(order),
    signal: AbortSignal.timeout(20_000),
  });
  if (!response.ok) throw new Refusal(502, "The provider has refused");
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

/** What is answered to an error: a refusal as it is, anything else as a 500 with a line in the log. */
export const refusalOf = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error;
  console.error(error);
  return new Refusal(500, "Server error");
};

/** One line for each request. */
export const logged = (status: number, startedAtMs: number): void => {
  const line = { event: "request.answered", status, durationMs: Date.now() - startedAtMs };
  console.log(JSON.stringify(line));
};
