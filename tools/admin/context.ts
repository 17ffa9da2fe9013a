import { userInfo } from "node:os";
import type { SecretsManager } from "@aws-sdk/client-secrets-manager";
import type { ActionContext } from "../../shared/actions/action-context.ts";
import { catalogStore } from "../../shared/catalog/catalog-store.ts";
import type { Role } from "../../shared/contract/roles.ts";
import { koboFromNaira } from "../../shared/contract/values/money.ts";
import { parseIdentityPrices } from "../../shared/identity/identity-prices.ts";
import { checkReferenceKey } from "../../shared/ledger/reference-key.ts";
import { parseUpstreamCosts } from "../../shared/ledger/upstream-costs.ts";
import type { WithSdk } from "../../shared/platform/aws/sdk.ts";
import { openDynamoDb, openSecretsManager, openSqs } from "../../shared/platform/aws/sdk.ts";
import { parseIpRanges } from "../../shared/platform/ip-range.ts";
import { loadKeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { queueUrls } from "../../shared/platform/queue-names.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { httpUpstream } from "../../shared/upstream/http-upstream.ts";
import type { LiveUpstream } from "../../shared/upstream/live-upstream.ts";
import { parseUpstreamProfile } from "../../shared/upstream/profile.ts";
import { splitList, systemResolve } from "../../shared/webhooks/address-guard.ts";
import { awsClock } from "./aws-clock.ts";
import { localTarget, type Target } from "./target.ts";
import { terminal } from "./terminal.ts";

/** Which service a command operates, and in whose name. */
type AdminOptions = {
  readonly stage?: string | undefined;
  readonly profile?: string | undefined;
  readonly by?: string | undefined;
  /** The role in which the service performs actions. */
  readonly role?: Role;
  /** Actions are performed here, with the operator's own permissions, instead of by the service. */
  readonly direct?: boolean;
};

/** What commands work with: the stores and clients of one service, and who runs the command. */
export type AdminContext = ActionContext & {
  readonly target: Target;
  /** What the operator is called in the audit log. */
  readonly by: string;
  readonly role: Role;
  readonly isDirect: boolean;
  readonly upstream: LiveUpstream;
  readonly ledger: WithSdk;
  readonly accounts: WithSdk;
  readonly secrets: SecretsManager;
  readonly close: () => void;
};

/** A command that writes needs AWS's time; one that only reads does not. */
export type Access = "read" | "write";

const DEFAULT_SERVICE_FILE = ".local/service.json";

export const openAdminContext = async (
  { stage, profile, by = userName(), role = "operator", direct = false }: AdminOptions,
  access: Access = "write",
): Promise<AdminContext> => {
  if (direct && role !== "operator") {
    throw new OperatorError("--direct works with your own permissions at AWS: leave out --role");
  }
  if (profile !== undefined && stage === undefined) {
    throw new OperatorError("--profile is for a deployed stage: add --stage. The service on this machine needs none");
  }
  const serviceFile = terminal().env.SERVICE_FILE?.trim() || DEFAULT_SERVICE_FILE;
  // What finds a stage is loaded only for one.
  const target =
    stage === undefined
      ? localTarget(serviceFile)
      : await (await import("./stage-target.ts")).stageTarget(stage, { profile });
  const { environment } = target;
  // The local tables have this machine's time.
  const clock = access === "write" && !target.isLocal ? await awsClock(environment.CACHE_TABLE) : systemClock;
  const db = openDynamoDb();
  const sqs = openSqs();
  const secrets = openSecretsManager();
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
    role,
    isDirect: direct,
    actor: () => {
      if (access === "read") throw new Error("A command that is declared readOnly writes an audit entry");
      return { by, ...(target.callerArn !== undefined && { caller_arn: target.callerArn }) };
    },
    capacity: "operator",
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
    floatAlarmHours: environment.FLOAT_ALARM_HOURS,
    timeZone: environment.TIME_ZONE,
    facts: {
      sells: target.stage === undefined || target.stage.sells,
      workers: environment.WORKERS,
      hasConsole: environment.CONSOLE !== "",
    },
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

/** Refuses what goes around the service, and so around proposals, to everyone but the role that pages the operators. */
export const requireDirect = ({ isDirect, target }: AdminContext, what: string): void => {
  if (isDirect || target.isLocal) return;
  throw new OperatorError(`Add --direct: only the role for direct access may ${what}`);
};

/** In a container the user may have no name: then the user id. */
const userName = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
};
