import { createAdmission } from "../../shared/access/admission.ts";
import { catalogMemory } from "../../shared/catalog/catalog-memory.ts";
import { catalogStore } from "../../shared/catalog/catalog-store.ts";
import { listCatalog } from "../../shared/catalog/list-catalog.ts";
import { listCatalogRoutes } from "../../shared/contract/routes/list-catalog.ts";
import { apiHandler } from "../../shared/lambda/api-handler.ts";
import { documentClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { listCatalogSpec } from "../specs.ts";

const env = readEnv(listCatalogSpec.environment);
const db = documentClient();
const catalog = catalogMemory(catalogStore(db, env.CACHE_TABLE), systemClock);

/** GET /vtu/data. */
export const handler = apiHandler(listCatalogRoutes, createAdmission(db, env.ACCESS_TABLE), {
  listCatalog: listCatalog(catalog),
});
