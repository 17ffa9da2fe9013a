import { admitting } from "../../shared/access/admit.ts";
import { routes } from "../../shared/contract/routes.ts";
import { retrieveBvn, retrieveNin, verifyBvn, verifyNin } from "../../shared/identity/check-identity.ts";
import { parseIdentityPrices } from "../../shared/identity/prices.ts";
import { replays } from "../../shared/identity/replay.ts";
import { apiHandler, operation } from "../../shared/platform/api-handler.ts";
import { documentClient, secretsClient, sqsClient } from "../../shared/platform/aws.ts";
import { functionEnvironments, readEnv } from "../../shared/platform/env.ts";
import { readAhead } from "../../shared/platform/read-ahead.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { statusQueue } from "../../shared/status/status-queue.ts";
import { httpProvider } from "../../shared/upstream/http-provider.ts";
import { sandboxProvider } from "../../shared/upstream/sandbox.ts";
import { namingFrom } from "../../shared/wallet/naming.ts";

const env = readEnv(functionEnvironments["check-identity"]);
const db = documentClient();
const secrets = secretsClient();
const liveKey = secret(secrets, env.UPSTREAM_KEY_SECRET_ID);
const replayKey = secret(secrets, env.REPLAY_KEY_SECRET_ID);
const deps = {
  ledger: { db, table: env.LEDGER_TABLE, clock: systemClock },
  naming: namingFrom(secret(secrets, env.REFERENCE_KEY_SECRET_ID)),
  providers: { live: httpProvider({ baseUrl: env.UPSTREAM_BASE_URL, liveKey }), test: sandboxProvider },
  statusQueue: statusQueue(sqsClient(), env.STATUS_QUEUE_URL),
  purchases: env.PURCHASES,
  upstreamDates: env.UPSTREAM_DATES,
  prices: parseIdentityPrices(env.IDENTITY_PRICES),
  replays: replays(db, env.CACHE_TABLE, replayKey, systemClock),
};
await readAhead(deps.naming, liveKey.value, replayKey.value);

/** Identity: verification by number, retrieval by phone number. */
export const handler = apiHandler("check-identity", admitting(db, env.ACCESS_TABLE), {
  verifyNin: operation(routes.verifyNin, verifyNin(deps)),
  retrieveNin: operation(routes.retrieveNin, retrieveNin(deps)),
  verifyBvn: operation(routes.verifyBvn, verifyBvn(deps)),
  retrieveBvn: operation(routes.retrieveBvn, retrieveBvn(deps)),
});
