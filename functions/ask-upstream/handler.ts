import { scheduleHandler } from "../../shared/lambda/schedule-handler.ts";
import { parseUpstreamCosts } from "../../shared/ledger/upstream-costs.ts";
import { outcomeQueue } from "../../shared/orders/outcome-queue.ts";
import { documentClient, queueClient, secretsClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { upstreamReader } from "../../shared/upstream/http-upstream.ts";
import { parseUpstreamProfile } from "../../shared/upstream/profile.ts";
import { askUpstream } from "../../shared/upstream-lookup/ask-upstream.ts";
import { askForBalance } from "../../shared/upstream-lookup/upstream-balance.ts";
import { askUpstreamSpec } from "../specs.ts";

const env = readEnv(askUpstreamSpec.environment);
const db = documentClient();
const profile = parseUpstreamProfile(env.UPSTREAM_PROFILE);
const deps = {
  ledger: { db, table: env.LEDGER_TABLE, clock: systemClock },
  cache: { db, table: env.CACHE_TABLE },
  outcomeQueue: outcomeQueue(queueClient(), env.OUTCOMES_QUEUE_URL),
  costs: parseUpstreamCosts(env.UPSTREAM_COSTS),
  profile,
  reader: upstreamReader({
    baseUrl: env.UPSTREAM_BASE_URL,
    profile,
    liveKey: secret(secretsClient(), env.UPSTREAM_KEY_SECRET_ID),
  }),
};

/**
 * Each minute: asks the upstream for purchases that are open, and puts what it answers into the outcomes queue. Each hour:
 * asks it for our balance.
 */
export const handler = scheduleHandler("ask-upstream.ran", async (deadline) => ({
  ...(await askUpstream(deps, deadline)),
  balance_read: await askForBalance({ ...deps, clock: systemClock }, deadline),
}));
