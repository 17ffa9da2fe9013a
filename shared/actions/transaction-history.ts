import { koboText } from "../contract/money.ts";
import { type AuditEntry, detailsText, readAuditAbout, readTransactionAudit, SERVICE } from "../ledger/audit.ts";
import { getItems } from "../ledger/get-item.ts";
import { deliveryPk } from "../ledger/schema.ts";
import { isFinalStatus, isIdentityCheck, isQueuedOrder, type Transaction } from "../ledger/transaction.ts";
import { duration } from "../platform/format.ts";
import { eventSummary, listEvents, type StoredEvent, storedEventId } from "../upstream-events/stored-event.ts";
import { type Delivery, deliverySchema } from "../webhooks/delivery.ts";
import { SANDBOX_REPEAT } from "../webhooks/enqueue-webhook.ts";
import { type ActionContext, isForOwner } from "./action-context.ts";

/** What the audit entries of the command `announce` are about. */
export const ANNOUNCE = "announce";

/**
 * The webhook deliveries of one transaction, oldest first, by their keys: an account has more deliveries than a request
 * can read. What sends a webhook again is in the audit log before it does.
 */
export const deliveriesOf = async (
  { ledger }: ActionContext,
  { pk: transaction, account_id, status, created_at }: Transaction,
): Promise<readonly Delivery[]> => {
  const [replays, announced] = await Promise.all([
    readAuditAbout(ledger, account_id, transaction, created_at),
    readAuditAbout(ledger, SERVICE, ANNOUNCE, created_at),
  ]);
  const repeats = [...repeatsIn(replays), ...announced.map(({ details: { name } }) => String(name))];
  return readDeliveries(
    ledger,
    [undefined, SANDBOX_REPEAT, ...repeats].map((repeat) =>
      deliveryPk({ transaction_pk: transaction, status, repeat }),
    ),
  );
};

/** The names of the resends that entries of `deliveries replay` record. */
export const repeatsIn = (entries: readonly AuditEntry[]): readonly string[] =>
  entries.flatMap(({ details: { repeat } }) => (repeat === undefined ? [] : [String(repeat)]));

/** The deliveries that have these keys, oldest first. */
export const readDeliveries = async (
  ledger: ActionContext["ledger"],
  pks: readonly string[],
): Promise<readonly Delivery[]> => {
  const deliveries = await getItems(
    ledger,
    pks.map((pk) => ({ pk })),
    deliverySchema,
  );
  return deliveries.toSorted((one, other) => (one.created_at < other.created_at ? -1 : 1));
};

type HistoryEntry = { readonly at: string; readonly what: string; readonly details: string };

/** A transaction's status changes, events, webhook deliveries and audit entries, oldest first. */
export const historyOf = async (context: ActionContext, transaction: Transaction): Promise<readonly HistoryEntry[]> => {
  const isOwners = isForOwner(context);
  const [events, deliveries, audit] = await Promise.all([
    // Hundreds of stored events may be read: too many for owners, whom they do not concern.
    isOwners ? [] : listEvents(context.ledger, transaction.created_at),
    deliveriesOf(context, transaction),
    readTransactionAudit(context.ledger, transaction),
  ]);
  const { pk, upstream_reference } = transaction;
  const isAbout = (event: StoredEvent): boolean =>
    event.transaction_pk === pk || (upstream_reference !== undefined && event.reference === upstream_reference);
  return [
    createdEntry(transaction),
    ...sentEntries(transaction),
    ...(isUpdated(transaction) ? [updatedEntry(transaction, isOwners)] : []),
    ...events.filter(isAbout).map(eventEntry),
    ...deliveries.flatMap(deliveryEntries),
    ...audit.map((entry) => auditHistoryEntry(entry, isOwners)),
  ].sort((one, other) => (one.at < other.at ? -1 : 1));
};

const createdEntry = ({ created_at, amount_kobo, mode, key_id, debit }: Transaction): HistoryEntry => {
  const charge = mode === "test" ? "in the sandbox" : debit === undefined ? "debited" : "not debited";
  return { at: created_at, what: "created", details: `${koboText(amount_kobo)} NGN ${charge}, key ${key_id}` };
};

/** The last change has an entry of its own, unless another entry tells it. */
const isUpdated = ({ updated_at, created_at, sent_at }: Transaction): boolean =>
  updated_at !== created_at && updated_at !== sent_at;

const sentEntries = (transaction: Transaction): readonly HistoryEntry[] => {
  const { created_at, sent_at } = transaction;
  if (sent_at !== undefined) {
    const wait = duration(Date.parse(sent_at) - Date.parse(created_at));
    return [{ at: sent_at, what: "sent", details: `after a wait of ${wait}` }];
  }
  const details = unknownOutcomeText(transaction);
  return details === undefined ? [] : [{ at: created_at, what: "sent", details }];
};

/**
 * What an operator should know before an open purchase is resolved; undefined for other transactions. No write says that
 * a purchase was sent that did not wait.
 */
export const unknownOutcomeText = (transaction: Transaction): string | undefined => {
  const { mode, status, sent_at, upstream_reference } = transaction;
  if (mode === "test" || isFinalStatus(status) || isIdentityCheck(transaction) || isQueuedOrder(transaction)) {
    return undefined;
  }
  const unless = upstream_reference === undefined ? ", unless its process ended before that" : "";
  return `${sent_at === undefined ? "sent at once" : `sent at ${sent_at}`}${unless}: it may have been delivered`;
};

const updatedEntry = (transaction: Transaction, isOwners: boolean): HistoryEntry => ({
  at: transaction.updated_at,
  what: isQueuedOrder(transaction) ? "waits" : transaction.status,
  details: [
    ...(transaction.upstream_reference === undefined ? [] : [`upstream reference ${transaction.upstream_reference}`]),
    ...(transaction.upstream_amount_kobo === undefined || isOwners
      ? []
      : [`upstream amount ${koboText(transaction.upstream_amount_kobo)} NGN`]),
    ...(transaction.failure === undefined ? [] : [transaction.failure.code]),
  ].join(", "),
});

const eventEntry = (event: StoredEvent): HistoryEntry => ({
  at: event.created_at,
  what: "event",
  details: `${storedEventId(event)} says ${eventSummary(event)}, ${event.reason}, ${event.state}`,
});

const deliveryEntries = ({ attempts, state, repeat, webhook_id, created_at }: Delivery): readonly HistoryEntry[] => {
  const name = `${webhook_id}${repeat === undefined ? "" : ` (${repeat})`}`;
  if (attempts.length === 0) return [{ at: created_at, what: "webhook", details: `${name} ${state}` }];
  return attempts.map(({ at, number, outcome, http_status }) => ({
    at,
    what: "webhook",
    details: `${name} attempt ${number}: ${outcome}${http_status === undefined ? "" : ` ${http_status}`}`,
  }));
};

const auditHistoryEntry = (
  { created_at, by, caller_arn, action, why, details }: AuditEntry,
  isOwners: boolean,
): HistoryEntry => ({
  at: created_at,
  what: action,
  details: [
    `by ${by}${caller_arn === undefined || isOwners ? "" : ` (${caller_arn})`}`,
    detailsText(details),
    ...(why === undefined ? [] : [`"${why}"`]),
  ]
    .filter(Boolean)
    .join(", "),
});
