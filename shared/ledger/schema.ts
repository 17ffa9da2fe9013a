import type { Mode } from "../contract/transaction.ts";

/**
 * What the ledger table holds: an item's `pk` begins with its kind. The comment names the module that has the item's
 * shape. Everything here is stored: a change of it would lose items.
 */
export const itemKinds = [
  "account", // shared/access/account-store.ts
  "owner", // shared/access/owner-item.ts
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
  "parked", // shared/webhooks/parked-account.ts
  "endpoint-health", // shared/webhooks/endpoint-health.ts
  "subscription", // shared/webhooks/subscription.ts
  "phone-retention", // shared/reconciliation/phone-retention.ts
  "reference-key", // reference-key.ts
  "statement", // shared/upstream-statement/statement.ts
  "statement-rows", // shared/upstream-statement/statement-rows.ts
  "statement-case", // shared/upstream-statement/statement-case.ts
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

/** What an owner owns. The hash of the owner has one length, whatever the name of a group. */
export const ownerPk = (hash: string): string => pkOf("owner", hash);

/** The price rules of an account. */
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

/** The key of the transaction that a refund belongs to. */
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

export const consentPk = (transaction: { readonly pk: string }): string => pkOf("consent", transaction.pk);

/** The key of the transaction that a consent belongs to. */
export const transactionPkOfConsent = ({ pk }: { readonly pk: string }): string => restOf(pk);

export const eventPk = (hash: string): string => pkOf("event", hash);
export const eventHashOf = ({ pk }: { readonly pk: string }): string => restOf(pk);

export const deliveryPk = (event: {
  readonly transaction_pk: string;
  readonly status: string;
  readonly repeat?: string | undefined;
}): string => {
  const id = transactionIdOf({ pk: event.transaction_pk });
  return pkOf("delivery", id, event.status, ...(event.repeat === undefined ? [] : [event.repeat]));
};

/** The delivery of an event that is about an account and no transaction. */
export const accountEventDeliveryPk = (webhookId: string, repeat?: string): string =>
  pkOf("delivery", webhookId, ...(repeat === undefined ? [] : [repeat]));

export const parkedAccountPk = (accountId: string): string => pkOf("parked", accountId);
export const endpointHealthPk = (accountId: string): string => pkOf("endpoint-health", accountId);

/** An account's subscription to an event by its name. */
export const subscriptionPk = (event: string, accountId: string): string => pkOf("subscription", event, accountId);
/** The account of a subscription with this key. */
export const subscriberOf = (pk: string): string => restOf(restOf(pk));

/** The progress of masking the items of a list; an empty key stands for all lists. */
export const phoneRetentionPk = (listKey: string): string => pkOf("phone-retention", listKey);

/** The upstream's statement of a day. */
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

export const REFERENCE_KEY_PK = pkOf("reference-key", "");

/** The attribute `list_key` puts an item into the index `by_list`, which lists the items of each key by time. */
export const ACCOUNTS_LIST = "accounts";
export const EVENTS_LIST = "events";
export const STATEMENTS_LIST = "statements";
export const casesList = (day: string): string => pkOf("statement-case", day);
export const transactionList = (accountId: string, mode: Mode): string => `${accountId}#${mode}`;
export const entriesList = (accountId: string): string => `${accountId}#entries`;
export const accountPeriodsList = (accountId: string): string => `${accountId}#periods`;
export const PERIODS_LIST = "periods";
export const refundsList = (accountId: string): string => `${accountId}#refunds`;
export const deliveriesList = (accountId: string): string => `${accountId}#deliveries`;

/** The attribute `open` puts an item into the sparse index `by_open`, which lists the items of each value by `listed_at`. */
/**
 * Live transactions that are `processing`, by the first character of their id: eight lists, each with an eighth of the
 * writes, because one key of an index takes 1,000 write units a second.
 */
export const openList = (transaction: { readonly pk: string }): string =>
  openListOf(transactionIdOf(transaction).slice(0, 1));
const openListOf = (digit: string): string => pkOf("live", digit);
export const openLists: readonly string[] = [..."01234567"].map(openListOf);
/** The accounts with parked deliveries, each by the time of its next requeue. */
export const PARKED_ACCOUNTS = "parked";
/** What the sender of queued orders looks at each minute: wallets with a queue, and orders that were set aside. */
export const QUEUED = "queued";
/** An account's queued orders, oldest first. */
export const queuedOrders = (accountId: string): string => pkOf("queued", accountId);
/** The upstream events that wait for an operator. */
export const OPEN_EVENTS = "events";
/** An account's parked deliveries, oldest first. */
export const parkedDeliveries = (accountId: string): string => pkOf("parked", accountId);

/** The subscriptions to an event. */
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
   * Live transactions that are `processing`, queued orders, the wallets that have some, parked deliveries, the accounts
   * that have some, open events, and subscriptions.
   */
  byOpen: { name: "by_open", partition: "open", sort: "listed_at" },
  /** Orders by the keyed hash of their phone number, until it is masked. */
  byPhone: { name: "by_phone", partition: "phone_key", sort: "created_at" },
} as const;

/** What the audit table holds. All items of a log are in one partition for each kind, sorted by `sequence`. */
export const auditItemKinds = [
  "entry", // audit.ts
  "attestation", // attest-entries.ts
] as const;
export type AuditItemKind = (typeof auditItemKinds)[number];

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
