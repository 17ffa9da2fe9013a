import { createAdmission } from "../../shared/access/admission.ts";
import { loadChecksumKey } from "../../shared/access/checksum-key.ts";
import { virtualNinVerifyRequest } from "../../shared/contract/identity.ts";
import { checkIdentityRoutes } from "../../shared/contract/routes.ts";
import { retrieveBvn, retrieveNin, verifyBvn, verifyNin } from "../../shared/identity/check-identity.ts";
import { parseIdentityPrices } from "../../shared/identity/identity-prices.ts";
import { replayStore } from "../../shared/identity/replay-store.ts";
import { subjectHashing } from "../../shared/identity/subject-hash.ts";
import { apiHandler } from "../../shared/lambda/api-handler.ts";
import { checkReferenceKey } from "../../shared/ledger/reference-key.ts";
import { parseUpstreamCosts } from "../../shared/ledger/upstream-costs.ts";
import { outcomeQueue } from "../../shared/orders/outcome-queue.ts";
import { documentClient, keysClient, queueClient, secretsClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { loadKeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { preload } from "../../shared/platform/preload.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { priceRules } from "../../shared/prices/price-list.ts";
import { orderGate } from "../../shared/queued-orders/order-gate.ts";
import { httpUpstream } from "../../shared/upstream/http-upstream.ts";
import { parseUpstreamProfile } from "../../shared/upstream/profile.ts";
import { sandboxUpstream } from "../../shared/upstream/sandbox.ts";
import { checkIdentitySpec } from "../specs.ts";

const env = readEnv(checkIdentitySpec.environment);
const db = documentClient();
const secrets = secretsClient();
const profile = parseUpstreamProfile(env.UPSTREAM_PROFILE);
const liveKey = secret(secrets, env.UPSTREAM_KEY_SECRET_ID);
const replayKey = secret(secrets, env.REPLAY_KEY_SECRET_ID);
const ledger = { db, table: env.LEDGER_TABLE, clock: systemClock };
const deps = {
  ledger,
  keyedHashes: loadKeyedHashes(secret(secrets, env.REFERENCE_KEY_SECRET_ID), checkReferenceKey(ledger, "record")),
  upstreams: { live: httpUpstream({ baseUrl: env.UPSTREAM_BASE_URL, profile, liveKey }), test: sandboxUpstream },
  outcomeQueue: outcomeQueue(queueClient(), env.OUTCOMES_QUEUE_URL),
  costs: parseUpstreamCosts(env.UPSTREAM_COSTS),
  prices: priceRules(ledger),
  timeZone: env.TIME_ZONE,
  gate: orderGate({ db, table: env.CACHE_TABLE, initially: env.PURCHASES_INITIALLY }, systemClock, "identity"),
  upstreamDates: profile.dates,
  takesVirtualNin: profile.virtual_nin,
  identityPrices: parseIdentityPrices(env.IDENTITY_PRICES),
  replays: replayStore(db, env.CACHE_TABLE, replayKey, systemClock),
  hashSubject: subjectHashing(keysClient(), env.IDENTITY_KEY_ARN),
};
const checksumKey = loadChecksumKey(secret(secrets, env.CHECKSUM_KEY_SECRET_ID));
await preload(checksumKey, deps.keyedHashes, deps.gate.purchases, liveKey.value, replayKey.value);

const { verifyNin: ninRoute } = checkIdentityRoutes;
const routes = {
  ...checkIdentityRoutes,
  verifyNin: { ...ninRoute, input: profile.virtual_nin ? virtualNinVerifyRequest : ninRoute.input },
};

/** Identity requests: verification by number, retrieval by phone number. */
export const handler = apiHandler(routes, createAdmission(db, env.ACCESS_TABLE, checksumKey), {
  verifyNin: verifyNin(deps),
  retrieveNin: retrieveNin(deps),
  verifyBvn: verifyBvn(deps),
  retrieveBvn: retrieveBvn(deps),
});
