import { GetCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import {
  type Answer,
  answerOf,
  bearerOf,
  db,
  debit,
  deliver,
  findKey,
  orderSchema,
  priceOf,
  Refusal,
  tables,
} from "./shop.ts";

const purchaseItem = z.object({ order: orderSchema, kobo: z.number(), reference: z.string(), status: z.string() });

/**
 * The least that one can write: get the key, get the reference, debit the wallet, put the purchase, order from the
 * upstream, update the purchase. No whitelist, no rate limit, no refund; two requests with one reference at the same
 * time are both debited, and a crash between two of these five calls to DynamoDB loses money.
 */
export const buyByHand = async (authorization: string | undefined, body: unknown): Promise<Answer> => {
  const { account_id: accountId } = await findKey(bearerOf(authorization));
  const parsed = orderSchema.safeParse(body);
  if (!parsed.success) throw new Refusal(422, "The order is not valid");
  const order = parsed.data;
  const Key = { pk: `${accountId}#${order.reference}` };
  const { Item } = await db.send(new GetCommand({ TableName: tables.PURCHASES_TABLE, Key }));
  if (Item !== undefined) {
    const existing = purchaseItem.parse(Item);
    return answerOf(existing.order, existing.kobo, existing);
  }
  const kobo = priceOf(order);
  await debit(accountId, kobo);
  const purchase = { ...Key, account_id: accountId, order, kobo, status: "processing", at: new Date().toISOString() };
  await db.send(new PutCommand({ TableName: tables.PURCHASES_TABLE, Item: purchase }));
  const outcome = await deliver(order);
  await db.send(
    new UpdateCommand({
      TableName: tables.PURCHASES_TABLE,
      Key,
      UpdateExpression: "SET #status = :status, #reference = :reference",
      ExpressionAttributeNames: { "#status": "status", "#reference": "reference" },
      ExpressionAttributeValues: { ":status": outcome.status, ":reference": outcome.reference },
    }),
  );
  return answerOf(order, kobo, outcome);
};
