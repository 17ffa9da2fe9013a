import { randomUUID } from "node:crypto";
import { invalid } from "../call/invalid.ts";
import { errors, OutcomeUnknown, ServiceError } from "../contract/errors.ts";
import type { CallerLimits, OrderLimitName } from "../contract/order-limits.ts";
import { type DailyQuota, isEntitled, notEntitled } from "../contract/permission.ts";
import { counted } from "../contract/values/counted.ts";
import { networkNames } from "../contract/values/network-names.ts";
import type { DuplicateWindow } from "../ledger/duplicate-guard.ts";
import { findByCallerReference, findOwn } from "../ledger/find-transactions.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { withMaskedPhone } from "../ledger/masked-transaction.ts";
import {
  type DebitGuards,
  type OpenResult,
  openTransaction,
  openUnlessOvertaking,
  type RecordItem,
} from "../ledger/open-transaction.ts";
import { openList, transactionList, transactionPk } from "../ledger/schema.ts";
import { type Settlement, settledTransaction, settleTransaction } from "../ledger/settle-transaction.ts";
import { alertIfContradicted } from "../ledger/settlement-alerts.ts";
import { referenceOf, type Transaction } from "../ledger/transaction.ts";
import { limitBelow, type ReachedLimit } from "../ledger/usage.ts";
import type { Deadline } from "../platform/deadline.ts";
import type { Hashes, KeyedHashes } from "../platform/keyed-hashes.ts";
import { errorFields, log } from "../platform/log.ts";
import { isoTime, secondsToMidnightInLagos } from "../platform/time.ts";
import type { FinalisedOrder, Fulfilment, OrderDeps, OrderRequest, PlacedOrder, QueuePolicy, Quote } from "./order.ts";
import type { OutcomeMessage } from "./outcome-message.ts";
import type { OutcomeQueue } from "./outcome-queue.ts";
import { refusalByGate } from "./purchases-switch.ts";

/**
 * The path of every order: the caller prices it (buy-data.ts, buy-airtime.ts, check-identity.ts), `prepareOrder` makes
 * its transaction, `openOrder` debits the wallet and opens the transaction in one write, the caller sends it upstream
 * once, and `finaliseOrder` settles it.
 *
 * Before the debit every failure is an error that has changed nothing. After it the response is the transaction, with
 * its known status or as `processing`.
 */

/** The order has its response already: nothing is sent upstream. */
type Placed = { readonly kind: "placed"; readonly placed: PlacedOrder };

export type PreparedOrder<Priced extends Quote> = Pick<OrderRequest, "caller" | "callerReference" | "entitlement"> & {
  readonly kind: "prepared";
  readonly transaction: Transaction;
  readonly quote: Priced;
  readonly keyedHashes: KeyedHashes;
  readonly fingerprints: Hashes;
};

/**
 * The transaction of an order, unless the order is refused or a replay of one that is. `quote`: its price, or why it is
 * refused (`refusalOf`).
 */
export const prepareOrder = async <Priced extends Quote>(
  deps: Omit<OrderDeps, "outcomeQueue" | "costs" | "prices" | "timeZone">,
  request: OrderRequest,
  quote: Priced | ServiceError,
): Promise<PreparedOrder<Priced> | Placed> => {
  const keyedHashes = await hashesFor(deps, request);
  const fingerprints = keyedHashes.fingerprints([request.type, ...request.fields]);
  const refusal =
    refusalByEntitlement(request) ??
    (quote instanceof ServiceError && isWrongValue(quote) ? quote : undefined) ??
    (await refusalByGate(deps.gate, partsOf(request, quote)));
  if (refusal !== undefined) return replayOrThrow(deps.ledger, keyedHashes, request, fingerprints, refusal);
  if (quote instanceof ServiceError) return replayOrThrow(deps.ledger, keyedHashes, request, fingerprints, quote);
  const misnamed = await refusalByReference(deps.ledger, request);
  if (misnamed !== undefined) return replayOrThrow(deps.ledger, keyedHashes, request, fingerprints, misnamed);
  const { caller, callerReference, entitlement } = request;
  const transaction = newTransaction(deps.ledger, keyedHashes, request, quote, fingerprints[0]);
  return { kind: "prepared", caller, callerReference, entitlement, transaction, quote, keyedHashes, fingerprints };
};

/** Lookups take both references, the service's first: for this order they would find the other transaction. */
const refusalByReference = async (
  ledger: Ledger,
  { caller, callerReference }: OrderRequest,
): Promise<ServiceError | undefined> => {
  const other = callerReference && (await findOwn(ledger, caller, callerReference));
  return other
    ? invalid({ reference: ["Is the service's own reference of another order: choose another"] })
    : undefined;
};

/** What can be switched off beside the whole: a kind of orders, and a network, which is known once the order has a price. */
const partsOf = ({ type, entitlement }: OrderRequest, quote: Quote | ServiceError): readonly (string | undefined)[] => [
  type,
  entitlement.split(":")[0],
  ...("networkCode" in quote && quote.networkCode !== undefined ? networkNames(quote.networkCode) : []),
];

/** Admission has checked the endpoint, whose orders may need different entitlements. */
const refusalByEntitlement = ({ caller, entitlement }: OrderRequest): ServiceError | undefined =>
  isEntitled(caller.entitlements, entitlement)
    ? undefined
    : new ServiceError("permission_denied", { message: notEntitled([entitlement]) });

/** Why an order is refused whose pricing failed. */
export const refusalOf = (error: unknown): ServiceError =>
  error instanceof ServiceError ? error : failedBeforeDebit(error);

/** The order is debited: it must be sent upstream, or queued. `transaction`: as it is stored. */
type Opened = { readonly kind: "opened"; readonly transaction: Transaction; readonly mustQueue: boolean };

type OpenOptions = {
  readonly queue?: QueuePolicy;
  /** Further items of the same write. */
  readonly records?: readonly RecordItem[];
  readonly duplicates?: DuplicateWindow | undefined;
};

/** Debits the wallet and opens the transaction. */
export const openOrder = async <Priced extends Quote>(
  { ledger, outcomeQueue, timeZone }: Pick<OrderDeps, "ledger" | "outcomeQueue" | "timeZone">,
  { transaction, ...prepared }: PreparedOrder<Priced>,
  { queue = "never", records = [], duplicates }: OpenOptions,
  deadline: Deadline,
): Promise<Opened | Placed> => {
  const { fingerprints } = prepared;
  const limits = limitsOf(prepared);
  const below = limits && limitBelow(limits, transaction.amount_kobo);
  if (below !== undefined) {
    return replayOrThrow(ledger, prepared.keyedHashes, prepared, fingerprints, limitReached(below, timeZone));
  }
  const guards = { quota: quotaOf(prepared), duplicates, limits: limits && { limits, timeZone } };
  const opened = await openInTurn(ledger, transaction, records, queue, guards, deadline);
  switch (opened.kind) {
    case "opened": {
      const { counted, mustQueue } = opened;
      return { kind: "opened", transaction: { ...transaction, ...(counted && { counted }) }, mustQueue };
    }
    case "exists":
      return replayOrConflict(opened.transaction, fingerprints);
    case "insufficient_balance":
      throw new ServiceError("insufficient_balance");
    case "restricted":
      throw new ServiceError("account_restricted");
    case "quota_used":
      throw new ServiceError("rate_limited", {
        message: `The account has placed its orders of today for ${prepared.entitlement}: wait until midnight in Lagos`,
        retryAfterS: secondsToMidnightInLagos(ledger.clock()),
      });
    case "limit_reached":
      throw limitReached(opened.reached, timeZone);
    case "possible_duplicate":
      throw possibleDuplicate(referenceOf({ ...transaction, pk: opened.earlier.pk }), opened.earlier.caller_reference);
    case "busy": {
      const refusal = new ServiceError("provider_unavailable", { retryAfterS: 1 });
      return replayOrThrow(ledger, prepared.keyedHashes, prepared, fingerprints, refusal);
    }
    case "void":
      return { kind: "placed", placed: { transaction: opened.transaction, replayed: false } };
    case "indeterminate":
      await enqueueVoid(outcomeQueue, transaction, deadline);
      if (prepared.callerReference !== undefined) {
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

/** Opens the transaction of an order. `mustQueue`: it is queued by policy, or because it would overtake queued orders. */
const openInTurn = async (
  ledger: Ledger,
  transaction: Transaction,
  records: readonly RecordItem[],
  queue: QueuePolicy,
  guards: DebitGuards,
  deadline: Deadline,
): Promise<OpenResult & { readonly mustQueue: boolean }> => {
  if (queue === "behind_others") {
    const opened = await openUnlessOvertaking(ledger, transaction, records, deadline, guards);
    if (opened.kind !== "would_overtake") return { ...opened, mustQueue: false };
  }
  return { ...(await openTransaction(ledger, transaction, records, deadline, guards)), mustQueue: queue !== "never" };
};

/** An earlier purchase of one account and kind, with its own reference if it had one. */
const possibleDuplicate = (duplicateOf: string, callerReference: string | undefined): ServiceError => {
  const earlier = callerReference === undefined ? duplicateOf : `${duplicateOf} (your reference ${callerReference})`;
  return new ServiceError("possible_duplicate", {
    message: `The order is like ${earlier}, which was placed shortly before; nothing was charged. If it is meant, send it with the header X-Confirm-Duplicate: true`,
    duplicateOf,
  });
};

/** The quota that an order counts for, if its account has one. */
const quotaOf = ({ caller, entitlement }: Pick<OrderRequest, "caller" | "entitlement">): DailyQuota | undefined => {
  const perDay = caller.entitlements[entitlement];
  return perDay == null ? undefined : { entitlement, perDay };
};

/** The limits that an order counts for, if there are some. The sandbox has none. */
const limitsOf = ({ caller: { mode, limits } }: Pick<OrderRequest, "caller">): CallerLimits | undefined =>
  mode === "live" ? limits : undefined;

const limitTexts = {
  order_naira: (max) => `${max} NGN an order`,
  day_naira: (max) => `${max} NGN a day`,
  month_naira: (max) => `${max} NGN a month`,
  day_orders: (max) => `${counted(max, "order")} a day`,
  month_orders: (max) => `${counted(max, "order")} a month`,
} as const satisfies Record<OrderLimitName, (max: number) => string>;

const limitReached = ({ by, limit, max, used }: ReachedLimit, timeZone: string): ServiceError => {
  const usedText = used === undefined ? "" : ` (${used} used; days and months are in ${timeZone})`;
  const todo = used === undefined ? "Order less" : "Order less, or again in the next period";
  return new ServiceError("limit_reached", {
    message: `The order would pass the limit of this ${by === "key" ? "API key" : "account"}: ${limitTexts[limit](max)}${usedText}. Nothing was charged. ${todo}, or have the limit raised`,
  });
};

/** Without the reference key no replay is recognised. */
const hashesFor = async (
  { keyedHashes }: Pick<OrderDeps, "keyedHashes">,
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

/**
 * Refuses an order before its debit, unless it is a replay: the caller would take the refusal for the outcome of the
 * first order. If the ledger cannot be read, no error may be sent. A wrong value (422) has precedence over a conflict;
 * a limit does not.
 */
const replayOrThrow = async (
  ledger: Ledger,
  keyedHashes: KeyedHashes,
  order: Pick<OrderRequest, "caller" | "callerReference">,
  fingerprints: Hashes,
  refusal: ServiceError,
): Promise<Placed> => {
  const transaction = await findEarlier(ledger, keyedHashes, order);
  if (transaction === undefined || (isWrongValue(refusal) && !isReplay(transaction, fingerprints))) throw refusal;
  return replayOrConflict(transaction, fingerprints);
};

const isWrongValue = ({ code }: ServiceError): boolean => errors[code].status === 422 && code !== "limit_reached";

/** The transaction under the caller's reference. */
const findEarlier = async (
  ledger: Ledger,
  keyedHashes: KeyedHashes,
  { caller, callerReference }: Pick<OrderRequest, "caller" | "callerReference">,
): Promise<Transaction | undefined> => {
  if (callerReference === undefined) return undefined;
  return findByCallerReference(ledger, keyedHashes, caller, callerReference).catch((cause: unknown) => {
    throw new OutcomeUnknown("The ledger cannot be read: the order may be a replay", { cause });
  });
};

/**
 * Refuses an order whose fingerprint cannot be made. If its reference is used, the earlier order may be the same one, so
 * that no error may be sent.
 */
export const refuseUncompared = async (
  deps: Pick<OrderDeps, "ledger" | "keyedHashes">,
  order: Pick<OrderRequest, "caller" | "callerReference">,
  refusal: ServiceError,
): Promise<never> => {
  const earlier = await findEarlier(deps.ledger, await hashesFor(deps, order), order);
  if (earlier === undefined) throw refusal;
  throw new OutcomeUnknown("The order cannot be compared with the earlier one of its reference", { cause: refusal });
};

/** A cancellation applies to any order with its reference. */
const isReplay = ({ debit, fingerprint }: Transaction, fingerprints: Hashes): boolean =>
  fingerprints.includes(fingerprint) || debit === "cancelled";

const replayOrConflict = (transaction: Transaction, fingerprints: Hashes): Placed => {
  if (isReplay(transaction, fingerprints)) return { kind: "placed", placed: { transaction, replayed: true } };
  throw new ServiceError("reference_reused", {
    fields: { reference: ["Was used for a different request: choose another"] },
  });
};

const newTransaction = (
  { clock }: Ledger,
  keyedHashes: KeyedHashes,
  { caller, type, callerReference }: Pick<OrderRequest, "caller" | "type" | "callerReference">,
  { amountKobo, faceKobo, costKobo, rule, description, network, phoneNumber }: Quote,
  fingerprint: string,
): Transaction => {
  const now = isoTime(clock());
  const pk = transactionPk(
    keyedHashes.transactionId({ ...caller, ...(callerReference !== undefined && { callerReference }) }),
  );
  return {
    pk,
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
    ...(faceKobo !== undefined && faceKobo !== amountKobo && { face_kobo: faceKobo }),
    ...(costKobo !== undefined && { cost_kobo: costKobo }),
    ...(rule !== undefined && { price_rule: rule }),
    description,
    ...(network !== undefined && { network }),
    ...(phoneNumber !== undefined && { phone_number: phoneNumber, phone_key: keyedHashes.phoneKey(phoneNumber) }),
    ...(caller.mode === "live" && { open: openList({ pk }), listed_at: now }),
    created_at: now,
    updated_at: now,
  };
};

/** Settles a debited order by what the upstream said of it. If that fails, `outcomeNotRecorded` has the response. */
export const finaliseOrder = async (
  deps: Pick<OrderDeps, "ledger" | "outcomeQueue">,
  transaction: Transaction,
  { settlement, later }: Fulfilment,
  deadline: Deadline,
): Promise<FinalisedOrder> => {
  if (later !== undefined) {
    await deps.outcomeQueue.send(messageOf(transaction, later.settlement), later.afterS, deadline);
  }
  if (settlement !== undefined) return settleOrDefer(deps, transaction, settlement, deadline);
  const estimatedS = later?.estimatedS;
  return { transaction, replayed: false, ...(estimatedS !== undefined && { estimatedS }) };
};

/** The response to a debited order whose sending or settlement failed: from the debit on no error may be sent. */
export const outcomeNotRecorded = (transaction: Transaction, error: unknown): FinalisedOrder => {
  log.alarm("order.outcome_not_recorded", { reference: referenceOf(transaction), ...errorFields(error) });
  return { transaction, replayed: false };
};

/** Settles an order now, or has the outcomes queue settle it. */
const settleOrDefer = async (
  { ledger, outcomeQueue }: Pick<OrderDeps, "ledger" | "outcomeQueue">,
  transaction: Transaction,
  settlement: Settlement,
  deadline: Deadline,
): Promise<FinalisedOrder> => {
  const result = await settleTransaction(ledger, transaction, settlement, deadline);
  switch (result.kind) {
    case "applied":
      return { transaction: settledTransaction(transaction, settlement), replayed: false };
    case "already_settled":
      alertIfContradicted(result.transaction, settlement);
      return { transaction: result.transaction, replayed: false };
    case "indeterminate":
      await outcomeQueue.send(messageOf(transaction, settlement), 0, deadline);
      return { transaction, replayed: false };
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

const messageOf = (transaction: Transaction, settlement: Settlement): OutcomeMessage => ({
  kind: "settlement",
  mode: transaction.mode,
  transaction_pk: transaction.pk,
  write_token: transaction.write_token,
  settlement,
});
