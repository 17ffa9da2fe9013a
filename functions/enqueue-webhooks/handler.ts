import { streamHandler } from "../../shared/lambda/stream-handler.ts";
import { documentClient, queueClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { deliveryQueue } from "../../shared/webhooks/delivery-queue.ts";
import { enqueueWebhook } from "../../shared/webhooks/enqueue-webhook.ts";
import { enqueueWebhooksSpec } from "../specs.ts";

const env = readEnv(enqueueWebhooksSpec.environment);

/** Reads the ledger's stream, and enqueues the webhooks of each transaction that becomes final. */
export const handler = streamHandler(
  enqueueWebhook({
    ledger: { db: documentClient(), table: env.LEDGER_TABLE },
    queue: deliveryQueue(queueClient(), env.DELIVERY_QUEUE_URL),
  }),
);
