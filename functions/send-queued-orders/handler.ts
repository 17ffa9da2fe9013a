import { catalogMemory } from "../../shared/catalog/catalog-memory.ts";
import { catalogStore } from "../../shared/catalog/catalog-store.ts";
import { scheduleHandler } from "../../shared/lambda/schedule-handler.ts";
import { parseUpstreamCosts } from "../../shared/ledger/upstream-costs.ts";
import { outcomeQueue } from "../../shared/orders/outcome-queue.ts";
import { documentClient, queueClient, secretsClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { orderGate } from "../../shared/queued-orders/order-gate.ts";
import { sendQueuedOrders } from "../../shared/queued-orders/send-queued-orders.ts";
import { httpUpstream } from "../../shared/upstream/http-upstream.ts";
import { parseUpstreamProfile } from "../../shared/upstream/profile.ts";
import { sendQueuedOrdersSpec } from "../specs.ts";

const env = readEnv(sendQueuedOrdersSpec.environment);
const db = documentClient();
const cache = { db, table: env.CACHE_TABLE };
const deps = {
  ledger: { db, table: env.LEDGER_TABLE, clock: systemClock },
  cache,
  outcomeQueue: outcomeQueue(queueClient(), env.OUTCOMES_QUEUE_URL),
  costs: parseUpstreamCosts(env.UPSTREAM_COSTS),
  gate: orderGate({ ...cache, initially: env.PURCHASES_INITIALLY }, systemClock, "vtu"),
  catalog: catalogMemory(catalogStore(db, env.CACHE_TABLE), systemClock),
  upstream: httpUpstream({
    baseUrl: env.UPSTREAM_BASE_URL,
    profile: parseUpstreamProfile(env.UPSTREAM_PROFILE),
    liveKey: secret(secretsClient(), env.UPSTREAM_KEY_SECRET_ID),
  }),
  queueMinutes: env.QUEUE_MINUTES,
};

/** Each minute: sends orders that wait for the upstream's rate limit, and refunds those that waited for too long. */
export const handler = scheduleHandler("send-queued-orders.ran", (deadline) => sendQueuedOrders(deps, deadline));
