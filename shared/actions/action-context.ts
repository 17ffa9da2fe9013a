import type { SQS } from "@aws-sdk/client-sqs";
import type { Account, AccountStore } from "../access/account-store.ts";
import { owns } from "../access/owner-item.ts";
import type { CatalogStore } from "../catalog/catalog-store.ts";
import type { Capacity, Role } from "../contract/roles.ts";
import type { StageColour } from "../contract/stage-colour.ts";
import type { Kobo } from "../contract/values/money.ts";
import type { IdentityPrices } from "../identity/identity-prices.ts";
import { type Actor, type AuditedAction, type AuditPut, auditEntry, auditPut, recordAudit } from "../ledger/audit.ts";
import type { AuditedLedger } from "../ledger/ledger.ts";
import type { UpstreamCosts } from "../ledger/upstream-costs.ts";
import type { MailTopic } from "../notifications/mail-topic.ts";
import type { PurchasesStore } from "../orders/purchases-switch.ts";
import type { KeyedHashes } from "../platform/keyed-hashes.ts";
import { NotAllowedError } from "../platform/operator-error.ts";
import type { QueueUrls } from "../platform/queue-names.ts";
import type { Secret } from "../platform/secrets.ts";
import type { UpstreamProfile } from "../upstream/profile.ts";
import type { AddressRules } from "../webhooks/address-guard.ts";
import type { EndpointStore } from "../webhooks/endpoint.ts";
import type { FourEyes } from "./four-eyes.ts";

export type ConsoleRequest = {
  /** As audit entries name the person. */
  readonly by: string;
  /** Of the person at the identity provider or at AWS. The person cannot change it. */
  readonly identity: string;
  readonly actor: Actor;
  /** All that the person has in the service, not only the one that allows this action. */
  readonly roles: readonly Role[];
  /** What decides which accounts the person owns: the address that the provider has verified, in lower case, and groups. */
  readonly owner: { readonly email?: string; readonly groups: readonly string[] };
  /** The accounts that the person owns, oldest first. */
  readonly ownedAccounts: () => Promise<readonly Account[]>;
  /** The address that the request came from. */
  readonly sourceIp: string;
  readonly stage: { readonly name: string; readonly colour?: StageColour | undefined };
};

type ServiceFacts = {
  /** False: test keys only. They need no upstream, so there is no key for it, no catalog of it and no event from it. */
  readonly sells: boolean;
  /** `off`: background changes of the ledger are stopped. */
  readonly workers: "on" | "off";
  /** False: orders are not counted for charts. */
  readonly hasConsole: boolean;
};

/** What actions work with: the stores of one service, and who acts. */
export type ActionContext = {
  /** Who acts, for the audit entries. Throws in an action that is declared to change nothing. */
  readonly actor: () => Actor;
  /** As what the person may do the action. An owner acts as one whatever other role the person has. */
  readonly capacity: Capacity;
  /** Absent in the admin commands. */
  readonly request?: ConsoleRequest;
  readonly ledger: AuditedLedger;
  readonly accounts: AccountStore;
  readonly endpoints: EndpointStore;
  readonly addressRules: AddressRules;
  readonly catalog: CatalogStore;
  readonly purchases: PurchasesStore;
  /** For how long an order waits for the upstream's rate limit before it is refunded. */
  readonly queueMinutes: number;
  /** The largest amount of one funding or adjustment. */
  readonly operatorActMax: Kobo;
  /** Absent: one person does everything alone. */
  readonly fourEyes?: FourEyes | undefined;
  /** The float is low if it lasts for fewer hours. */
  readonly floatAlarmHours: number;
  readonly costs: UpstreamCosts;
  readonly identityPrices: IdentityPrices;
  /** What `upstream probe` needs; never a live key. */
  readonly probe: { readonly baseUrl: string; readonly profile: UpstreamProfile; readonly testKey: Secret };
  /** Where days and months begin. */
  readonly timeZone: string;
  readonly keyedHashes: () => Promise<KeyedHashes>;
  /** What the settings say of the service. */
  readonly facts: ServiceFacts;
  /** The e-mails of notifications; absent in a stage without a console. */
  readonly mail?: MailTopic | undefined;
  readonly sqs: SQS;
  readonly queues: QueueUrls;
};

/** Of an action that the admin commands do not have. */
export const requireRequest = ({ request }: ActionContext): ConsoleRequest => {
  if (request === undefined) throw new Error("Only the console has a person who signed in");
  return request;
};

/** An owner is a customer: the company's identities at AWS and what its upstream charges are not for them. */
export const isForOwner = ({ capacity }: ActionContext): boolean => capacity === "owner";

/** The fields of an audit entry that an action gives. */
export type AuditFields = Pick<AuditedAction, "about" | "action" | "details"> & { readonly why?: string | undefined };

/** What records who acts. */
type Recording = Pick<ActionContext, "actor" | "ledger">;

const auditedAction = (
  context: Recording,
  auditLog: string,
  { about, action, why, details }: AuditFields,
): AuditedAction => ({
  audit_log: auditLog,
  ...(about !== undefined && { about }),
  ...context.actor(),
  action,
  ...(why !== undefined && { why }),
  ...(details && { details }),
});

/** The audit entry of a change, to be written in the same DynamoDB transaction. */
export const auditItem = (context: Recording, auditLog: string, auditFields: AuditFields): AuditPut =>
  auditPut(context.ledger, auditEntry(auditedAction(context, auditLog, auditFields), context.ledger.clock()));

/** An account store that writes each change together with its audit entry. */
export const audited = (context: ActionContext, auditFields: (account: Account) => AuditFields): AccountStore => ({
  ...context.accounts,
  audit: (account) => {
    assertStillOwner(context, account);
    return auditItem(context, account.account_id, auditFields(account));
  },
});

/** The write requires the version that was read here: an owner who was removed since the request was authorised changes nothing. */
const assertStillOwner = (context: ActionContext, account: Account): void => {
  const { request } = context;
  if (!isForOwner(context) || request === undefined || owns(request.owner, account)) return;
  throw new NotAllowedError("You do not own this account any more: nothing was changed");
};

/** Records a change outside the ledger, before the change is made. */
export const recordAudited = (context: Recording, auditLog: string, auditFields: AuditFields): Promise<void> =>
  recordAudit(context.ledger, auditedAction(context, auditLog, auditFields));
