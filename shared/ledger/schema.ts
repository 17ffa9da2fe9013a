import type { Mode } from "../contract/transaction.ts";
import { BASE32_DIGITS } from "../platform/base32.ts";

/**
 * What the ledger table holds: an item's `pk` begins with its kind. The comment names the module that has the item's
 * shape. Everything here is stored: a change of it would lose items.
 */
export const itemKinds = [
  "account", // shared/access/account-store.ts
  "owner", // shared/access/owner-item.ts
  "person", // shared/access/person-item.ts
  "price-list", // shared/prices/price-list.ts
  "wallet", // wallet.ts
  "key-usage", // usage.ts: what the limits of a key count
  "transaction", // transaction.ts
  "upstream-reference", // upstream-reference.ts: what is known of an upstream reference
  "funding", // ledger-entry.ts
  "adjustment", // ledger-entry.ts
  "refund", // refund.ts
  "checkpoint", // checkpoint.ts
  "order-sums", // shared/margin/order-sums.ts
  "order-day", // shared/margin/order-sums.ts
  "float", // shared/margin/float.ts
  "float-payment", // shared/margin/float.ts
  "period", // period.ts: a closed month, of an account or of the service
  "period-lines", // period.ts: fingerprints of its lines
  "period-replacement", // period.ts: the last replacement of an account's period of a month
  "period-verification", // shared/periods/verify-periods.ts
  "consent", // shared/identity/consent.ts
  "event", // shared/upstream-events/stored-event.ts
  "delivery", // shared/webhooks/delivery.ts
  "parked", // shared/webhooks/parked-endpoint.ts
  "endpoint-health", // shared/webhooks/endpoint-health.ts
  "subscription", // shared/access/subscription-item.ts
  "recipient", // shared/notifications/recipient.ts: what a person chose to be notified of
  "notified", // shared/notifications/notified.ts: what the person was notified of
  "phone-retention", // shared/reconciliation/phone-retention.ts
  "reference-key", // reference-key.ts
  "statement", // shared/upstream-statement/statement.ts
  "statement-rows", // shared/upstream-statement/statement-rows.ts
  "statement-case", // shared/upstream-statement/statement-case.ts
  "proposal", // proposal.ts: what one person asked for and another decides
] as const;
export type LedgerItemKind = (typeof itemKinds)[number];

const pkOf = (kind: LedgerItemKind | "queued" | "live", ...parts: readonly string[]): string =>
  [kind, ...parts].join("#");

/** The keys of all items of a kind, as a pattern of IAM. */
export const keyPatternOf = (kind: LedgerItemKind): string => pkOf(kind, "*");

/** A key without its kind. */
const restOf = (pk: string): string => pk.slice(pk.indexOf("#") + 1);

/** The kind of the item with this key; undefined for a key of none. */
export const itemKindOf = (pk: string): LedgerItemKind | undefined =>
  itemKinds.find((kind) => pk.startsWith(pkOf(kind, "")));

export const accountPk = (accountId: string): string => pkOf("account", accountId);
export const accountIdOf = (pk: string): string => restOf(pk);
export const isAccountPk = (pk: string): boolean => itemKindOf(pk) === "account";

/** What an owner owns. The hash of the owner has one length, whatever the name of a group. */
export const ownerPk = (hash: string): string => pkOf("owner", hash);

/** A person who signed in, by the hash of how the provider names them. */
export const personPk = (hash: string): string => pkOf("person", hash);

/** What a person chose to be notified of, and what the person was notified of, by the same hash. */
export const recipientPk = (personId: string): string => pkOf("recipient", personId);
export const notifiedPk = (personId: string): string => pkOf("notified", personId);
export const personIdOf = ({ pk }: { readonly pk: string }): string => restOf(pk);

export const priceListPk = (accountId: string): string => pkOf("price-list", accountId);

export const keyUsagePk = (keyId: string): string => pkOf("key-usage", keyId);
/** The key whose orders the item with this key counts. */
export const keyOfUsage = (pk: string): string => restOf(pk);

export const walletPk = (accountId: string): string => pkOf("wallet", accountId);

export const transactionPk = (id: string): string => pkOf("transaction", id);
export const isTransactionPk = (pk: string): boolean => itemKindOf(pk) === "transaction";
export const transactionIdOf = ({ pk }: { readonly pk: string }): string => restOf(pk);

export const upstreamReferencePk = (upstreamReference: string): string => pkOf("upstream-reference", upstreamReference);

/**
 * A bank transfer is credited once in the whole ledger, so a funding's key is the bank's reference alone; in upper
 * case, because two people may type it differently.
 */
export const fundingPk = (bankReference: string): string => pkOf("funding", bankReference.toUpperCase());
/** An adjustment's id is unique within its account. */
export const adjustmentPk = (accountId: string, id: string): string => pkOf("adjustment", accountId, id);

/** A transaction is refunded once. */
export const refundPk = (transaction: { readonly pk: string }): string => pkOf("refund", transactionIdOf(transaction));

export const isRefundPk = (pk: string): boolean => itemKindOf(pk) === "refund";

export const transactionPkOfRefund = ({ pk }: { readonly pk: string }): string => transactionPk(restOf(pk));

/** A closed month of the service, or of one account. */
export const periodPk = (month: string, accountId?: string): string =>
  pkOf("period", month, ...(accountId === undefined ? [] : [accountId]));
/** Fingerprints of an account's lines of a month, from this one on. */
export const periodLinesPk = (month: string, accountId: string, first: number): string =>
  pkOf("period-lines", month, accountId, String(first));

/** The last replacement of a period of a month that is not closed yet. */
export const periodReplacementPk = (month: string): string => pkOf("period-replacement", month);

/** How far the closed months are verified. */
export const PERIOD_VERIFICATION_PK = pkOf("period-verification", "");

export const checkpointPk = (accountId: string): string => pkOf("checkpoint", accountId);

/** What the delivered orders of an account cost and earned: until now, and on a day of the stage's zone. */
export const orderSumsPk = (accountId: string): string => pkOf("order-sums", accountId);
export const orderDayPk = (accountId: string, day: string): string => pkOf("order-day", accountId, day);
/** Our payments to the upstream, together and each by the bank's reference, which people may type differently. */
export const FLOAT_PK = pkOf("float", "");
export const floatPaymentPk = (bankReference: string): string => pkOf("float-payment", bankReference.toUpperCase());
export const isFloatPaymentPk = (pk: string): boolean => itemKindOf(pk) === "float-payment";

export const consentPk = (transaction: { readonly pk: string }): string => pkOf("consent", transaction.pk);

export const transactionPkOfConsent = ({ pk }: { readonly pk: string }): string => restOf(pk);

export const eventPk = (hash: string): string => pkOf("event", hash);
export const eventHashOf = ({ pk }: { readonly pk: string }): string => restOf(pk);

/** A copy of an event, to one endpoint of its account. */
type EventCopy = { readonly endpoint: string; readonly repeat?: string | undefined };
const copyPk = ({ endpoint, repeat }: EventCopy, ...event: readonly string[]): string =>
  pkOf("delivery", endpoint, ...event, ...(repeat === undefined ? [] : [repeat]));

export const deliveryPk = (event: EventCopy & { readonly transaction_pk: string; readonly status: string }): string =>
  copyPk(event, transactionIdOf({ pk: event.transaction_pk }), event.status);

/** The delivery of an event that is about an account and no transaction. */
export const accountEventDeliveryPk = (event: EventCopy & { readonly webhook_id: string }): string =>
  copyPk(event, event.webhook_id);

/** The endpoint of the delivery with this key, by which a list can be searched without reading its items. */
export const endpointOfDelivery = (pk: string): string | undefined => pk.split("#")[1];

/** A webhook endpoint: endpoints have ids within their accounts. */
export type EndpointKey = { readonly accountId: string; readonly endpoint: string };
/** The endpoint that an item is about. */
export const endpointOf = (item: { readonly account_id: string; readonly endpoint: string }): EndpointKey => ({
  accountId: item.account_id,
  endpoint: item.endpoint,
});

export const parkedEndpointPk = ({ accountId, endpoint }: EndpointKey): string => pkOf("parked", accountId, endpoint);
export const endpointHealthPk = ({ accountId, endpoint }: EndpointKey): string =>
  pkOf("endpoint-health", accountId, endpoint);

/** An endpoint's subscription to an event by its name. */
export const subscriptionPk = (event: string, { accountId, endpoint }: EndpointKey): string =>
  pkOf("subscription", event, accountId, endpoint);
/** The endpoint of a subscription or of a parked endpoint with this key. */
export const endpointKeyOf = (pk: string): EndpointKey => {
  const [accountId = "", endpoint = ""] = pk.split("#").slice(-2);
  return { accountId, endpoint };
};

/** The progress of masking the items of a list; an empty key stands for all lists. */
export const phoneRetentionPk = (listKey: string): string => pkOf("phone-retention", listKey);

export const statementPk = (day: string): string => pkOf("statement", day);
/** Some rows of one of its files. */
export const statementRowsPk = ({
  day,
  file,
  chunk,
}: {
  readonly day: string;
  readonly file: string;
  readonly chunk: number;
}): string => pkOf("statement-rows", day, file, String(chunk));
export const statementCasePk = (day: string, id: string): string => pkOf("statement-case", day, id);
export const isStatementPk = (pk: string): boolean => itemKindOf(pk) === "statement";
export const isStatementCasePk = (pk: string): boolean => itemKindOf(pk) === "statement-case";

export const proposalPk = (id: string): string => pkOf("proposal", id);

export const REFERENCE_KEY_PK = pkOf("reference-key", "");

/** The attribute `list_key` puts an item into the index `by_list`, which lists the items of each key by time. */
export const ACCOUNTS_LIST = "accounts";
export const PEOPLE_LIST = "people";
export const RECIPIENTS_LIST = "recipients";
export const EVENTS_LIST = "events";
export const STATEMENTS_LIST = "statements";
export const PROPOSALS_LIST = "proposals";
export const FLOAT_PAYMENTS_LIST = "float-payments";
export const casesList = (day: string): string => pkOf("statement-case", day);
export const transactionList = (accountId: string, mode: Mode): string => `${accountId}#${mode}`;
export const entriesList = (accountId: string): string => `${accountId}#entries`;
export const accountPeriodsList = (accountId: string): string => `${accountId}#periods`;
export const PERIODS_LIST = "periods";
export const refundsList = (accountId: string): string => `${accountId}#refunds`;
export const deliveriesList = (accountId: string): string => `${accountId}#deliveries`;

/** The attribute `open` puts an item into the sparse index `by_open`, which lists the items of each value by `listed_at`. */
/**
 * Live transactions that are `processing`, by the second character of their id: 32 lists, because a partition takes 1,000
 * write units a second, and may have several lists (decision 0061). The first character has only eight values.
 */
export const openList = (transaction: { readonly pk: string }): string =>
  openListOf(transactionIdOf(transaction).slice(1, 2));
const openListOf = (digit: string): string => pkOf("live", digit);
export const openLists: readonly string[] = [...BASE32_DIGITS].map(openListOf);
/** The endpoints with parked deliveries, each by the time of its next requeue. */
export const PARKED_ENDPOINTS = "parked";
/** What the sender of queued orders looks at each minute: wallets with a queue, and orders that were set aside. */
export const QUEUED = "queued";
/** An account's queued orders, oldest first. */
export const queuedOrders = (accountId: string): string => pkOf("queued", accountId);
/** The upstream events that wait for an operator. */
export const OPEN_EVENTS = "events";
/** The proposals that wait for another person. */
export const OPEN_PROPOSALS = "proposals";
/** An endpoint's parked deliveries, oldest first. */
export const parkedDeliveries = ({ accountId, endpoint }: EndpointKey): string => pkOf("parked", accountId, endpoint);

export const subscriptionsTo = (event: string): string => pkOf("subscription", event);

/** The indexes; infra/tables.ts creates them. */
export const ledgerIndexes = {
  byList: {
    name: "by_list",
    partition: "list_key",
    sort: "created_at",
    // The lines of a statement. They never change, but for the description of an order when its phone number is masked.
    includes: ["amount_kobo", "type", "debit", "network", "caller_reference", "description", "kind", "entry_id", "why"],
  },
  byUpstreamReference: {
    name: "by_upstream_reference",
    partition: "upstream_reference",
    // What an event needs to settle its transaction without reading it first.
    includes: ["status", "mode", "write_token", "account_id", "amount_kobo", "face_kobo", "cost_kobo", "counted"],
  },
  /**
   * Live transactions that are `processing`, queued orders, the wallets that have some, parked deliveries, the endpoints
   * that have some, open events, open proposals, and subscriptions.
   */
  byOpen: { name: "by_open", partition: "open", sort: "listed_at" },
  /** Orders by the keyed hash of their phone number, until it is masked. */
  byPhone: { name: "by_phone", partition: "phone_key", sort: "created_at" },
  /** Consents by the keyed hash of whom they are about, until it is removed. */
  bySubject: { name: "by_subject", partition: "subject", sort: "created_at" },
} as const;

/** What the audit table holds. All items of a log are in one partition for each kind, sorted by `sequence`. */
export const auditItemKinds = [
  "entry", // audit.ts
  "attestation", // attest-entries.ts
] as const;
export type AuditItemKind = (typeof auditItemKinds)[number];

/** The `list_key` of every entry. */
export const ENTRIES_LIST = "entries";

/** What people see of an entry, besides the keys of an index. */
const entryFields = ["by", "caller_arn", "person", "source_ip", "user_agent", "action", "why", "details"] as const;

/** The indexes of the audit table. */
export const auditIndexes = {
  /**
   * The entries of all logs. They are in one partition, because people make fewer than the 1,000 entries a second that it
   * takes (decision 0031).
   */
  byTime: { name: "by_time", partition: "list_key", sort: "created_at", includes: ["about", ...entryFields] },
  /** The entries about one item, of all logs: within years a log has more entries than a request can read. */
  byAbout: { name: "by_about", partition: "about", sort: "created_at", includes: ["list_key", ...entryFields] },
} as const;

/** The keys of all items of a kind, as a pattern of IAM. */
export const auditKeyPattern = (kind: AuditItemKind): string => `${kind}#*`;
export const entriesPk = (auditLog: string): string => `entry#${auditLog}`;
export const attestationsPk = (auditLog: string): string => `attestation#${auditLog}`;
export const isEntryPk = (pk: string): boolean => pk.startsWith(entriesPk(""));
/** The log of an item with this key. */
export const auditLogOf = (pk: string): string => restOf(pk);

/** An item's place in its log, as the table sorts it: ten billion entries have their own. */
export const sequenceKey = (place: number): string => String(place).padStart(10, "0");
/** The place that has this key; undefined if no place has it, because anybody who may put an entry chooses its key. */
export const placeOf = (sequence: string): number | undefined =>
  /^\d{10}$/.test(sequence) && Number(sequence) > 0 ? Number(sequence) : undefined;
