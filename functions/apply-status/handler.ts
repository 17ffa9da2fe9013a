import { documentClient, secretsClient, sqsClient } from "../../shared/platform/aws.ts";
import { functionEnvironments, readEnv } from "../../shared/platform/env.ts";
import { postponing } from "../../shared/platform/postpone.ts";
import { queueHandler } from "../../shared/platform/queue-handler.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { applyStatus } from "../../shared/status/apply-status.ts";
import { statusMessage } from "../../shared/status/status-queue.ts";
import { namingFrom } from "../../shared/wallet/naming.ts";

const env = readEnv(functionEnvironments["apply-status"]);
const deps = {
  ledger: { db: documentClient(), table: env.LEDGER_TABLE, clock: systemClock },
  naming: namingFrom(secret(secretsClient(), env.REFERENCE_KEY_SECRET_ID)),
};

/** Applies what the status queue tells about transactions. */
export const handler = queueHandler(statusMessage, applyStatus(deps), postponing(sqsClient(), env.STATUS_QUEUE_URL));
