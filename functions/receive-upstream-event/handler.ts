import { receiveUpstreamEventRoutes } from "../../shared/contract/routes.ts";
import { apiHandler } from "../../shared/lambda/api-handler.ts";
import { outcomeQueue } from "../../shared/orders/outcome-queue.ts";
import { queueClient, secretsClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { parseIpRanges } from "../../shared/platform/ip-range.ts";
import { loadKeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { preload } from "../../shared/platform/preload.ts";
import { rotatingSecret } from "../../shared/platform/rotating-secret.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { parseUpstreamProfile } from "../../shared/upstream/profile.ts";
import { receiveUpstreamEvent } from "../../shared/upstream-events/receive-upstream-event.ts";
import { authenticatesEvents, createUpstreamAdmission } from "../../shared/upstream-events/upstream-admission.ts";
import { receiveUpstreamEventSpec } from "../specs.ts";
import { alarmIfNotJson } from "./alarm-if-not-json.ts";

const env = readEnv(receiveUpstreamEventSpec.environment);
const secrets = secretsClient();
const rotatingSecretOf = (id: string) =>
  rotatingSecret(secret(secrets, id), secret(secrets, id, systemClock, "AWSPREVIOUS"));
const profile = parseUpstreamProfile(env.UPSTREAM_PROFILE);
const { signature: scheme } = profile;
const signature = scheme && { scheme, key: rotatingSecretOf(env.UPSTREAM_HMAC_SECRET_ID) };
const authentication = {
  pathToken: rotatingSecretOf(env.WEBHOOK_TOKEN_SECRET_ID),
  ranges: parseIpRanges(env.UPSTREAM_WEBHOOK_IPS),
  ...(signature && { signature }),
};
const deps = {
  profile,
  outcomeQueue: outcomeQueue(queueClient(), env.OUTCOMES_QUEUE_URL),
  keyedHashes: loadKeyedHashes(secret(secrets, env.REFERENCE_KEY_SECRET_ID)),
  isAuthenticated: authenticatesEvents(authentication),
  clock: systemClock,
};
await preload(authentication.pathToken.current, deps.keyedHashes, async () => signature?.key.current());

/** Receives the upstream's events: refuses unauthenticated ones and queues the others. */
export const handler = apiHandler(receiveUpstreamEventRoutes, createUpstreamAdmission(authentication), {
  receiveUpstreamEvent: receiveUpstreamEvent(deps),
}).use(alarmIfNotJson);
