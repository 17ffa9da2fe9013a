import { createAdmission } from "../../shared/access/admission.ts";
import { loadChecksumKey } from "../../shared/access/checksum-key.ts";
import { catalogMemory } from "../../shared/catalog/catalog-memory.ts";
import { catalogStore } from "../../shared/catalog/catalog-store.ts";
import { purchaseRoutes } from "../../shared/contract/routes.ts";
import { koboFromNaira } from "../../shared/contract/values/money.ts";
import { apiHandler } from "../../shared/lambda/api-handler.ts";
import { checkReferenceKey } from "../../shared/ledger/reference-key.ts";
import { parseUpstreamCosts } from "../../shared/ledger/upstream-costs.ts";
import { cancelOrder } from "../../shared/orders/cancel-order.ts";
import { outcomeQueue } from "../../shared/orders/outcome-queue.ts";
import { documentClient, queueClient, secretsClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { loadKeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { preload } from "../../shared/platform/preload.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { priceRules } from "../../shared/prices/price-list.ts";
import { buyAirtime } from "../../shared/purchase/buy-airtime.ts";
import { buyData } from "../../shared/purchase/buy-data.ts";
import { orderGate } from "../../shared/queued-orders/order-gate.ts";
import { httpUpstream } from "../../shared/upstream/http-upstream.ts";
import { parseUpstreamProfile } from "../../shared/upstream/profile.ts";
import { sandboxUpstream } from "../../shared/upstream/sandbox.ts";
import { purchaseSpec } from "../specs.ts";

const env = readEnv(purchaseSpec.environment);
const db = documentClient();
const secrets = secretsClient();
const profile = parseUpstreamProfile(env.UPSTREAM_PROFILE);
const liveKey = secret(secrets, env.UPSTREAM_KEY_SECRET_ID);
const ledger = { db, table: env.LEDGER_TABLE, clock: systemClock };
const deps = {
  ledger,
  keyedHashes: loadKeyedHashes(secret(secrets, env.REFERENCE_KEY_SECRET_ID), checkReferenceKey(ledger, "record")),
  upstreams: { live: httpUpstream({ baseUrl: env.UPSTREAM_BASE_URL, profile, liveKey }), test: sandboxUpstream },
  outcomeQueue: outcomeQueue(queueClient(), env.OUTCOMES_QUEUE_URL),
  costs: parseUpstreamCosts(env.UPSTREAM_COSTS),
  prices: priceRules(ledger),
  timeZone: env.TIME_ZONE,
  gate: orderGate({ db, table: env.CACHE_TABLE, initially: env.PURCHASES_INITIALLY }, systemClock, "vtu"),
  cacheTable: env.CACHE_TABLE,
  catalog: catalogMemory(catalogStore(db, env.CACHE_TABLE), systemClock),
  queueMinutes: env.QUEUE_MINUTES,
  airtimeKoboMax: koboFromNaira(env.AIRTIME_NAIRA_MAX),
};
const checksumKey = loadChecksumKey(secret(secrets, env.CHECKSUM_KEY_SECRET_ID));
await preload(checksumKey, deps.keyedHashes, deps.gate.purchases, liveKey.value, deps.catalog.plans);

/** Data and airtime purchases: one debit and one order to the upstream. The cancellation of any order. */
export const handler = apiHandler(purchaseRoutes, createAdmission(db, env.ACCESS_TABLE, checksumKey), {
  buyData: buyData(deps),
  buyAirtime: buyAirtime(deps),
  cancelOrder: cancelOrder(deps),
});
