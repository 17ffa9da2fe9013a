import { createPostpone } from "../../shared/lambda/postpone.ts";
import { queueHandler } from "../../shared/lambda/queue-handler.ts";
import { parseUpstreamCosts } from "../../shared/ledger/upstream-costs.ts";
import { namesInOutcome, outcomeMessage } from "../../shared/orders/outcome-message.ts";
import { documentClient, queueClient, secretsClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { loadKeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { applyOutcomeMessage } from "../../shared/upstream-events/apply-outcome-message.ts";
import { applyUpstreamEventSpec } from "../specs.ts";

const env = readEnv(applyUpstreamEventSpec.environment);
const deps = {
  costs: parseUpstreamCosts(env.UPSTREAM_COSTS),
  ledger: { db: documentClient(), table: env.LEDGER_TABLE, clock: systemClock },
  keyedHashes: loadKeyedHashes(secret(secretsClient(), env.REFERENCE_KEY_SECRET_ID)),
};

/** Applies the messages of the outcomes queue to transactions. */
export const handler = queueHandler(
  outcomeMessage,
  namesInOutcome,
  applyOutcomeMessage(deps),
  createPostpone(queueClient(), env.OUTCOMES_QUEUE_URL),
);
