import { type AuditEntry, readAudit } from "../../shared/ledger/audit.ts";
import { getItems } from "../../shared/ledger/get-item.ts";
import { ownedKeys } from "../../shared/ledger/query-index.ts";
import { deliveriesOwner, deliveryPk, transactionIdOf } from "../../shared/ledger/schema.ts";
import type { Transaction } from "../../shared/ledger/transaction.ts";
import { listEvents, type StoredEvent, saysOf, storedEventId } from "../../shared/upstream-events/stored-event.ts";
import { type Delivery, deliverySchema } from "../../shared/webhooks/delivery.ts";
import { detailsText } from "./audit-view.ts";
import type { AdminContext } from "./context.ts";
import { naira } from "./print.ts";

/** How the ends of one transaction were told, oldest first. */
export const deliveriesOf = async (
  { ledger }: AdminContext,
  transaction: Transaction,
): Promise<readonly Delivery[]> => {
  const range = { from: transaction.created_at, to: "9999" };
  const keys = await ownedKeys(ledger, deliveriesOwner(transaction.account_id), range);
  const [prefix = ""] = deliveryPk({ transaction: transaction.pk, status: "success" }).split(
    transactionIdOf(transaction),
  );
  const own = keys.filter(({ pk }) => pk.startsWith(`${prefix}${transactionIdOf(transaction)}#`));
  return getItems(ledger, own, deliverySchema);
};

/** One thing that happened to a transaction. */
export type HistoryEntry = { readonly at: string; readonly what: string; readonly details: string };

/** All that is on record about a transaction, oldest first. */
export const historyOf = async (desk: AdminContext, row: Transaction): Promise<readonly HistoryEntry[]> => {
  const [events, deliveries, acts] = await Promise.all([
    listEvents(desk.ledger, row.created_at),
    deliveriesOf(desk, row),
    readAudit(desk.ledger, row.pk),
  ]);
  const isAbout = ({ transaction, reference }: StoredEvent): boolean =>
    transaction === row.pk || (row.upstream_reference !== undefined && reference === row.upstream_reference);
  return [
    created(row),
    ...(row.updated_at === row.created_at ? [] : [updated(row)]),
    ...events.filter(isAbout).map(received),
    ...deliveries.flatMap(told),
    ...acts.map(done),
  ].sort((one, other) => (one.at < other.at ? -1 : 1));
};

const created = (transaction: Transaction): HistoryEntry => ({
  at: transaction.created_at,
  what: "created",
  details: `${naira(transaction.amount_kobo)} NGN ${transaction.mode === "live" ? "taken from the wallet" : "in the sandbox"}, key ${transaction.key_id}`,
});

const updated = (transaction: Transaction): HistoryEntry => ({
  at: transaction.updated_at,
  what: transaction.status,
  details: [
    ...(transaction.upstream_reference === undefined ? [] : [`upstream reference ${transaction.upstream_reference}`]),
    ...(transaction.upstream_amount_kobo === undefined
      ? []
      : [`upstream amount ${naira(transaction.upstream_amount_kobo)} NGN`]),
    ...(transaction.failure === undefined ? [] : [transaction.failure.code]),
  ].join(", "),
});

const received = (event: StoredEvent): HistoryEntry => ({
  at: event.created_at,
  what: "event",
  details: `${storedEventId(event)} says ${saysOf(event)}, ${event.reason}, ${event.state}`,
});

const told = ({ attempts, state, repeat, webhook_id, created_at }: Delivery): readonly HistoryEntry[] => {
  const name = `${webhook_id}${repeat === undefined ? "" : ` (${repeat})`}`;
  if (attempts.length === 0) return [{ at: created_at, what: "webhook", details: `${name} ${state}` }];
  return attempts.map(({ at, number, outcome, http_status }) => ({
    at,
    what: "webhook",
    details: `${name} attempt ${number}: ${outcome}${http_status === undefined ? "" : ` ${http_status}`}`,
  }));
};

const done = ({ created_at, by, caller_arn, action, why, details }: AuditEntry): HistoryEntry => ({
  at: created_at,
  what: action,
  details: [
    `by ${by}${caller_arn === undefined ? "" : ` (${caller_arn})`}`,
    detailsText(details),
    ...(why === undefined ? [] : [`"${why}"`]),
  ]
    .filter(Boolean)
    .join(", "),
});
