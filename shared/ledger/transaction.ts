import * as z from "#zod";
import { PENDING_MS_MAX } from "../contract/actions/refund-clock.ts";
import { errorCodes } from "../contract/errors.ts";
import { lazyObject } from "../contract/lazy-object.ts";
import {
  isCheckType,
  livePrefixes,
  type Mode,
  modeSchema,
  type purchasedTransaction,
  REFERENCE_ID,
  TEST_PREFIX,
  type TransactionStatus,
  type TransactionType,
  type TransactionView,
  transactionStatus,
  transactionType,
} from "../contract/transaction.ts";
import { MINUTE_MS } from "../contract/values/durations.ts";
import { koboSchema, nairaFromKobo } from "../contract/values/money.ts";
import { ORDER_GRACE_MS } from "../platform/time-budgets.ts";
import { transactionIdOf, transactionPk } from "./schema.ts";
import { countedSchema } from "./usage.ts";

/**
 * `processing` leads to `success` or `failed`, and those are final: settle-transaction.ts writes only to a transaction
 * that is `processing`; all other code calls this function.
 */
export const isFinalStatus = (status: TransactionStatus): boolean => status !== "processing";

/** A live transaction that is open for longer is stuck: an operator should look into it. */
export const STUCK_MS = 15 * MINUTE_MS;

/** An identity check that is open for longer is abandoned: its request ended without a result, and it is refunded. */
export const CHECK_OPEN_MS_MAX = 5 * MINUTE_MS;

/** Why a transaction failed: the error in the response, kept so that a replay gets the same one. */
export const failureSchema = lazyObject(() => ({
  code: z.enum(errorCodes),
  /** Fields of the order that the upstream refused, for a `validation_failed`. */
  fields: z.optional(z.array(z.string())),
  /** Set for a `provider_unavailable` that is not about its age: the stage got another upstream while the order waited. */
  cause: z.optional(z.literal("upstream_changed")),
}));
export type Failure = z.infer<typeof failureSchema>;

/** The fingerprint of an erased check. No hash is this text, so that no request is a replay of one. */
export const ERASED_FINGERPRINT = "erased";

/** Which upstream the order was made for, by its URL: its ids are those of the catalog there. */
const madeFor = { upstream: z.optional(z.string()) };

/** What the upstream needs to know of an order besides the transaction's phone number and amount. */
export const orderToSendSchema = z.discriminatedUnion("kind", [
  lazyObject(() => ({ kind: z.literal("data"), network_id: z.int(), plan_id: z.int(), ...madeFor })),
  lazyObject(() => ({ kind: z.literal("airtime"), network: z.string(), ...madeFor })),
]);
export type OrderToSend = z.infer<typeof orderToSendSchema>;

/** A transaction's item. It stays below 1 KB, so each write of it costs one unit (two in a transaction of writes). */
export const transactionSchema = lazyObject(() => ({
  pk: z.string(),
  /** Account and mode: `acc_1#live`. */
  list_key: z.string(),
  account_id: z.string(),
  key_id: z.string(),
  mode: modeSchema,
  type: transactionType,
  status: transactionStatus,
  /** The write token, random: a request whose write got no response recognises its own item by it. */
  write_token: z.string(),
  /** HMAC over the order's normalised fields: distinguishes a replay from another order with the same reference. */
  fingerprint: z.string(),
  caller_reference: z.optional(z.string()),
  /** The price: what the caller pays. */
  amount_kobo: koboSchema,
  /** What is ordered from the upstream, if a price rule makes the price another one. */
  face_kobo: z.optional(koboSchema),
  /** What the upstream charged, or is expected to charge if it is delivered; absent if that is unknown. */
  cost_kobo: z.optional(koboSchema),
  /** The rule that made the price; absent for the face value. */
  price_rule: z.optional(z.string()),
  /** Where it was counted, if a limit of a day or a month of its account or key counts it (usage.ts). */
  counted: z.optional(countedSchema),
  description: z.string(),
  network: z.optional(z.string()),
  phone_number: z.optional(z.string()),
  /** A keyed hash of the phone number, by which an order is found until the number is masked. */
  phone_key: z.optional(z.string()),
  /** Set as soon as it is known. */
  upstream_reference: z.optional(z.string()),
  /** The upstream's `amount`: the face value, or what it charged (upstream-costs.ts). */
  upstream_amount_kobo: z.optional(koboSchema),
  failure: z.optional(failureSchema),
  /** Set if an operator settled it: when it ended says nothing of the upstream. */
  resolved_by: z.optional(z.literal("operator")),
  /** Set if the upstream reported its outcome later than in the answer to the order: in an event, or when it was asked. */
  reported_by: z.optional(z.enum(["event", "lookup"])),
  /** The operator who took it while it was open, and when (take-order.ts). */
  taken_by: z.optional(z.string()),
  taken_at: z.optional(z.iso.datetime()),
  /**
   * Only on a transaction that is `failed` without a debit, so that it changed no wallet (void-debit.ts): its debit got
   * no answer, or the caller cancelled the order before it was placed.
   */
  debit: z.optional(z.enum(["void", "cancelled"])),
  /** Only on a live transaction that is `processing`: its place in the list of open transactions or queued orders. */
  open: z.optional(z.string()),
  listed_at: z.optional(z.iso.datetime()),
  /**
   * Only on a queued order. `table` is the ledger that it waits in: in a restored copy of that
   * ledger it may have been sent since.
   */
  queued: z.optional(
    z.object({
      order: orderToSendSchema,
      table: z.string(),
      /** Its number in the account's queue; absent if the order was set aside. */
      number: z.optional(z.int().check(z.minimum(1))),
      /** Only if it was set aside: how often the upstream refused this very order with 429. */
      refusals: z.optional(z.int().check(z.minimum(1))),
    }),
  ),
  /** Random: which claim was the order's last one, if it ever waited. */
  claim: z.optional(z.string()),
  /** When the order was claimed last, if it ever waited. */
  sent_at: z.optional(z.iso.datetime()),
  /** How often the upstream refused this very order with 429 before it was sent the last time; absent if it never did. */
  refusals: z.optional(z.int().check(z.minimum(1))),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
}));
export type Transaction = z.infer<typeof transactionSchema>;

/**
 * An order that is debited and was certainly not sent, or was refused by the upstream with 429. It is in its account's
 * queue (shared/queued-orders/order-queue.ts), or was set aside: then the upstream refused this very order, and it holds
 * no other one.
 */
export type QueuedOrder = Transaction & Queued;
type Queued = { readonly queued: NonNullable<Transaction["queued"]> };

export const isQueuedOrder = <Stored extends Pick<Transaction, "queued">>(order: Stored): order is Stored & Queued =>
  order.queued !== undefined;

/** Whether an order waits in the ledger of which this one is a restored copy: it may have been sent since. */
export const waitsInAnotherLedger = (
  { table }: { readonly table: string },
  { queued }: Pick<Transaction, "queued">,
): boolean => queued !== undefined && queued.table !== table;

/** When the request to the upstream began, or may have begun. */
export const sentAt = ({ sent_at, created_at }: Pick<Transaction, "sent_at" | "created_at">): string =>
  sent_at ?? created_at;

/** The sending of an order that a person sees, and decides about: when it began, or that the order waits for one. */
export const sendingOf = (order: Pick<Transaction, "queued" | "sent_at" | "created_at">): string =>
  isQueuedOrder(order) ? "waits" : sentAt(order);

/** Whether an open transaction is stuck. One that waited is open for its outcome since it was sent. */
export const isStuck = (order: Pick<Transaction, "sent_at" | "created_at">, nowMs: number): boolean =>
  nowMs - Date.parse(sentAt(order)) > STUCK_MS;

/** For how long an open transaction's request may still be in flight; 0 once the request has recorded an outcome. */
export const inFlightMs = (transaction: Transaction, nowMs: number): number =>
  transaction.updated_at === sentAt(transaction)
    ? Math.max(0, Date.parse(sentAt(transaction)) + ORDER_GRACE_MS - nowMs)
    : 0;

/** Whether an open live order was debited more than 24 hours ago, also one that waits. */
export const isOpenOver24Hours = ({ created_at }: Pick<Transaction, "created_at">, nowMs: number): boolean =>
  nowMs - Date.parse(created_at) > PENDING_MS_MAX;

/** Unlike a purchase, an identity check has no value once its request has ended without a result. */
export const isIdentityCheck = ({ type }: Pick<Transaction, "type">): boolean => isCheckType(type);

/** By how much a transaction has changed its wallet so far. */
export const signedKobo = ({ status, amount_kobo }: Pick<Transaction, "status" | "amount_kobo">): number =>
  status === "failed" ? 0 : -amount_kobo;

const prefixOf = (type: TransactionType, mode: Mode): string => (mode === "test" ? TEST_PREFIX : livePrefixes[type]);

/** Our reference. It contains the item's key, so a lookup needs no index. */
export const referenceOf = (transaction: Pick<Transaction, "pk" | "type" | "mode">): string =>
  `${prefixOf(transaction.type, transaction.mode)}${transactionIdOf(transaction)}`;

const REFERENCE = new RegExp(`^[A-Z]+_(${REFERENCE_ID})$`);
/** The key within our reference; undefined if the text does not have the form of one. */
export const pkOfReference = (reference: string): string | undefined => {
  const id = REFERENCE.exec(reference)?.[1];
  return id && transactionPk(id);
};

/** What every answer about a transaction shows of it. */
export const transactionCore = (transaction: Transaction) => ({
  reference: referenceOf(transaction),
  status: transaction.status,
  amount: nairaFromKobo(transaction.amount_kobo),
  type: transaction.type,
  caller_reference: transaction.caller_reference ?? null,
});

/** What the answer to a purchase shows of its transaction. */
export const purchaseToView = (transaction: Transaction): z.input<typeof purchasedTransaction> => ({
  ...transactionCore(transaction),
  description: transaction.description,
  phone_number: transaction.phone_number ?? null,
});

export const transactionToView = (transaction: Transaction): TransactionView => ({
  ...purchaseToView(transaction),
  network: transaction.network ?? null,
  error_code: transaction.failure?.code ?? null,
  created_at: transaction.created_at,
  updated_at: transaction.updated_at,
});
