import { streamHandler } from "../../shared/lambda/stream-handler.ts";
import { sqsClient } from "../../shared/platform/aws-clients.ts";
import { functionEnvironments, readEnv } from "../../shared/platform/env.ts";
import { deliveryQueue } from "../../shared/webhooks/delivery-queue.ts";
import { enqueueWebhook } from "../../shared/webhooks/enqueue-webhook.ts";

const env = readEnv(functionEnvironments["enqueue-webhooks"]);

/** Reads the ledger's stream, and enqueues a webhook for each transaction that becomes final. */
export const handler = streamHandler(enqueueWebhook(deliveryQueue(sqsClient(), env.DELIVERY_QUEUE_URL)));
