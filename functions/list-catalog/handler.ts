import { createAdmission } from "../../shared/access/admission.ts";
import { loadChecksumKey } from "../../shared/access/checksum-key.ts";
import { catalogMemory } from "../../shared/catalog/catalog-memory.ts";
import { catalogStore } from "../../shared/catalog/catalog-store.ts";
import { listCatalog } from "../../shared/catalog/list-catalog.ts";
import { listCatalogRoutes } from "../../shared/contract/routes.ts";
import { apiHandler } from "../../shared/lambda/api-handler.ts";
import { documentClient, secretsClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { preload } from "../../shared/platform/preload.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { priceRules } from "../../shared/prices/price-list.ts";
import { listCatalogSpec } from "../specs.ts";

const env = readEnv(listCatalogSpec.environment);
const db = documentClient();
const catalog = catalogMemory(catalogStore(db, env.CACHE_TABLE), systemClock);
const checksumKey = loadChecksumKey(secret(secretsClient(), env.CHECKSUM_KEY_SECRET_ID));
await preload(checksumKey);

/** GET /vtu/data. */
export const handler = apiHandler(listCatalogRoutes, createAdmission(db, env.ACCESS_TABLE, checksumKey), {
  listCatalog: listCatalog(catalog, priceRules({ db, table: env.LEDGER_TABLE })),
});
