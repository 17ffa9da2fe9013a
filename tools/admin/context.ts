import { userInfo } from "node:os";
import type { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { sells } from "../../infra/stages.ts";
import type { ActionContext } from "../../shared/actions/action-context.ts";
import { catalogStore } from "../../shared/catalog/catalog-store.ts";
import { koboFromNaira } from "../../shared/contract/money.ts";
import { parseIdentityPrices } from "../../shared/identity/prices.ts";
import { checkReferenceKey } from "../../shared/ledger/reference-key.ts";
import { parseUpstreamCosts } from "../../shared/ledger/upstream-costs.ts";
import { documentClient, secretsClient, sqsClient } from "../../shared/platform/aws-clients.ts";
import { parseIpRanges } from "../../shared/platform/ip-range.ts";
import { loadKeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { queueUrls } from "../../shared/platform/queue-names.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { type HttpUpstream, httpUpstream } from "../../shared/upstream/http-upstream.ts";
import { parseUpstreamProfile } from "../../shared/upstream/profile.ts";
import { splitList, systemResolve } from "../../shared/webhooks/address-guard.ts";
import { awsClock } from "./aws-clock.ts";
import { localTarget, stageTarget, type Target } from "./target.ts";
import { terminal } from "./terminal.ts";

/** Which service a command operates, and in whose name. */
export type AdminOptions = {
  readonly stage?: string | undefined;
  readonly profile?: string | undefined;
  readonly by?: string | undefined;
  /** Actions are performed here, with the operator's own permissions, instead of by the service. */
  readonly direct?: boolean;
};

/** What commands work with: the stores and clients of one service, and who runs the command. */
export type AdminContext = ActionContext & {
  readonly target: Target;
  /** What the operator is called in the audit log. */
  readonly by: string;
  readonly isDirect: boolean;
  readonly upstream: HttpUpstream;
  readonly secrets: SecretsManagerClient;
  readonly close: () => void;
};

/** A command that writes needs AWS's time; one that only reads does not. */
export type Access = "read" | "write";

const DEFAULT_SERVICE_FILE = ".local/service.json";

export const openAdminContext = async (
  { stage, profile, by = userName(), direct = false }: AdminOptions,
  access: Access = "write",
): Promise<AdminContext> => {
  const serviceFile = terminal().env.SERVICE_FILE?.trim() || DEFAULT_SERVICE_FILE;
  const target = stage === undefined ? localTarget(serviceFile) : await stageTarget(stage, { profile });
  const { environment } = target;
  // The local tables have this machine's time.
  const clock = access === "write" && !target.isLocal ? await awsClock(environment.CACHE_TABLE) : systemClock;
  // `AWS_CALLS=sdk` of the operator's shell counts too.
  const db = environment.AWS_CALLS === "sdk" ? documentClient("sdk") : documentClient();
  const sqs = sqsClient();
  const secrets = secretsClient();
  const ledger = { db, table: environment.LEDGER_TABLE, auditTable: environment.AUDIT_TABLE, clock };
  const accounts = {
    db,
    accessTable: environment.ACCESS_TABLE,
    ledgerTable: environment.LEDGER_TABLE,
    clock,
    checksumKey: secret(secrets, environment.CHECKSUM_KEY_SECRET_ID),
  };
  return {
    target,
    by,
    isDirect: direct,
    actor: () => {
      if (access === "read") throw new Error("A command that is declared readOnly writes an audit entry");
      return { by, ...(target.callerArn !== undefined && { caller_arn: target.callerArn }) };
    },
    isOperator: true,
    ledger,
    accounts,
    endpoints: { accounts, webhookSealingKey: secret(secrets, environment.WEBHOOK_KEY_SECRET_ID), clock },
    addressRules: {
      allowed: parseIpRanges(environment.WEBHOOK_ALLOWED_CIDRS),
      refusedHosts: splitList(environment.WEBHOOK_REFUSED_HOSTS),
      resolve: systemResolve,
    },
    catalog: catalogStore(db, environment.CACHE_TABLE),
    purchases: { db, table: environment.CACHE_TABLE, initially: environment.PURCHASES_INITIALLY },
    queueMinutes: environment.QUEUE_MINUTES,
    costs: parseUpstreamCosts(environment.UPSTREAM_COSTS),
    identityPrices: parseIdentityPrices(environment.IDENTITY_PRICES),
    probe: {
      baseUrl: environment.UPSTREAM_BASE_URL,
      profile: parseUpstreamProfile(environment.UPSTREAM_PROFILE),
      testKey: secret(secrets, environment.UPSTREAM_TEST_KEY_SECRET_ID),
    },
    operatorActMax: koboFromNaira(environment.OPERATOR_ACT_MAX_NAIRA),
    timeZone: environment.TIME_ZONE,
    facts: { sells: target.stage === undefined || sells(target.stage.settings), workers: environment.WORKERS },
    keyedHashes: loadKeyedHashes(
      secret(secrets, environment.REFERENCE_KEY_SECRET_ID),
      checkReferenceKey(ledger, "ignore"),
    ),
    upstream: httpUpstream({
      baseUrl: environment.UPSTREAM_BASE_URL,
      profile: parseUpstreamProfile(environment.UPSTREAM_PROFILE),
      liveKey: secret(secrets, environment.UPSTREAM_KEY_SECRET_ID),
    }),
    sqs,
    queues: queueUrls({
      outcomes: environment.OUTCOMES_QUEUE_URL,
      delivery: environment.DELIVERY_QUEUE_URL,
      stage: target.isLocal ? undefined : target.name,
    }),
    secrets,
    close: () => {
      for (const client of [db, sqs, secrets]) client.destroy();
    },
  };
};

/** In a container the user may have no name: then the user id. */
const userName = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
};
