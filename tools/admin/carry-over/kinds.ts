import { isDeepStrictEqual } from "node:util";
import * as z from "#zod";
import { ownerItemSchema } from "../../../shared/access/owner-item.ts";
import { personItemSchema } from "../../../shared/access/person-item.ts";
import { consentSchema } from "../../../shared/identity/consent.ts";
import { ledgerEntrySchema } from "../../../shared/ledger/ledger-entry.ts";
import { proposalSchema } from "../../../shared/ledger/proposal.ts";
import { refundSchema } from "../../../shared/ledger/refund.ts";
import { itemKindOf, type LedgerItemKind } from "../../../shared/ledger/schema.ts";
import { upstreamReferenceSchema } from "../../../shared/ledger/upstream-reference.ts";
import { walletSchema } from "../../../shared/ledger/wallet.ts";
import { floatPaymentSchema } from "../../../shared/margin/float.ts";
import { recipientSchema } from "../../../shared/notifications/recipient.ts";
import { EPOCH } from "../../../shared/platform/time.ts";
import { priceListItemSchema } from "../../../shared/prices/price-list.ts";
import { storedEventSchema } from "../../../shared/upstream-events/stored-event.ts";
import { statementSchema } from "../../../shared/upstream-statement/statement.ts";
import { statementCaseSchema } from "../../../shared/upstream-statement/statement-case.ts";
import { statementRowsSchema } from "../../../shared/upstream-statement/statement-rows.ts";
import { parkedEndpointSchema } from "../../../shared/webhooks/parked-endpoint.ts";
import { subscriptionSchema } from "../../../shared/webhooks/subscription.ts";
import type { Item } from "../table-scan.ts";
import {
  type Compare,
  compareImmutable,
  compareLater,
  compareWith,
  differing,
  type Step,
  unchanged,
  unchangedIn,
} from "./compare.ts";
import { compareAccount } from "./compare-account.ts";
import { compareTransaction, isMaskOf } from "./compare-transaction.ts";

/** A kind of ledger item, found by the prefix of its key. */
export type ItemKind = {
  readonly name: string;
  /** Absent if the kind is not carried over: the service derives it again from the other items. */
  readonly compare?: Compare;
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

/** Every kind of ledger item by its key prefix. Other items are reported and not carried over. */
const kinds: Readonly<Record<LedgerItemKind, ItemKind>> = {
  account: { name: "accounts", compare: compareAccount },
  owner: { name: "owners", compare: compareOwner },
  "price-list": { name: "price lists", compare: compareLater(priceListItemSchema, "version") },
  wallet: { name: "wallets", compare: compareWallet },
  // Orders that are carried over are not counted: see `uncounted` in compare-transaction.ts.
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
