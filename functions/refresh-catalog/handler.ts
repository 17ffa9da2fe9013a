import { catalogStore } from "../../shared/catalog/catalog-store.ts";
import { refreshCatalog } from "../../shared/catalog/refresh-catalog.ts";
import { scheduleHandler } from "../../shared/lambda/schedule-handler.ts";
import { documentClient, secretsClient } from "../../shared/platform/aws-clients.ts";
import { functionEnvironments, readEnv } from "../../shared/platform/env.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { httpUpstream } from "../../shared/upstream/http-upstream.ts";

const env = readEnv(functionEnvironments["refresh-catalog"]);
const deps = {
  store: catalogStore(documentClient(), env.CACHE_TABLE),
  upstream: httpUpstream({
    baseUrl: env.UPSTREAM_BASE_URL,
    liveKey: secret(secretsClient(), env.UPSTREAM_KEY_SECRET_ID),
  }),
  clock: systemClock,
};

/** Runs each minute, and fetches the catalog when it is due. */
export const handler = scheduleHandler("refresh-catalog.ran", (deadline) => refreshCatalog(deps, deadline));
