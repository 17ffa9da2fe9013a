import { catalogStore } from "../../shared/catalog/catalog-store.ts";
import { refreshCatalog } from "../../shared/catalog/refresh-catalog.ts";
import { scheduleHandler } from "../../shared/lambda/schedule-handler.ts";
import { documentClient, queueClient, secretsClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { httpUpstream } from "../../shared/upstream/http-upstream.ts";
import { parseUpstreamProfile } from "../../shared/upstream/profile.ts";
import { deliveryQueue } from "../../shared/webhooks/delivery-queue.ts";
import { enqueueCatalogUpdated } from "../../shared/webhooks/enqueue-catalog-updated.ts";
import { refreshCatalogSpec } from "../specs.ts";

const env = readEnv(refreshCatalogSpec.environment);
const db = documentClient();
const deps = {
  store: catalogStore(db, env.CACHE_TABLE),
  upstream: httpUpstream({
    baseUrl: env.UPSTREAM_BASE_URL,
    profile: parseUpstreamProfile(env.UPSTREAM_PROFILE),
    liveKey: secret(secretsClient(), env.UPSTREAM_KEY_SECRET_ID),
  }),
  baseUrl: env.UPSTREAM_BASE_URL,
  announce: enqueueCatalogUpdated({
    ledger: { db, table: env.LEDGER_TABLE, clock: systemClock },
    queue: deliveryQueue(queueClient(), env.DELIVERY_QUEUE_URL),
  }),
  clock: systemClock,
};

/** Runs each minute: fetches the catalog when it is due, and enqueues `catalog.updated` when it has changed. */
export const handler = scheduleHandler("refresh-catalog.ran", (deadline) => refreshCatalog(deps, deadline));
