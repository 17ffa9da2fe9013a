import { userInfo } from "node:os";
import type { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import type { SQSClient } from "@aws-sdk/client-sqs";
import type { Account, AccountStore } from "../../shared/access/account-store.ts";
import { type CatalogStore, catalogStore } from "../../shared/catalog/store.ts";
import { type Actor, type AuditEntry, type AuditedAction, auditEntry, recordAudit } from "../../shared/ledger/audit.ts";
import type { Ledger } from "../../shared/ledger/ledger.ts";
import { documentClient, secretsClient, sqsClient } from "../../shared/platform/aws-clients.ts";
import { parseIpRanges } from "../../shared/platform/ip-range.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { type HttpUpstream, httpUpstream } from "../../shared/upstream/http-upstream.ts";
import { type AddressRules, splitList, systemResolve } from "../../shared/webhooks/address-guard.ts";
import type { EndpointStore } from "../../shared/webhooks/endpoint.ts";
import { awsClock } from "./aws-clock.ts";
import { callerArn } from "./caller.ts";
import { localTarget, stageTarget, type Target } from "./target.ts";

/** What every command is told beside its own input. */
export type Setting = {
  readonly stage?: string | undefined;
  readonly by?: string | undefined;
};

/** Everything that an operator works with, of one service. */
export type AdminContext = {
  readonly target: Target;
  /** Who acts: the name that goes on record. */
  readonly by: string;
  /** Who acts, as AWS sees it; absent locally, and where nothing is written. */
  readonly callerArn?: string;
  readonly access: Access;
  readonly ledger: Ledger;
  readonly accounts: AccountStore;
  readonly endpoints: EndpointStore;
  readonly addressRules: AddressRules;
  readonly catalog: CatalogStore;
  readonly upstream: HttpUpstream;
  readonly sqs: SQSClient;
  readonly secrets: SecretsManagerClient;
  readonly close: () => void;
};

/** A command that writes needs AWS's time and the caller's identity; one that only reads needs neither. */
export type Access = "read" | "write";

const DEFAULT_SERVICE_FILE = ".local/service.json";

export const openAdminContext = async ({ stage, by }: Setting, access: Access = "write"): Promise<AdminContext> => {
  const serviceFile = process.env.SERVICE_FILE?.trim() || DEFAULT_SERVICE_FILE;
  const target = stage === undefined ? localTarget(serviceFile) : await stageTarget(stage);
  const { environment } = target;
  // The local tables are on this machine, and have its time and no callers.
  const isRecorded = access === "write" && !target.isLocal;
  const { clock, ...caller } = isRecorded ? await recordedBy(environment.LEDGER_TABLE) : { clock: systemClock };
  const db = documentClient();
  const sqs = sqsClient();
  const secrets = secretsClient();
  const accounts = { db, accessTable: environment.ACCESS_TABLE, ledgerTable: environment.LEDGER_TABLE, clock };
  return {
    target,
    by: by ?? userName(),
    ...caller,
    access,
    ledger: { db, table: environment.LEDGER_TABLE, clock },
    accounts,
    endpoints: { accounts, webhookKey: secret(secrets, environment.WEBHOOK_KEY_SECRET_ID), clock },
    addressRules: {
      allowed: parseIpRanges(environment.WEBHOOK_ALLOWED_CIDRS),
      refusedHosts: splitList(environment.WEBHOOK_REFUSED_HOSTS),
      resolve: systemResolve,
    },
    catalog: catalogStore(db, environment.CACHE_TABLE),
    upstream: httpUpstream({
      baseUrl: environment.UPSTREAM_BASE_URL,
      liveKey: secret(secrets, environment.UPSTREAM_KEY_SECRET_ID),
    }),
    sqs,
    secrets,
    close: () => {
      for (const client of [db, sqs, secrets]) client.destroy();
    },
  };
};

/** What the record of a change needs from AWS, asked for before anything is written. */
const recordedBy = async (ledgerTable: string) => {
  const [clock, arn] = await Promise.all([awsClock(ledgerTable), callerArn()]);
  return { clock, callerArn: arn };
};

/** In a container the user may have no name. */
const userName = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
};

/** What an audit entry says beside who acts. */
export type AuditFields = Pick<AuditedAction, "action" | "details"> & { readonly why?: string | undefined };

/** Who acts, as a record names them. */
export const actorOf = ({ access, by, callerArn }: AdminContext): Actor => {
  if (access === "read") throw new Error("A command that is declared to read only makes a record of a change");
  return { by, ...(callerArn !== undefined && { caller_arn: callerArn }) };
};

const actOf = (desk: AdminContext, subject: string, { action, why, details }: AuditFields): AuditedAction => ({
  subject,
  ...actorOf(desk),
  action,
  ...(why !== undefined && { why }),
  ...(details && { details }),
});

/** An audit entry as an item, for the transaction of the change. */
export const auditItem = (desk: AdminContext, subject: string, auditFields: AuditFields): AuditEntry =>
  auditEntry(actOf(desk, subject, auditFields), desk.ledger.clock());

/** Accounts, each change of which is written together with its audit entry. */
export const audited = (desk: AdminContext, auditFields: (account: Account) => AuditFields): AccountStore => ({
  ...desk.accounts,
  audit: (account) => auditItem(desk, account.account_id, auditFields(account)),
});

/** Records a change outside the ledger before it is made. */
export const recordAudited = (desk: AdminContext, subject: string, auditFields: AuditFields): Promise<void> =>
  recordAudit(desk.ledger, actOf(desk, subject, auditFields));
