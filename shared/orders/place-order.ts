import { randomUUID } from "node:crypto";
import { errors, OutcomeUnknown, ServiceError } from "../contract/errors.ts";
import { findByCallerReference } from "../ledger/find-transactions.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { withMaskedPhone } from "../ledger/mask-phone.ts";
import { type OpenResult, openTransaction, openUnlessOvertaking, type RecordItem } from "../ledger/open-transaction.ts";
import { OPEN_TRANSACTION, transactionList, transactionPk } from "../ledger/schema.ts";
import { NOT_DELIVERED, type Settlement, settledTransaction, settleTransaction } from "../ledger/settle-transaction.ts";
import { alertIfContradicted } from "../ledger/settlement-alerts.ts";
import { type OrderToSend, referenceOf, type Transaction } from "../ledger/transaction.ts";
import { makeOrderWait, type WaitTarget } from "../ledger/waiting-order.ts";
import type { Deadline } from "../platform/deadline.ts";
import type { KeyedHashes } from "../platform/keyed-hashes.ts";
import { errorFields, log } from "../platform/log.ts";
import { isoTime } from "../platform/time.ts";
import type { Fulfilment, OrderDeps, OrderRequest, PlacedOrder, Quote, Wait } from "./order.ts";
import type { OutcomeMessage, OutcomeQueue, WaitMessage } from "./outcome-queue.ts";
import { refusalByGate } from "./purchases-switch.ts";

/**
 * The path of every order: price it; debit the wallet and open the transaction in one write; send it upstream once;
 * settle.
 *
 * Before the debit every failure is an error that has changed nothing. After it the response is the transaction, with
 * its known status or as `processing`.
 */
export const placeOrder = async <Priced extends Quote>(
  deps: OrderDeps,
  order: OrderRequest<Priced>,
  deadline: Deadline,
): Promise<PlacedOrder> => {
  const keyedHashes = await hashesFor(deps, order);
  const fingerprint = keyedHashes.fingerprint([order.type, ...order.fields]);
  const replayOr = (refusal: ServiceError) => replayOrThrow(deps.ledger, keyedHashes, order, fingerprint, refusal);

  const quote = await quoteOrRefusal(deps, order);
  if (quote instanceof ServiceError) return replayOr(quote);

  const transaction = newTransaction(deps.ledger, keyedHashes, order, quote, fingerprint);
  const records = order.records?.(transaction, keyedHashes) ?? [];
  const opened = await openInTurn(deps.ledger, transaction, records, order.waiting?.isNeeded, deadline);
  switch (opened.kind) {
    case "opened": {
      const fulfil = async () =>
        order.waiting && opened.mustWait ? { wait: order.waiting.wait(quote) } : order.fulfil(transaction, quote);
      return { ...(await fulfilAndSettle(deps, fulfil, transaction, deadline)), replayed: false };
    }
    case "exists":
      return replayOrConflict(opened.transaction, fingerprint);
    case "insufficient_balance":
      throw new ServiceError("insufficient_balance");
    case "restricted":
      throw new ServiceError("account_restricted");
    case "busy":
      return replayOr(new ServiceError("provider_unavailable", { retryAfterS: 1 }));
    case "void":
      return { transaction: opened.transaction, replayed: false, isOutcomeSecured: true };
    case "indeterminate":
      await enqueueVoid(deps.outcomeQueue, transaction, deadline);
      if (order.callerReference !== undefined) {
        // An earlier order with the reference may have been delivered: an error would say that it was not.
        throw new OutcomeUnknown("An indeterminate debit, and another transaction may have its reference");
      }
      throw new ServiceError("delivery_failed", {
        message:
          "The order was not sent; an amount that was taken is returned within minutes. Order again with a new reference",
        transactionReference: referenceOf(transaction),
      });
  }
};

/**
 * Opens the transaction of an order. `mustWait`: it is not sent at once, because that is needed, or because it would
 * overtake waiting orders of its account. Without `isWaitNeeded` an order never waits.
 */
const openInTurn = async (
  ledger: Ledger,
  transaction: Transaction,
  records: readonly RecordItem[],
  isWaitNeeded: (() => boolean) | undefined,
  deadline: Deadline,
): Promise<OpenResult & { readonly mustWait?: boolean }> => {
  if (isWaitNeeded === undefined) return openTransaction(ledger, transaction, records, deadline);
  if (!isWaitNeeded()) {
    const opened = await openUnlessOvertaking(ledger, transaction, records, deadline);
    if (opened.kind !== "would_overtake") return opened;
  }
  return { ...(await openTransaction(ledger, transaction, records, deadline)), mustWait: true };
};

/** Without the reference key no replay is recognised. */
const hashesFor = async (
  { keyedHashes }: OrderDeps,
  { callerReference }: Pick<OrderRequest, "callerReference">,
): Promise<KeyedHashes> => {
  try {
    return await keyedHashes();
  } catch (cause) {
    if (callerReference === undefined) throw failedBeforeDebit(cause);
    throw new OutcomeUnknown("The reference key cannot be read: the order may be a replay", { cause });
  }
};

/** An unforeseen error of a request that has changed nothing. */
const failedBeforeDebit = (cause: unknown): ServiceError => new ServiceError("internal_error", {}, { cause });

const quoteOrRefusal = async <Priced extends Quote>(
  { gate }: OrderDeps,
  { quote }: OrderRequest<Priced>,
): Promise<Priced | ServiceError> => {
  const refusal = await refusalByGate(gate);
  if (refusal !== undefined) return refusal;
  try {
    return await quote();
  } catch (error) {
    return error instanceof ServiceError ? error : failedBeforeDebit(error);
  }
};

/**
 * Refuses an order before its debit, unless it is a replay: the caller would take the refusal for the outcome of the
 * first order. If the ledger cannot be read, no error may be sent. A wrong value (422) has precedence over a conflict.
 */
const replayOrThrow = async (
  ledger: Ledger,
  keyedHashes: KeyedHashes,
  { caller, callerReference }: Pick<OrderRequest, "caller" | "callerReference">,
  fingerprint: string,
  refusal: ServiceError,
): Promise<PlacedOrder> => {
  if (callerReference === undefined) throw refusal;
  const transaction = await findByCallerReference(ledger, keyedHashes, caller, callerReference).catch(
    (cause: unknown) => {
      throw new OutcomeUnknown("The ledger cannot be read: the order may be a replay", { cause });
    },
  );
  const isWrongValue = errors[refusal.code].status === 422;
  if (transaction === undefined || (isWrongValue && !isReplay(transaction, fingerprint))) throw refusal;
  return replayOrConflict(transaction, fingerprint);
};

/** A cancellation is of whatever order has the reference. */
const isReplay = ({ debit, fingerprint: stored }: Transaction, fingerprint: string): boolean =>
  stored === fingerprint || debit === "cancelled";

const replayOrConflict = (transaction: Transaction, fingerprint: string): PlacedOrder => {
  if (isReplay(transaction, fingerprint)) return { transaction, replayed: true };
  throw new ServiceError("reference_reused", {
    fields: { reference: ["Was used for a different request: choose another"] },
  });
};

const newTransaction = (
  { clock }: Ledger,
  keyedHashes: KeyedHashes,
  { caller, type, callerReference }: Pick<OrderRequest, "caller" | "type" | "callerReference">,
  { amountKobo, description, network, phoneNumber }: Quote,
  fingerprint: string,
): Transaction => {
  const now = isoTime(clock());
  return {
    pk: transactionPk(
      keyedHashes.transactionId({ ...caller, ...(callerReference !== undefined && { callerReference }) }),
    ),
    list_key: transactionList(caller.accountId, caller.mode),
    account_id: caller.accountId,
    key_id: caller.keyId,
    mode: caller.mode,
    type,
    status: "processing",
    write_token: randomUUID(),
    fingerprint,
    ...(callerReference !== undefined && { caller_reference: callerReference }),
    amount_kobo: amountKobo,
    description,
    ...(network !== undefined && { network }),
    ...(phoneNumber !== undefined && { phone_number: phoneNumber }),
    ...(caller.mode === "live" && { open: OPEN_TRANSACTION, listed_at: now }),
    created_at: now,
    updated_at: now,
  };
};

/**
 * Sends the order upstream and settles it, or makes it wait. It throws nothing: after the debit no error may be sent.
 */
export const fulfilAndSettle = async (
  { ledger, outcomeQueue }: Pick<OrderDeps, "ledger" | "outcomeQueue">,
  fulfil: () => Promise<Fulfilment>,
  transaction: Transaction,
  deadline: Deadline,
): Promise<{
  readonly transaction: Transaction;
  readonly isOutcomeSecured: boolean;
  readonly estimatedS?: number;
  /** Present if the order waits now, or will once the queue has made it wait. */
  readonly wait?: Wait;
}> => {
  try {
    const { settlement, later, wait } = await fulfil();
    if (wait !== undefined) return await waitOrQueue({ ledger, outcomeQueue }, transaction, wait, deadline);
    if (later !== undefined) await outcomeQueue.send(messageOf(transaction, later.settlement), later.afterS, deadline);
    if (settlement === undefined) {
      const estimatedS = later?.estimatedS;
      return { transaction, isOutcomeSecured: true, ...(estimatedS !== undefined && { estimatedS }) };
    }
    return await settleOrQueue({ ledger, outcomeQueue }, transaction, settlement, deadline);
  } catch (error) {
    log.alarm("order.outcome_not_recorded", { reference: referenceOf(transaction), ...errorFields(error) });
    return { transaction, isOutcomeSecured: false };
  }
};

/** Settles an order, now or by the outcomes queue. */
const settleOrQueue = async (
  { ledger, outcomeQueue }: Pick<OrderDeps, "ledger" | "outcomeQueue">,
  transaction: Transaction,
  settlement: Settlement,
  deadline: Deadline,
): Promise<{ readonly transaction: Transaction; readonly isOutcomeSecured: true }> => {
  const result = await settleTransaction(ledger, transaction, settlement, deadline);
  switch (result.kind) {
    case "applied":
      return { transaction: settledTransaction(transaction, settlement), isOutcomeSecured: true };
    case "already_settled":
      alertIfContradicted(result.transaction, settlement);
      return { transaction: result.transaction, isOutcomeSecured: true };
    case "indeterminate":
      await outcomeQueue.send(messageOf(transaction, settlement), 0, deadline);
      return { transaction, isOutcomeSecured: true };
  }
};

/**
 * Makes an order wait that was certainly not carried out, now or by the outcomes queue. Only an order that waits now
 * has an estimate: one that the queue makes wait may be overtaken before.
 */
const waitOrQueue = async (
  { ledger, outcomeQueue }: Pick<OrderDeps, "ledger" | "outcomeQueue">,
  transaction: Transaction,
  wait: Wait,
  deadline: Deadline,
): ReturnType<typeof fulfilAndSettle> => {
  const target = { ...transaction, refusals: wait.refusals, claimed: wait.claimed };
  const result = await makeOrderWait(ledger, target, wait.order, deadline);
  switch (result.kind) {
    case "waiting": {
      const estimatedS = wait.estimateS?.(result.ahead ?? 0);
      return { transaction, isOutcomeSecured: true, wait, ...(estimatedS !== undefined && { estimatedS }) };
    }
    case "not_open":
      return { transaction: result.transaction, isOutcomeSecured: true };
    case "overtaken":
      // It was not sent, and is refunded rather than sent after a later one of its account.
      return settleOrQueue({ ledger, outcomeQueue }, transaction, NOT_DELIVERED, deadline);
    case "indeterminate":
      await outcomeQueue.send(waitMessageOf(ledger, target, wait.order), 0, deadline);
      return { transaction, isOutcomeSecured: true, wait };
  }
};

/** Until then the caller may repeat the request, which places the order if its debit did not arrive. */
const VOID_DELAY_S = 60;

/**
 * Queues the end of an indeterminate debit: it is refunded if it was made, and voided if it was not. An error may be
 * sent only once that is queued.
 */
const enqueueVoid = async (queue: OutcomeQueue, transaction: Transaction, deadline: Deadline): Promise<void> => {
  try {
    await queue.send({ kind: "void", item: withMaskedPhone(transaction) }, VOID_DELAY_S, deadline);
  } catch (error) {
    throw new OutcomeUnknown("The end of an indeterminate debit could not be queued", { cause: error });
  }
};

export const waitMessageOf = (
  { table }: Pick<Ledger, "table">,
  { pk, mode, write_token, account_id, claim, refusals, claimed }: WaitTarget,
  order: OrderToSend,
): WaitMessage => ({
  kind: "wait",
  mode,
  transaction_pk: pk,
  write_token,
  account_id,
  ...(claim !== undefined && { claim }),
  table,
  ...(refusals !== undefined && { refusals }),
  ...(claimed !== undefined && { claimed }),
  order,
});

const messageOf = (transaction: Transaction, settlement: Settlement): OutcomeMessage => ({
  kind: "settlement",
  mode: transaction.mode,
  transaction_pk: transaction.pk,
  write_token: transaction.write_token,
  settlement,
});
