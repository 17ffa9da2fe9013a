import { isDeepStrictEqual } from "node:util";
import * as z from "#zod";
import { type Account, accountSchema } from "../../../shared/access/account-store.ts";
import { type AccountKey, earlierExpiry } from "../../../shared/access/key-item.ts";
import { ownerItemSchema } from "../../../shared/access/owner-item.ts";
import { personItemSchema } from "../../../shared/access/person-item.ts";
import { consentSchema } from "../../../shared/identity/consent.ts";
import { projectionOf } from "../../../shared/ledger/get-item.ts";
import { ledgerEntrySchema } from "../../../shared/ledger/ledger-entry.ts";
import { maskedNumber } from "../../../shared/ledger/masked-transaction.ts";
import { proposalSchema } from "../../../shared/ledger/proposal.ts";
import { refundSchema } from "../../../shared/ledger/refund.ts";
import { itemKindOf, type LedgerItemKind } from "../../../shared/ledger/schema.ts";
import {
  ERASED_FINGERPRINT,
  isFinalStatus,
  type Transaction,
  transactionSchema,
} from "../../../shared/ledger/transaction.ts";
import { upstreamReferenceSchema } from "../../../shared/ledger/upstream-reference.ts";
import { walletSchema } from "../../../shared/ledger/wallet.ts";
import { floatPaymentSchema } from "../../../shared/margin/float.ts";
import { recipientSchema } from "../../../shared/notifications/recipient.ts";
import { EPOCH } from "../../../shared/platform/time.ts";
import { priceListItemSchema } from "../../../shared/prices/price-list.ts";
import { type WalletChange, walletChangeOf } from "../../../shared/reconciliation/wallet-changes.ts";
import { storedEventSchema } from "../../../shared/upstream-events/stored-event.ts";
import { statementSchema } from "../../../shared/upstream-statement/statement.ts";
import { statementCaseSchema } from "../../../shared/upstream-statement/statement-case.ts";
import { statementRowsSchema } from "../../../shared/upstream-statement/statement-rows.ts";
import { parkedEndpointSchema } from "../../../shared/webhooks/parked-endpoint.ts";
import { subscriptionSchema } from "../../../shared/webhooks/subscription.ts";
import type { Item } from "../table-scan.ts";

/** The condition of a conditional put: the item is still the one that was compared. */
export type Condition = {
  readonly expression: string;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, unknown>>;
};

/** What to do with one item of the old ledger. */
export type Step =
  /** The restored ledger lacks the item. */
  | { readonly kind: "copy"; readonly item: Item }
  /** The restored ledger has it at an earlier stage. */
  | { readonly kind: "update"; readonly item: Item; readonly when: Condition; readonly note?: string }
  /** The restored ledger has it at this stage or a later one. */
  | { readonly kind: "present"; readonly note?: string }
  /** The restored ledger lacks the item, and gets it by another way if it needs it. */
  | { readonly kind: "skipped" }
  /** The two contradict each other: an operator must decide, and nothing is written. */
  | { readonly kind: "differs"; readonly fields: readonly string[] }
  /** The item does not have the form that its key promises. */
  | { readonly kind: "unreadable" };

/** The names of the old ledger and of the restored one. */
type Ledgers = { readonly from: string; readonly to: string };

/** Compares an item of the old ledger with the restored ledger's item of the same key. */
type Compare = (old: Item, restored: Item | undefined, ledgers: Ledgers) => Step;

/** A kind of ledger item, found by the prefix of its key. */
export type ItemKind = {
  readonly name: string;
  /** Absent if the kind is not carried over: the service derives it again from the other items. */
  readonly compare?: Compare;
};

const differing = (one: Item, other: Item, fields: readonly string[]): readonly string[] =>
  fields.filter((field) => !isDeepStrictEqual(one[field], other[field]));

/** Parses both items before comparing them. `adapt`: the old ledger's item as the restored ledger has to have it. */
const compareWith =
  <Parsed>(
    schema: z.ZodMiniType<Parsed>,
    compareParsed: (
      parsed: { readonly old: Parsed; readonly restored: Parsed },
      oldItem: Item,
      restoredItem: Item,
    ) => Step,
    adapt: (item: Item, parsed: Parsed, ledgers: Ledgers) => Item = (item) => item,
  ): Compare =>
  (readItem, restoredItem, ledgers) => {
    const old = schema.safeParse(readItem).data;
    if (old === undefined) return { kind: "unreadable" };
    const oldItem = adapt(readItem, old, ledgers);
    if (restoredItem === undefined) return { kind: "copy", item: oldItem };
    const restored = schema.safeParse(restoredItem).data;
    return restored === undefined
      ? { kind: "differs", fields: ["all"] }
      : compareParsed({ old, restored }, oldItem, restoredItem);
  };

/** None of these attributes has changed: other writes to the item take turns with this one. */
const unchanged = (item: Item, names: readonly string[]): Condition => ({
  expression: names
    .map((name) => (name in item ? `#${name} = :${name}` : `attribute_not_exists(#${name})`))
    .join(" AND "),
  names: Object.fromEntries(names.map((name) => [`#${name}`, name])),
  values: Object.fromEntries(names.flatMap((name) => (name in item ? [[`:${name}`, item[name]]] : []))),
});

/** None of the attributes that the schema names. */
const unchangedIn = ({ shape }: { readonly shape: object }, item: Item): Condition =>
  unchanged(item, Object.keys(shape));

/** For items that never change once written. */
const compareImmutable = (schema: z.ZodMiniType = z.unknown()): Compare =>
  compareWith(schema, (_parsed, old, restored) => {
    const fields = differing(old, restored, [...new Set([...Object.keys(old), ...Object.keys(restored)])]);
    return fields.length === 0 ? { kind: "present" } : { kind: "differs", fields };
  });

/** Equal in both ledgers if it is the same order of the same request. */
const ORDER_FIELDS = [
  ...["list_key", "account_id", "mode", "type", "write_token"],
  ...["fingerprint", "caller_reference", "amount_kobo", "created_at"],
];
const OUTCOME_FIELDS = ["status", "upstream_reference", "upstream_amount_kobo", "cost_kobo", "failure"];
const QUEUED_FIELDS = ["queued", "claim", "sent_at"];
const OPEN_FIELDS = ["status", "write_token", "upstream_reference", "claim", "queued"];

/** Forward only: an open transaction takes its settlement from the old ledger; a final one stays as it is. */
const compareOpenedTransaction = (
  { old, restored }: { readonly old: Transaction; readonly restored: Transaction },
  oldItem: Item,
  restoredItem: Item,
): Step => {
  const isErased = [old, restored].some(({ fingerprint }) => fingerprint === ERASED_FINGERPRINT);
  const otherOrder = differing(oldItem, restoredItem, ORDER_FIELDS).filter(
    (field) => !isErased || field !== "fingerprint",
  );
  if (otherOrder.length > 0) return { kind: "differs", fields: otherOrder };
  const fields = differing(oldItem, restoredItem, OUTCOME_FIELDS);
  if (isFinalStatus(restored.status))
    return fields.length > 0 && isFinalStatus(old.status) ? { kind: "differs", fields } : { kind: "present" };
  const named = restored.upstream_reference;
  if (named !== undefined && named !== old.upstream_reference) {
    return { kind: "differs", fields: ["upstream_reference"] };
  }
  const isFurther = !isFinalStatus(old.status) && progressOf(restored) > progressOf(old);
  const isSame = fields.length === 0 && differing(oldItem, restoredItem, QUEUED_FIELDS).length === 0;
  return isFurther || isSame
    ? { kind: "present" }
    : { kind: "update", item: oldItem, when: unchanged(restoredItem, OPEN_FIELDS) };
};

/** Whether the number of the old item is the mask of the restored one's. */
const isMaskOf = (old: string | undefined, restored: string | undefined): old is string =>
  restored !== undefined && old !== restored && old === maskedNumber(restored);

/**
 * What an erasure or a retention has removed of a person in the old ledger is removed in the restored one too: a restore
 * must not bring it back. What was removed in the restored one stays removed.
 */
const removeAsInOld = (
  { old, restored }: { readonly old: Transaction; readonly restored: Transaction },
  restoredItem: Item,
): Step => {
  const isMasked = isMaskOf(old.phone_number, restored.phone_number);
  const isErased = old.fingerprint === ERASED_FINGERPRINT && restored.fingerprint !== ERASED_FINGERPRINT;
  const isUnfindable = old.phone_key === undefined && restored.phone_key !== undefined;
  if (!isMasked && !isErased && !isUnfindable) return { kind: "present" };
  const { phone_key, ...kept } = restoredItem;
  const item = {
    ...kept,
    ...(phone_key !== undefined && !isUnfindable && { phone_key }),
    ...(isMasked && { phone_number: old.phone_number, description: old.description }),
    ...(isErased && { fingerprint: ERASED_FINGERPRINT }),
  };
  return { kind: "update", item, when: unchangedIn(transactionSchema, restoredItem) };
};

/** Sorts the states of an open order by time: it waits, is claimed, waits again after a refusal, is claimed again. */
const progressOf = ({ sent_at = "", queued }: Transaction): string => `${sent_at}#${queued === undefined ? 0 : 1}`;

/**
 * An order that waits in the old ledger was not sent, and waits in the restored ledger from now on. One that waited
 * elsewhere, before the old ledger was itself restored, may have been sent: it stays what it is.
 */
const adaptQueuedOrder = (item: Item, { queued }: Transaction, { from, to }: Ledgers): Item =>
  queued?.table === from ? { ...item, queued: { ...queued, table: to } } : item;

/**
 * The counters of limits stay as the restored ledger has them, so they did not count an order that it lacks, and its
 * refund must give nothing back.
 */
const uncounted = ({ counted: _counted, ...item }: Item): Item => item;

const compareStoredTransaction = compareWith(
  transactionSchema,
  (transactions, oldItem, restoredItem) => {
    const step = compareOpenedTransaction(transactions, oldItem, restoredItem);
    return step.kind === "present" ? removeAsInOld(transactions, restoredItem) : step;
  },
  adaptQueuedOrder,
);
const compareTransaction: Compare = (old, restored, ledgers) => {
  const step = compareStoredTransaction(old, restored, ledgers);
  return step.kind === "copy" ? { ...step, item: uncounted(step.item) } : step;
};

/** What an erasure or the retention removes from a consent, which does not change otherwise. */
const removedFromConsent = z.pick(consentSchema, { subject: true, subject_key: true, purpose: true, evidence: true });

/** A consent without what either ledger has removed from it. */
const compareConsent = compareWith(removedFromConsent, (_parsed, old, restored): Step => {
  const isRemoved = (name: string): boolean => name in removedFromConsent.shape && !(name in old && name in restored);
  const names = [...new Set([...Object.keys(old), ...Object.keys(restored)])].filter((name) => !isRemoved(name));
  const fields = differing(old, restored, names);
  if (fields.length > 0) return { kind: "differs", fields };
  const kept = Object.fromEntries(Object.entries(restored).filter(([name]) => !isRemoved(name)));
  if (Object.keys(kept).length === Object.keys(restored).length) return { kind: "present" };
  return { kind: "update", item: { ...kept, pk: restored.pk }, when: unchangedIn(removedFromConsent, restored) };
});

/** A key as the later account has it. */
const mergeKeys = (later: AccountKey, other: AccountKey): AccountKey => {
  const expiresAt = earlierExpiry(later.expires_at, other.expires_at);
  const isRevoked = later.status === "revoked" || other.status === "revoked";
  return {
    ...later,
    status: isRevoked ? "revoked" : "active",
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
  };
};

/** All keys of both: revoked if either is, with the earlier expiry. */
const mergeKeyLists = (restored: Account, old: Account): AccountKey[] => {
  const known = new Set(restored.keys.map(({ key_id }) => key_id));
  return [
    ...restored.keys.map((key) => {
      const other = old.keys.find(({ key_id }) => key_id === key.key_id);
      if (other === undefined) return key;
      return old.version > restored.version ? mergeKeys(other, key) : mergeKeys(key, other);
    }),
    ...old.keys.filter(({ key_id }) => !known.has(key_id)),
  ];
};

/**
 * Addresses, name, limits, endpoints, owners and price rules of the later version; keys and restriction of the stricter
 * one. An account is closed if the old ledger has it so: one that was reopened there may have lines that the restored
 * one lacks.
 */
const compareAccount = compareWith(accountSchema, ({ old, restored }, oldItem, restoredItem): Step => {
  const isOldNewer = old.version > restored.version;
  const isActive = old.status === "active" && restored.status === "active";
  const status = isActive ? "active" : old.status === "closed" ? "closed" : "restricted";
  const merged = {
    ...(isOldNewer ? oldItem : restoredItem),
    status,
    keys: mergeKeyLists(restored, old),
    // Deliveries of both ledgers name their endpoints, so an id is never used again.
    endpoints_made: Math.max(old.endpoints_made, restored.endpoints_made),
  };
  const note =
    old.status === restored.status
      ? {}
      : {
          note: `${restored.account_id} is ${old.status} in the old ledger and ${restored.status} here: it is ${status} now`,
        };
  if (isDeepStrictEqual({ ...merged, version: 0 }, { ...restoredItem, version: 0 }))
    return { kind: "present", ...note };
  return {
    kind: "update",
    item: { ...merged, version: Math.max(old.version, restored.version) + 1 },
    when: unchanged(restoredItem, ["version"]),
    ...note,
  };
});

/** The accounts of both: an account that has other owners in the restored ledger is not read as owned. */
const compareOwner = compareWith(ownerItemSchema, ({ old, restored }, oldItem, restoredItem): Step => {
  const accounts = new Set([...(restored.accounts ?? []), ...(old.accounts ?? [])]);
  if (accounts.size === (restored.accounts?.size ?? 0)) return { kind: "present" };
  // One whose last account was removed has no `accounts`, and DynamoDB refuses a condition without a value.
  return { kind: "update", item: { ...oldItem, accounts }, when: unchanged(restoredItem, ["pk", "accounts"]) };
});

const walletFields = z.pick(walletSchema, {
  account_id: true,
  restricted: true,
  restricted_at: true,
  closed: true,
  sealed_to: true,
});

/**
 * Balances and queues are not compared: they are recomputed from the ledger entries and transactions. A wallet that is
 * restricted in either ledger stays restricted, and one that is sealed stays sealed until the later moment. It is closed
 * with its account.
 */
const compareWallet = compareWith(walletFields, (wallets, old, restored): Step => {
  const isSame = differing(old, restored, ["low_balance_threshold_kobo"]).length === 0;
  const note = isSame ? {} : { note: `${old.pk} has another low_balance_threshold_kobo in the old ledger` };
  const { restricted, sealed_to } = wallets.restored;
  const isRestrictedLater = wallets.old.restricted === true && restricted === undefined;
  const isSealedLater = (wallets.old.sealed_to ?? "") > (sealed_to ?? "");
  const isClosedOtherwise = wallets.old.closed !== wallets.restored.closed;
  if (!isRestrictedLater && !isSealedLater && !isClosedOtherwise) return { kind: "present", ...note };
  const { closed: _closed, ...withoutClosed } = restored;
  return {
    kind: "update",
    item: {
      ...withoutClosed,
      ...(isRestrictedLater && { restricted: true, restricted_at: wallets.old.restricted_at ?? EPOCH }),
      ...(wallets.old.closed && { closed: true }),
      ...(isSealedLater && { sealed_to: wallets.old.sealed_to }),
    },
    when: unchangedIn(walletSchema, restored),
    ...note,
  };
});

/** All that either ledger knows of a reference. */
const compareUpstreamReference = compareWith(upstreamReferenceSchema, (_parsed, oldItem, restoredItem): Step => {
  const merged = { ...oldItem, ...restoredItem };
  if (merged.transaction_pk !== (oldItem.transaction_pk ?? merged.transaction_pk)) {
    return { kind: "differs", fields: ["transaction_pk"] };
  }
  if (isDeepStrictEqual(merged, restoredItem)) return { kind: "present" };
  return { kind: "update", item: merged, when: unchangedIn(upstreamReferenceSchema, restoredItem) };
});

const eventFields = z.object({ state: z.string(), reason: z.string(), phone_masked: z.optional(z.string()) });

/** An event whose number has fewer digits in the old ledger has no more in the restored one. */
const maskAsInOld = (old: Item, restored: Item): Step => {
  const { phone_masked } = eventFields.parse(old);
  if (!isMaskOf(phone_masked, eventFields.parse(restored).phone_masked)) return { kind: "present" };
  return { kind: "update", item: { ...restored, phone_masked }, when: unchangedIn(eventFields, restored) };
};

/** Forward only: an open event takes the operator's decision from the old ledger, or the later reason. */
const compareEvent = compareWith(storedEventSchema, ({ old, restored }, oldItem, restoredItem): Step => {
  const fields = differing(oldItem, restoredItem, ["state", "transaction_pk", "reason"]);
  const hasLaterReason = old.reason === "conflicting_events" && restored.state === "open";
  if (fields.length === 0 || (old.state === "open" && !hasLaterReason)) return maskAsInOld(oldItem, restoredItem);
  if (restored.state !== "open") return { kind: "differs", fields };
  return { kind: "update", item: oldItem, when: unchanged(restoredItem, ["state"]) };
});

const deliveryFields = z.object({
  state: z.string(),
  attempts: z.array(z.record(z.string(), z.unknown())),
  open: z.optional(z.string()),
});
type DeliveryFields = z.infer<typeof deliveryFields>;

/** What an endpoint answered may name a person: it is removed from an attempt as in the old ledger. */
const ANSWER_FIELDS = ["response_headers", "response_body"];
const removeAnswers = (old: DeliveryFields, restored: DeliveryFields, restoredItem: Item): Step => {
  const attempts = restored.attempts.map((attempt, index) => {
    const before = old.attempts[index] ?? attempt;
    const fields = Object.entries(attempt).filter(([name]) => !ANSWER_FIELDS.includes(name) || name in before);
    return Object.fromEntries(fields);
  });
  if (isDeepStrictEqual(attempts, restored.attempts)) return { kind: "present" };
  return { kind: "update", item: { ...restoredItem, attempts }, when: unchangedIn(deliveryFields, restoredItem) };
};

/**
 * Forward only: attempts are only added, and a state other than `pending` is final. A delivery that was parked after
 * the moment has no message any more.
 */
const compareDelivery = compareWith(deliveryFields, ({ old, restored }, oldItem, restoredItem): Step => {
  const moreAttempts = old.attempts.length - restored.attempts.length;
  const isParkedSince = old.open !== undefined && restored.open === undefined && moreAttempts === 0;
  const isFurther = old.state !== "pending" || moreAttempts > 0 || isParkedSince;
  if (restored.state !== "pending" || !isFurther) return removeAnswers(old, restored, restoredItem);
  return { kind: "update", item: oldItem, when: unchanged(restoredItem, ["state", "attempts"]) };
});

/** The earlier requeue of an endpoint's parked deliveries. */
const compareParkedEndpoint = compareWith(parkedEndpointSchema, ({ old, restored }, oldItem, restoredItem): Step => {
  if (old.listed_at >= restored.listed_at) return { kind: "present" };
  return { kind: "update", item: oldItem, when: unchanged(restoredItem, ["listed_at"]) };
});

const compareStoredProposal = compareWith(proposalSchema, ({ old, restored }, oldItem, restoredItem): Step => {
  if (old.state === "open" || old.state === restored.state) return { kind: "present" };
  if (restored.state !== "open") return { kind: "differs", fields: ["state"] };
  return { kind: "update", item: oldItem, when: unchanged(restoredItem, ["state"]) };
});

/**
 * What was decided stays decided: what one person has refused must not be open to the approval of another. What was not
 * decided is proposed again: its person may not know that it was restored.
 */
const compareProposal: Compare = (old, restored, ledgers) => {
  const step = compareStoredProposal(old, restored, ledgers);
  return step.kind === "copy" && step.item.state === "open" ? { kind: "skipped" } : step;
};

/** The later of both, by a field that each write raises. */
const compareLater = <Field extends string>(
  schema: z.ZodMiniType<{ readonly [name in Field]: string | number }>,
  field: Field,
): Compare =>
  compareWith(schema, ({ old, restored }, oldItem, restoredItem): Step => {
    if (old[field] <= restored[field]) return { kind: "present" };
    return { kind: "update", item: oldItem, when: unchanged(restoredItem, [field]) };
  });

/** Every kind of ledger item by its key prefix. Other items are reported and not carried over. */
const kinds: Readonly<Record<LedgerItemKind, ItemKind>> = {
  account: { name: "accounts", compare: compareAccount },
  owner: { name: "owners", compare: compareOwner },
  "price-list": { name: "price lists", compare: compareLater(priceListItemSchema, "version") },
  wallet: { name: "wallets", compare: compareWallet },
  // Orders that are carried over are not counted: see `uncounted`.
  "key-usage": { name: "usage of keys" },
  transaction: { name: "transactions", compare: compareTransaction },
  consent: { name: "consents", compare: compareConsent },
  "upstream-reference": { name: "upstream references", compare: compareUpstreamReference },
  funding: { name: "fundings", compare: compareImmutable(ledgerEntrySchema) },
  adjustment: { name: "adjustments", compare: compareImmutable(ledgerEntrySchema) },
  refund: { name: "refunds", compare: compareImmutable(refundSchema) },
  // Their hashes show whether the restored ledger has all lines of a closed month.
  period: { name: "periods", compare: compareImmutable() },
  "period-lines": { name: "fingerprints of lines", compare: compareImmutable() },
  event: { name: "events", compare: compareEvent },
  delivery: { name: "deliveries", compare: compareDelivery },
  parked: { name: "parked endpoints", compare: compareParkedEndpoint },
  // A mark of a low balance is set again from the restored wallet.
  subscription: { name: "subscriptions", compare: compareLater(subscriptionSchema, "updated_at") },
  "reference-key": { name: "reference key", compare: compareImmutable() },
  // Its sum is recomputed from the payments, and the next hourly run measures it.
  float: { name: "float" },
  "float-payment": { name: "float payments", compare: compareImmutable(floatPaymentSchema) },
  // Those of the restored ledger fit its own items: the next hourly run goes on from them.
  "order-sums": { name: "order sums" },
  "order-day": { name: "days of orders" },
  statement: { name: "upstream statements", compare: compareLater(statementSchema, "version") },
  "statement-rows": { name: "rows of upstream statements", compare: compareImmutable(statementRowsSchema) },
  "statement-case": { name: "cases of upstream statements", compare: compareLater(statementCaseSchema, "version") },
  proposal: { name: "proposals", compare: compareProposal },
  // A person who stopped, or was stopped, stays so.
  recipient: { name: "choices of notifications", compare: compareLater(recipientSchema, "version") },
  // The next run finds out again.
  notified: { name: "notifications" },
  // As at the last sign-in: who has lost a role is not notified as one who has it.
  person: { name: "people who signed in", compare: compareLater(personItemSchema, "last_seen_at") },
  // The next attempts find out again.
  "endpoint-health": { name: "endpoint health" },
  // The next reconciliation of a wallet writes a new checkpoint.
  checkpoint: { name: "checkpoints" },
  // Of a month that is not closed yet: it is closed again.
  "period-replacement": { name: "replacements of periods" },
  // Its months are verified from the beginning.
  "period-verification": { name: "verification of periods" },
  // The restored ledger's progress fits its own items: a later one would skip phone numbers that are not masked in it.
  "phone-retention": { name: "phone retention" },
};

export const kindOf = (pk: string): ItemKind | undefined => {
  const kind = itemKindOf(pk);
  return kind && kinds[kind];
};

/** A change of an account's balance. */
export type BalanceChange = WalletChange & {
  readonly accountId: string;
  /** Its number in the account's queue, if it is that of an order which waits there. */
  readonly queuedNumber?: number;
};

const transactionFields = z.pick(transactionSchema, {
  account_id: true,
  status: true,
  amount_kobo: true,
  created_at: true,
  debit: true,
  queued: true,
});
const entryFields = z.pick(ledgerEntrySchema, { account_id: true, amount_kobo: true, created_at: true });

/** The attributes that `balanceChangeOf` reads. */
export const balanceChangeProjection = projectionOf(["pk", "mode", ...Object.keys(transactionFields.shape)]);

/** How an item changes its account's balance; undefined if it does not. */
export const balanceChangeOf = (item: Item): BalanceChange | undefined => {
  const kind = itemKindOf(item.pk);
  if (kind === "funding" || kind === "adjustment") {
    const { account_id, amount_kobo, created_at } = entryFields.parse(item);
    return { pk: item.pk, accountId: account_id, at: created_at, kobo: amount_kobo, versions: 1, isOpen: false };
  }
  if (kind !== "transaction" || item.mode !== "live") return undefined;
  const { account_id, queued, ...amount } = transactionFields.parse(item);
  return {
    accountId: account_id,
    ...walletChangeOf({ ...amount, pk: item.pk }),
    ...(queued?.number !== undefined && { queuedNumber: queued.number }),
  };
};
