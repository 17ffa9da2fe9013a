import { randomUUID } from "node:crypto";
import { errors, OutcomeUnknown, ServiceError } from "../contract/errors.ts";
import type { TransactionType } from "../contract/transaction.ts";
import type { Caller } from "../lambda/api-handler.ts";
import { alertIfContradicted } from "../ledger/contradiction.ts";
import { findByCallerReference } from "../ledger/find-transactions.ts";
import { openTransaction, type RecordItem } from "../ledger/open-transaction.ts";
import { type Settlement, settledTransaction, settleTransaction } from "../ledger/settle-transaction.ts";
import type { Ledger } from "../ledger/transact.ts";
import { referenceOf, type Transaction, transactionOwner, transactionPk } from "../ledger/transaction.ts";
import type { Deadline } from "../platform/deadline.ts";
import type { KeyedHashes } from "../platform/keyed-hashes.ts";
import { errorFields, log } from "../platform/log.ts";
import type { Kobo } from "../platform/money.ts";
import { isoTime } from "../platform/time.ts";
import type { OutcomeMessage, OutcomeQueue } from "./outcome-queue.ts";

export type OrderDeps = {
  readonly ledger: Ledger;
  readonly keyedHashes: () => Promise<KeyedHashes>;
  readonly outcomeQueue: OutcomeQueue;
  /** `off` refuses every order before the debit. */
  readonly purchases: "on" | "off";
};

/** What a caller asks for, and how it is had. */
export type OrderRequest<Priced extends Quote = Quote> = {
  readonly caller: Caller;
  readonly type: TransactionType;
  readonly reference: string | undefined;
  /** The request's normalised fields: a repeat of the same order has the same ones. */
  readonly fields: readonly string[];
  /** What is bought and for how much. Throws a ServiceError where it cannot be had now; nothing has happened then. */
  readonly quote: () => Promise<Priced>;
  /** Further items that are put in the debit's own write. */
  readonly alongside?: (transaction: Transaction, keyedHashes: KeyedHashes) => readonly RecordItem[];
  /** Called once, after the debit, with the row that stands in the ledger. */
  readonly fulfil: (row: Transaction, quote: Priced) => Promise<Fulfilment>;
};
export type Quote = {
  readonly amountKobo: Kobo;
  readonly description: string;
  readonly network?: string;
  readonly phoneNumber?: string;
};

/** What is known once the provider answered: nothing, or what the ledger is to be told, now or `afterS` from now. */
export type Fulfilment = {
  readonly settlement?: Settlement;
  readonly later?: { readonly settlement: Settlement; readonly afterS: number };
};

/** The transaction as it stands when the answer leaves. */
export type PlacedOrder = { readonly transaction: Transaction } & (
  | { readonly replayed: true }
  /** `isOutcomeSecured`: what the provider's answer does to the ledger is written, or the outcomes queue has it. */
  | { readonly replayed: false; readonly isOutcomeSecured: boolean }
);

/** The verdict on an order that was never sent waits this long: by then a debit that was on its way has arrived. */
const NEVER_SENT_DELAY_S = 60;

/**
 * Every order: quote, one write that debits and opens, the provider once, one write that settles.
 *
 * Until the debit, whatever goes wrong is an error and has changed nothing. From the debit on there are only two ways to
 * answer: with the transaction as it is known to stand, or as `processing`.
 */
export const placeOrder = async <Priced extends Quote>(
  deps: OrderDeps,
  wish: OrderRequest<Priced>,
  deadline: Deadline,
): Promise<PlacedOrder> => {
  const keyedHashes = await namingFor(deps, wish);
  const fingerprint = keyedHashes.fingerprint([wish.type, ...wish.fields]);
  const quote = await quoteFor(deps, wish);
  if ("refusal" in quote) return replayOrThrow(deps.ledger, keyedHashes, wish, fingerprint, quote.refusal);

  const transaction = newRow(deps.ledger, keyedHashes, wish, quote.priced, fingerprint);
  const opening = await openTransaction(
    deps.ledger,
    transaction,
    wish.alongside?.(transaction, keyedHashes) ?? [],
    deadline,
  );
  switch (opening.kind) {
    case "exists":
      return replayOrConflict(opening.transaction, fingerprint);
    case "insufficient_balance":
      throw new ServiceError("insufficient_balance");
    case "busy": {
      const refusal = new ServiceError("provider_unavailable", { retryAfterS: 1 });
      return replayOrThrow(deps.ledger, keyedHashes, wish, fingerprint, refusal);
    }
    case "doubt":
      await enqueueRefund(deps.outcomeQueue, transaction, deadline);
      if (wish.reference !== undefined && !opening.lookedUp) {
        // The caller may be asking for an order that was delivered: an error would say that it was not.
        throw new OutcomeUnknown("A debit is in doubt, and an earlier order may stand under its reference");
      }
      throw new ServiceError("delivery_failed", {
        message:
          "The order was not sent; an amount that was taken is returned within minutes. Order again with a new reference",
        transactionReference: referenceOf(transaction),
      });
    case "opened":
      return {
        ...(await fulfil(deps, () => wish.fulfil(transaction, quote.priced), transaction, deadline)),
        replayed: false,
      };
  }
};

/** Without it no earlier order can be found. */
const namingFor = async (
  { keyedHashes }: OrderDeps,
  { reference }: Pick<OrderRequest, "reference">,
): Promise<KeyedHashes> => {
  try {
    return await keyedHashes();
  } catch (cause) {
    if (reference === undefined) throw brokenBeforeDebit(cause);
    throw new OutcomeUnknown("The reference key cannot be read, and an earlier order may stand", { cause });
  }
};

/** An error that nobody foresaw, where it is known that this request has changed nothing yet. */
const brokenBeforeDebit = (cause: unknown): ServiceError => new ServiceError("internal_error", {}, { cause });

const quoteFor = async <Priced extends Quote>(
  { purchases }: OrderDeps,
  wish: OrderRequest<Priced>,
): Promise<{ readonly priced: Priced } | { readonly refusal: ServiceError }> => {
  if (purchases === "off") return { refusal: new ServiceError("provider_unavailable", { retryAfterS: 300 }) };
  try {
    return { priced: await wish.quote() };
  } catch (error) {
    return { refusal: error instanceof ServiceError ? error : brokenBeforeDebit(error) };
  }
};

/**
 * Refuses an order before its debit, unless an earlier order stands under its reference: the caller could take the refusal for
 * the fate of that one. Where the ledger cannot be read, nothing can be said. A wrong value goes before a reused reference.
 */
const replayOrThrow = async (
  ledger: Ledger,
  keyedHashes: KeyedHashes,
  { caller, reference }: Pick<OrderRequest, "caller" | "reference">,
  fingerprint: string,
  refusal: ServiceError,
): Promise<PlacedOrder> => {
  if (reference === undefined) throw refusal;
  const transaction = await findByCallerReference(ledger, keyedHashes, caller, reference).catch((cause: unknown) => {
    throw new OutcomeUnknown("The ledger cannot be read, and an earlier order may stand", { cause });
  });
  const isWrongValue = errors[refusal.code].status === 422;
  if (transaction === undefined || (isWrongValue && transaction.fingerprint !== fingerprint)) throw refusal;
  return replayOrConflict(transaction, fingerprint);
};

const replayOrConflict = (transaction: Transaction, fingerprint: string): PlacedOrder => {
  if (transaction.fingerprint === fingerprint) return { transaction, replayed: true };
  throw new ServiceError("reference_reused", {
    fields: { reference: ["Was used for a different request: choose another"] },
  });
};

const newRow = (
  { clock }: Ledger,
  keyedHashes: KeyedHashes,
  { caller, type, reference }: Pick<OrderRequest, "caller" | "type" | "reference">,
  { amountKobo, description, network, phoneNumber }: Quote,
  fingerprint: string,
): Transaction => {
  const now = isoTime(clock());
  return {
    pk: transactionPk(keyedHashes.transactionId({ ...caller, ...(reference !== undefined && { reference }) })),
    owner: transactionOwner(caller.accountId, caller.mode),
    account_id: caller.accountId,
    key_id: caller.keyId,
    mode: caller.mode,
    type,
    status: "processing",
    attempt: randomUUID(),
    fingerprint,
    ...(reference !== undefined && { caller_reference: reference }),
    amount_kobo: amountKobo,
    description,
    ...(network !== undefined && { network }),
    ...(phoneNumber !== undefined && { phone_number: phoneNumber }),
    ...(caller.mode === "live" && { open: "live" }),
    created_at: now,
    updated_at: now,
  };
};

/** From the provider's answer to the row as it stands. Throws nothing: the money is taken, so that no error may leave. */
const fulfil = async (
  { ledger, outcomeQueue }: OrderDeps,
  outcome: () => Promise<Fulfilment>,
  transaction: Transaction,
  deadline: Deadline,
): Promise<{ readonly transaction: Transaction; readonly isOutcomeSecured: boolean }> => {
  try {
    const { settlement, later } = await outcome();
    if (later !== undefined) await outcomeQueue.send(messageOf(transaction, later.settlement), later.afterS, deadline);
    if (settlement === undefined) return { transaction, isOutcomeSecured: true };
    const result = await settleTransaction(ledger, transaction, settlement, deadline);
    if (result.kind === "applied")
      return { transaction: settledTransaction(transaction, settlement), isOutcomeSecured: true };
    if (result.kind === "stands") {
      alertIfContradicted(result.transaction, settlement);
      return { transaction: result.transaction, isOutcomeSecured: true };
    }
    await outcomeQueue.send(messageOf(transaction, settlement), 0, deadline);
    return { transaction, isOutcomeSecured: true };
  } catch (error) {
    log.alarm("order.outcome_not_recorded", { reference: referenceOf(transaction), ...errorFields(error) });
    return { transaction, isOutcomeSecured: false };
  }
};

/**
 * The debit is in doubt and nothing was sent: should it have arrived, it is given back. Only when the queue has that verdict
 * may an error leave.
 */
const enqueueRefund = async (queue: OutcomeQueue, transaction: Transaction, deadline: Deadline): Promise<void> => {
  const settlement: Settlement = { status: "failed", failure: { code: "delivery_failed" } };
  try {
    await queue.send(messageOf(transaction, settlement), NEVER_SENT_DELAY_S, deadline);
  } catch (error) {
    throw new OutcomeUnknown("A debit is in doubt and could not be queued for its refund", { cause: error });
  }
};

const messageOf = (transaction: Transaction, settlement: Settlement): OutcomeMessage => ({
  kind: "settlement",
  mode: transaction.mode,
  transaction: transaction.pk,
  attempt: transaction.attempt,
  settlement,
});
