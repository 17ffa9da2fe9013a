import { type EventRow, eventId, listEvents, saysOf } from "../../shared/status/event-records.ts";
import { type AuditRow, readActs } from "../../shared/wallet/audit.ts";
import { readItems } from "../../shared/wallet/batch-read.ts";
import { ownedKeys } from "../../shared/wallet/index-pages.ts";
import { type TransactionRow, transactionId } from "../../shared/wallet/transaction.ts";
import { type DeliveryRow, deliveriesOwner, deliveryPk, deliveryRow } from "../../shared/webhook/delivery.ts";
import { detailsText } from "./acts.ts";
import type { Desk } from "./desk.ts";
import { naira } from "./print.ts";

/** How the ends of one transaction were told, oldest first. */
export const deliveriesOf = async ({ ledger }: Desk, row: TransactionRow): Promise<readonly DeliveryRow[]> => {
  const range = { from: row.created_at, to: "9999" };
  const keys = await ownedKeys(ledger, deliveriesOwner(row.account_id), range);
  const [prefix = ""] = deliveryPk({ transaction: row.pk, status: "success" }).split(transactionId(row));
  const own = keys.filter(({ pk }) => pk.startsWith(`${prefix}${transactionId(row)}#`));
  return readItems(ledger, own, deliveryRow);
};

/** One thing that happened to a transaction. */
export type Happening = { readonly at: string; readonly what: string; readonly details: string };

/** All that is on record about a transaction, oldest first. */
export const historyOf = async (desk: Desk, row: TransactionRow): Promise<readonly Happening[]> => {
  const [events, deliveries, acts] = await Promise.all([
    listEvents(desk.ledger, row.created_at),
    deliveriesOf(desk, row),
    readActs(desk.ledger, row.pk),
  ]);
  const isAbout = ({ transaction, reference }: EventRow): boolean =>
    transaction === row.pk || (row.upstream_reference !== undefined && reference === row.upstream_reference);
  return [
    created(row),
    ...(row.updated_at === row.created_at ? [] : [updated(row)]),
    ...events.filter(isAbout).map(received),
    ...deliveries.flatMap(told),
    ...acts.map(done),
  ].sort((one, other) => (one.at < other.at ? -1 : 1));
};

const created = (row: TransactionRow): Happening => ({
  at: row.created_at,
  what: "created",
  details: `${naira(row.amount_kobo)} NGN ${row.mode === "live" ? "taken from the wallet" : "in the sandbox"}, key ${row.key_id}`,
});

const updated = (row: TransactionRow): Happening => ({
  at: row.updated_at,
  what: row.status,
  details: [
    ...(row.upstream_reference === undefined ? [] : [`upstream reference ${row.upstream_reference}`]),
    ...(row.upstream_amount_kobo === undefined ? [] : [`upstream amount ${naira(row.upstream_amount_kobo)} NGN`]),
    ...(row.failure === undefined ? [] : [row.failure.code]),
  ].join(", "),
});

const received = (event: EventRow): Happening => ({
  at: event.created_at,
  what: "event",
  details: `${eventId(event)} says ${saysOf(event)}, ${event.reason}, ${event.state}`,
});

const told = ({ attempts, state, repeat, webhook_id, created_at }: DeliveryRow): readonly Happening[] => {
  const name = `${webhook_id}${repeat === undefined ? "" : ` (${repeat})`}`;
  if (attempts.length === 0) return [{ at: created_at, what: "webhook", details: `${name} ${state}` }];
  return attempts.map(({ at, number, outcome, http_status }) => ({
    at,
    what: "webhook",
    details: `${name} attempt ${number}: ${outcome}${http_status === undefined ? "" : ` ${http_status}`}`,
  }));
};

const done = ({ created_at, by, caller_arn, action, why, details }: AuditRow): Happening => ({
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
