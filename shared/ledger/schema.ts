import type { Mode } from "../contract/transaction.ts";

/**
 * What the ledger table holds: an item's `pk` begins with its kind. The comment names the module that has the item's
 * shape. Everything here is stored: a change of it would lose items.
 */
export const itemKinds = [
  "account", // shared/access/account-store.ts
  "owner", // shared/access/owner-item.ts
  "wallet", // wallet.ts
  "transaction", // transaction.ts
  "upstream-reference", // upstream-reference.ts: what is known of an upstream reference
  "funding", // ledger-entry.ts
  "adjustment", // ledger-entry.ts
  "refund", // refund.ts
  "checkpoint", // checkpoint.ts
  "audit", // audit.ts
  "audit-head", // audit-chain.ts
  "consent", // shared/identity/consent.ts
  "event", // shared/upstream-events/stored-event.ts
  "delivery", // shared/webhooks/delivery.ts
  "parked", // shared/webhooks/parked-account.ts
  "endpoint-health", // shared/webhooks/endpoint-health.ts
  "subscription", // shared/webhooks/subscription.ts
  "phone-retention", // shared/reconciliation/phone-retention.ts
  "reference-key", // reference-key.ts
] as const;
export type LedgerItemKind = (typeof itemKinds)[number];

const pkOf = (kind: LedgerItemKind | "queued", ...parts: readonly string[]): string => [kind, ...parts].join("#");

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

export const checkpointPk = (accountId: string): string => pkOf("checkpoint", accountId);

/** `about`: the key of the item that the entry is about, if that is not the one of the log. */
export const auditPk = (at: string, random: string, about?: string): string =>
  pkOf("audit", at, random, ...(about === undefined ? [] : [about]));
/** The end of the chain of entries that a log has from this table; a restored table begins another one. */
export const auditHeadPk = (auditLog: string, table: string): string => pkOf("audit-head", auditLog, table);
export const isAuditAbout = (pk: string, about: string): boolean => pk.endsWith(`#${about}`);

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

export const REFERENCE_KEY_PK = pkOf("reference-key", "");

/** The attribute `list_key` puts an item into the index `by_list`, which lists the items of each key by time. */
export const ACCOUNTS_LIST = "accounts";
export const EVENTS_LIST = "events";
export const transactionList = (accountId: string, mode: Mode): string => `${accountId}#${mode}`;
export const entriesList = (accountId: string): string => `${accountId}#entries`;
export const refundsList = (accountId: string): string => `${accountId}#refunds`;
export const deliveriesList = (accountId: string): string => `${accountId}#deliveries`;
export const auditHeadsList = (auditLog: string): string => pkOf("audit-head", auditLog);
export const auditList = (auditLog: string): string => pkOf("audit", auditLog);

/** The attribute `open` puts an item into the sparse index `by_open`, which lists the items of each value by `listed_at`. */
export const OPEN_TRANSACTION = "live";
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
    includes: ["status", "mode", "write_token", "account_id", "amount_kobo"],
  },
  /**
   * Live transactions that are `processing`, queued orders, the wallets that have some, parked deliveries, the accounts
   * that have some, open events, and subscriptions.
   */
  byOpen: { name: "by_open", partition: "open", sort: "listed_at" },
} as const;
