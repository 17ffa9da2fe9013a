import { routes } from "../../shared/contract/routes.ts";
import { apiHandler, operation } from "../../shared/platform/api-handler.ts";
import { secretsClient, sqsClient } from "../../shared/platform/aws.ts";
import { functionEnvironments, readEnv } from "../../shared/platform/env.ts";
import { parseIpRanges } from "../../shared/platform/ip-range.ts";
import { rotatingSecret } from "../../shared/platform/rotating-secret.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { alarmIfNotJson, receiveStatus } from "../../shared/status/receive-status.ts";
import { statusQueue } from "../../shared/status/status-queue.ts";
import { admitUpstream, isVouchedFor } from "../../shared/status/upstream-gate.ts";
import { parseUpstreamSignature } from "../../shared/status/upstream-signature.ts";
import { namingFrom } from "../../shared/wallet/naming.ts";

const env = readEnv(functionEnvironments["receive-status"]);
const secrets = secretsClient();
const rotatingSecretOf = (id: string) =>
  rotatingSecret(secret(secrets, id), secret(secrets, id, systemClock, "AWSPREVIOUS"));
const scheme = parseUpstreamSignature(env.UPSTREAM_SIGNATURE);
const gate = {
  token: rotatingSecretOf(env.WEBHOOK_TOKEN_SECRET_ID),
  ranges: parseIpRanges(env.UPSTREAM_WEBHOOK_IPS),
  ...(scheme && { signature: { scheme, key: rotatingSecretOf(env.UPSTREAM_HMAC_SECRET_ID) } }),
};
const deps = {
  statusQueue: statusQueue(sqsClient(), env.STATUS_QUEUE_URL),
  naming: namingFrom(secret(secrets, env.REFERENCE_KEY_SECRET_ID)),
  isVouchedFor: isVouchedFor(gate),
  clock: systemClock,
};

/** Takes the upstream's events in: refuses what does not come from it, and queues the rest. */
export const handler = apiHandler("receive-status", admitUpstream(gate), {
  receiveStatus: alarmIfNotJson(operation(routes.receiveStatus, receiveStatus(deps))),
});
