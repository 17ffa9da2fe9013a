import { createPostpone } from "../../shared/lambda/postpone.ts";
import { queueHandler } from "../../shared/lambda/queue-handler.ts";
import { documentClient, queueClient, secretsClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { parseIpRanges } from "../../shared/platform/ip-range.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { splitList, systemResolve } from "../../shared/webhooks/address-guard.ts";
import { deliverWebhook } from "../../shared/webhooks/deliver-webhook.ts";
import { deliveryMessage, namesInDelivery } from "../../shared/webhooks/delivery-queue.ts";
import { createPost } from "../../shared/webhooks/post-webhook.ts";
import { deliverWebhookSpec } from "../specs.ts";

const env = readEnv(deliverWebhookSpec.environment);
const db = documentClient();
const clock = systemClock;
const deps = {
  ledger: { db, table: env.LEDGER_TABLE, clock },
  endpoints: {
    accounts: { db, ledgerTable: env.LEDGER_TABLE },
    webhookSealingKey: secret(secretsClient(), env.WEBHOOK_KEY_SECRET_ID),
    clock,
  },
  post: createPost({
    allowed: parseIpRanges(env.WEBHOOK_ALLOWED_CIDRS),
    refusedHosts: splitList(env.WEBHOOK_REFUSED_HOSTS),
    resolve: systemResolve,
  }),
  random: Math.random,
};

/** Delivers webhooks: one attempt per message. */
export const handler = queueHandler(
  deliveryMessage,
  namesInDelivery,
  deliverWebhook(deps),
  createPostpone(queueClient(), env.DELIVERY_QUEUE_URL),
);
