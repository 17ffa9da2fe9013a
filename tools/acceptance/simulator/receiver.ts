import type { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { verifyWebhook, type WebhookHeaders } from "../../../client/src/webhooks.ts";
import { type ReceivedWebhook, receiver, receiverPk } from "./table.ts";

type IncomingWebhook = {
  readonly token: string;
  readonly headers: WebhookHeaders;
  readonly body: string | Uint8Array;
};

/**
 * Receives a webhook as docs/webhooks.md says, and keeps what it found. It refuses the first one, which the service must
 * send again. Resolves with the HTTP status.
 */
export const receiveWebhook = async (
  db: DynamoDBDocument,
  TableName: string,
  { token, headers, body }: IncomingWebhook,
): Promise<number> => {
  const Key = { pk: receiverPk(token) };
  const { Item } = await db.get({ TableName, Key, ConsistentRead: true });
  if (Item === undefined) return 404;
  const webhook = await verified(headers, body, receiver.parse(Item).secret);
  const { Attributes } = await db.update({
    TableName,
    Key,
    UpdateExpression: "SET received = list_append(received, :webhooks)",
    ConditionExpression: "attribute_exists(pk)",
    ExpressionAttributeValues: { ":webhooks": [webhook] },
    ReturnValues: "ALL_NEW",
  });
  if (webhook.fault !== "") return 401;
  return receiver.parse(Attributes).received.length === 1 ? 503 : 200;
};

const verified = async (
  headers: WebhookHeaders,
  body: string | Uint8Array,
  secret: string,
): Promise<ReceivedWebhook> => {
  const received = { webhook_id: "", reference: "", status: "", fault: "", at_ms: Date.now() };
  try {
    const { id, name, ...event } = await verifyWebhook(headers, body, secret);
    if (event.event !== "transaction.updated") return { ...received, webhook_id: id, fault: `The event is ${name}` };
    const { reference, status } = event.data;
    return { ...received, webhook_id: id, reference, status };
  } catch (error) {
    return { ...received, fault: error instanceof Error ? error.message : String(error) };
  }
};
