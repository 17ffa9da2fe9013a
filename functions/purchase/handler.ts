import { admitting } from "../../shared/access/admit.ts";
import { catalogMemory } from "../../shared/catalog/memory.ts";
import { catalogStore } from "../../shared/catalog/store.ts";
import { routes } from "../../shared/contract/routes.ts";
import { apiHandler, operation } from "../../shared/platform/api-handler.ts";
import { documentClient, secretsClient, sqsClient } from "../../shared/platform/aws.ts";
import { functionEnvironments, readEnv } from "../../shared/platform/env.ts";
import { koboFromNaira } from "../../shared/platform/money.ts";
import { readAhead } from "../../shared/platform/read-ahead.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { buyAirtime } from "../../shared/purchase/buy-airtime.ts";
import { buyData } from "../../shared/purchase/buy-data.ts";
import { statusQueue } from "../../shared/status/status-queue.ts";
import { httpProvider } from "../../shared/upstream/http-provider.ts";
import { sandboxProvider } from "../../shared/upstream/sandbox.ts";
import { namingFrom } from "../../shared/wallet/naming.ts";

const env = readEnv(functionEnvironments.purchase);
const db = documentClient();
const secrets = secretsClient();
const liveKey = secret(secrets, env.UPSTREAM_KEY_SECRET_ID);
const deps = {
  ledger: { db, table: env.LEDGER_TABLE, clock: systemClock },
  naming: namingFrom(secret(secrets, env.REFERENCE_KEY_SECRET_ID)),
  providers: { live: httpProvider({ baseUrl: env.UPSTREAM_BASE_URL, liveKey }), test: sandboxProvider },
  statusQueue: statusQueue(sqsClient(), env.STATUS_QUEUE_URL),
  purchases: env.PURCHASES,
  catalog: catalogMemory(catalogStore(db, env.CACHE_TABLE), systemClock),
  airtimeKoboMax: koboFromNaira(env.AIRTIME_NAIRA_MAX),
};
await readAhead(deps.naming, liveKey.value, deps.catalog.plans);

/** Purchases: one debit, one order to the upstream, one outcome. */
export const handler = apiHandler("purchase", admitting(db, env.ACCESS_TABLE), {
  buyData: operation(routes.buyData, buyData(deps)),
  buyAirtime: operation(routes.buyAirtime, buyAirtime(deps)),
});
