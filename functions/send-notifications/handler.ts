import { scheduleHandler } from "../../shared/lambda/schedule-handler.ts";
import { sendNotifications } from "../../shared/notifications/send-notifications.ts";
import { documentClient, notificationsClient, secretsClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { parseIpRanges } from "../../shared/platform/ip-range.ts";
import { stageName } from "../../shared/platform/log.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { splitList, systemResolve } from "../../shared/webhooks/address-guard.ts";
import { createPost } from "../../shared/webhooks/post-webhook.ts";
import { sendNotificationsSpec } from "../specs.ts";

const env = readEnv(sendNotificationsSpec.environment);
const deps = {
  ledger: { db: documentClient(), table: env.LEDGER_TABLE, clock: systemClock },
  topic: { sns: notificationsClient(), arn: env.NOTIFICATIONS_TOPIC_ARN },
  post: createPost({
    allowed: parseIpRanges(env.WEBHOOK_ALLOWED_CIDRS),
    refusedHosts: splitList(env.WEBHOOK_REFUSED_HOSTS),
    resolve: systemResolve,
  }),
  sealingKey: secret(secretsClient(), env.WEBHOOK_KEY_SECRET_ID),
  timeZone: env.TIME_ZONE,
  stage: stageName(),
  consoleUrl: env.CONSOLE_URL,
};

/** Each minute: tells people what they chose to be notified of. */
export const handler = scheduleHandler("send-notifications.ran", (deadline) => sendNotifications(deps, deadline));
