import { randomUUID } from "node:crypto";
import type { UpdateCommandInput } from "@aws-sdk/lib-dynamodb";
import * as z from "#zod";
import { readTransaction, readTransactions } from "../ledger/find-transactions.ts";
import { getItems } from "../ledger/get-item.ts";
import type { Ledger, Writes } from "../ledger/ledger.ts";
import { ALL_TIMES, type OpenKey, queryOpen, queuedOrderKeys } from "../ledger/query-index.ts";
import { isTransactionPk, openList, queuedOrders, walletPk } from "../ledger/schema.ts";
import {
  type IndeterminateWrite,
  indeterminateAfter,
  transact,
  transactOnce,
  type WriteFailure,
  type WriteResult,
} from "../ledger/transact.ts";
import {
  isQueuedOrder,
  type OrderToSend,
  type QueuedOrder,
  type Transaction,
  transactionSchema,
} from "../ledger/transaction.ts";
import { claimIs, transactionUpdate, transitions } from "../ledger/transaction-state.ts";
import { readWallet, type Wallet, walletSchema } from "../ledger/wallet.ts";
import { unlessRefused } from "../platform/aws/errors.ts";
import { backoff, retryContention } from "../platform/backoff.ts";
import { abortAfter, type Deadline, settleBudgetMs } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import { isoTime } from "../platform/time.ts";
import { type OrderQueue, queuedNumbers, queueLength, queueOf, withoutEnded } from "./order-queue.ts";
import { walletQueueJoin, walletQueueReturn, walletQueueTrim, walletTurnEnd, walletUnlisted } from "./wallet-queue.ts";

/** Whether an order waits outside of its account's queue. */
export const isSetAside = <Stored extends Pick<Transaction, "queued">>(order: Stored): order is Stored & Queued =>
  isQueuedOrder(order) && order.queued.number === undefined;

type Queued = Pick<QueuedOrder, "queued">;

/** Which open order is to wait. `claim` is the claim under which it was refused; undefined for its own request. */
export type EnqueueTarget = Pick<Transaction, "pk" | "mode" | "write_token" | "account_id" | "claim"> & {
  /** The ledger in which it was found to be unsent, if that was not now; a restored one may lack a later claim. */
  readonly table?: string;
  /** How often the upstream refused this very order with 429: it is set aside. Absent if it never did. */
  readonly refusals?: number | undefined;
  /** What `claim` was, if the order waited before. */
  readonly claimed?: LastClaim | undefined;
};

type LastClaim = {
  /** The order's number in the queue: it waits again in front. Absent if it was set aside. */
  readonly number?: number | undefined;
  /** The turn that the claim began, if the order's request never did: it must not begin after that of a later order. */
  readonly turnUntil?: string | undefined;
  /** The claim got no answer: it may still arrive. */
  readonly isIndeterminate?: boolean | undefined;
};

export type EnqueueResult =
  /** `ahead`: how many orders of the account are sent before it, if it has just joined the queue. */
  | { readonly kind: "queued"; readonly ahead?: number }
  /** Nothing was written: the order has a final status, or was claimed since. */
  | { readonly kind: "not_open"; readonly transaction: Transaction }
  /** Nothing was written: the order was not sent, and a later one of its account was claimed since, or may be sent. */
  | { readonly kind: "overtaken" }
  /** Nothing was written: the ledger is a restored one that lacks the order. */
  | { readonly kind: "missing" }
  | IndeterminateWrite;

/**
 * Makes an order wait that its sender knows to be unsent. `claim` makes sure that nobody else has begun to send it: a
 * late copy of this write has no effect after a claim.
 */
export const enqueueOrder = async (
  ledger: Ledger,
  target: EnqueueTarget,
  order: OrderToSend,
  deadline: Deadline,
): Promise<EnqueueResult> => {
  const { account_id: accountId, table = ledger.table, refusals, claimed: { number, turnUntil } = {} } = target;
  if (refusals !== undefined) {
    const queued = { order, table, refusals };
    const update = transactionUpdate(ledger, target, transitions.setAside, { queued }, claimIs(target.claim));
    return enqueueResult(ledger, target, await writeInTime(ledger, target, [update], deadline), deadline);
  }
  // A restored ledger gives its numbers to other orders.
  if (number === undefined || table !== ledger.table) return joinQueue(ledger, target, { order, table }, deadline);
  const writes = [
    queueUpdate(ledger, target, { order, table, number }),
    walletQueueReturn(ledger, accountId, number, turnUntil),
  ];
  return enqueueResult(ledger, target, await writeInTime(ledger, target, writes, deadline), deadline);
};

const queueUpdate = (ledger: Ledger, target: EnqueueTarget, queued: Queued["queued"]) =>
  transactionUpdate(ledger, target, transitions.queue, { queued }, claimIs(target.claim));

/** Reads the account's queue, and gives the order the next number. If another order was faster, it gets the one after. */
const joinQueue = async (
  ledger: Ledger,
  target: EnqueueTarget,
  queued: Queued["queued"],
  deadline: Deadline,
): Promise<EnqueueResult> => {
  const { account_id: accountId } = target;
  const nextAttempt = backoff(() => settleBudgetMs(deadline));
  for (let unanswered = 0; ; ) {
    let queue: OrderQueue;
    try {
      queue = queueOf(await readWallet(ledger, accountId, abortAfter(settleBudgetMs(deadline))));
    } catch (error) {
      log.warn("order.queue_lookup_failed", { write_token: target.write_token, ...errorFields(error) });
      return indeterminateAfter(error);
    }
    const writes = [
      queueUpdate(ledger, target, { ...queued, number: queue.tail + 1 }),
      walletQueueJoin(ledger, accountId, queue),
    ];
    // After an attempt without an answer another one is harmless: an order begins to wait once, under one number.
    const result = await transactOnce(ledger.db, writes, randomUUID(), abortAfter(settleBudgetMs(deadline)));
    if (result.kind === "written") return { kind: "queued", ahead: queueLength(queue) };
    if (result.kind === "indeterminate") {
      unanswered += 1;
      log.warn("ledger.write_indeterminate", { write_token: target.write_token, ...errorFields(result.error) });
    }
    const moved = result.transaction;
    if (moved !== undefined || isMissing(result) || unanswered > UNANSWERED_MAX || !(await nextAttempt())) {
      const waits = await enqueueResult(ledger, target, result, deadline);
      const own = moved?.queued?.number;
      if (waits.kind !== "queued" || own === undefined) return waits;
      // An attempt without an answer was carried out.
      return { ...waits, ahead: [...queuedNumbers(queue)].filter((number) => number < own).length };
    }
  }
};

/** Any other condition that fails shows the item that it is of. */
const isMissing = ({ kind, transaction, wallet }: WriteFailure): boolean =>
  kind === "condition_failed" && transaction === undefined && wallet === undefined;

const enqueueResult = async (
  ledger: Ledger,
  target: EnqueueTarget,
  result: WriteResult,
  deadline: Deadline,
): Promise<EnqueueResult> => {
  if (result.kind === "written") return { kind: "queued" };
  if (isMissing(result)) return { kind: "missing" };
  const { transaction } = result;
  const { turnUntil, isIndeterminate } = target.claimed ?? {};
  if (transaction === undefined) {
    if (turnUntil !== undefined && result.wallet !== undefined) return { kind: "overtaken" };
    // Another order of the account has changed its queue: the next attempt reads it anew.
    return result.wallet === undefined ? indeterminateAfter(result.error) : { kind: "indeterminate" };
  }
  if (transaction.write_token !== target.write_token || !isQueuedOrder(transaction))
    return { kind: "not_open", transaction };
  if (transaction.claim === target.claim) return { kind: "queued" };
  return isIndeterminate ? voidClaim(ledger, transaction, deadline) : { kind: "not_open", transaction };
};

/** An indeterminate claim may still arrive at the order that waits. It cannot once the order has another one. */
const voidClaim = async (ledger: Ledger, order: QueuedOrder, deadline: Deadline): Promise<EnqueueResult> => {
  const { from } = transitions.claim;
  // It waits as long as before: the sender reads `updated_at` as the time since which it waits.
  const set = { claim: randomUUID(), updated_at: order.updated_at };
  const { Update } = transactionUpdate(ledger, order, { from }, set, claimIs(order.claim));
  const limitMs = settleBudgetMs(deadline);
  const abort = { abortSignal: abortAfter(limitMs) };
  try {
    await retryContention(() => ledger.db.update(Update, abort), limitMs);
    return { kind: "queued" };
  } catch (error) {
    // Also if a claim was faster: it may be the indeterminate one, which nobody sends.
    return indeterminateAfter(error);
  }
};

export type ClaimResult =
  /** The order is this claim's to send: once. */
  | { readonly kind: "claimed"; readonly claimed: ClaimedOrder }
  /** Nothing was written. `transaction`: the order, if it does not wait any more or has another claim. */
  | { readonly kind: "not_claimed"; readonly transaction?: Transaction | undefined }
  /** It may be claimed, or may yet be: it must not be sent, and must wait again. */
  | { readonly kind: "indeterminate"; readonly claimed: ClaimedOrder };
export type ClaimedOrder = Transaction & { readonly claim: string; readonly sent_at: string };

/**
 * Ends an order's wait before it is sent, so that it is sent once. `others`: the wallet's part of the write, with the
 * conditions on the account (wallet.ts).
 */
export const claimOrder = async (
  ledger: Ledger,
  order: QueuedOrder,
  others: Writes,
  deadline: Deadline,
): Promise<ClaimResult> => {
  const { queued, ...transaction } = order;
  const sent_at = isoTime(ledger.clock());
  const refusals = queued.refusals ?? transaction.refusals;
  const set = { claim: randomUUID(), sent_at, updated_at: sent_at, refusals };
  const claimed = { ...transaction, ...set, open: openList(order) };
  const update = transactionUpdate(ledger, order, transitions.claim, set, claimIs(order.claim));
  const result = await writeInTime(ledger, order, [update, ...others], deadline);
  if (result.kind === "written") return { kind: "claimed", claimed };
  if (result.isCertain) return { kind: "not_claimed", transaction: result.transaction };
  try {
    const stored = await readTransaction(ledger, order.pk);
    return { kind: stored?.claim === claimed.claim ? "claimed" : "indeterminate", claimed };
  } catch (error) {
    log.warn("order.claim_lookup_failed", { write_token: order.write_token, ...errorFields(error) });
    return { kind: "indeterminate", claimed };
  }
};

/** Attempts without a response that are followed by another, under the same token. */
const UNANSWERED_MAX = 2;

const writeInTime = (
  ledger: Ledger,
  { write_token }: Pick<Transaction, "write_token">,
  writes: Writes,
  deadline: Deadline,
): Promise<WriteResult> =>
  transact(ledger.db, writes, {
    nextAttempt: backoff(() => settleBudgetMs(deadline)),
    unansweredMax: UNANSWERED_MAX,
    abortSignal: abortAfter(settleBudgetMs(deadline)),
    about: { write_token },
  });

/** Ends an account's turn after the last request of a run. */
export const endTurn = (ledger: Ledger, accountId: string, turnUntil: string): Promise<void> =>
  unlessChanged(ledger, walletTurnEnd(ledger, accountId, turnUntil));

/** Takes the numbers of ended orders out of the queue, so that the wallet does not grow while none of it is claimed. */
export const trimQueue = async (ledger: Ledger, accountId: string, queue: OrderQueue): Promise<void> => {
  const after = withoutEnded(queue);
  if (after.gaps.size === queue.gaps.size) return;
  await unlessChanged(ledger, walletQueueTrim(ledger, accountId, { before: queue, after }));
};

/** Takes a wallet off the sender's list: no order of it waits, and none is claimed and not yet sent. */
export const unlistWallet = (
  ledger: Ledger,
  accountId: string,
  queue: OrderQueue,
  turnUntil: string | undefined,
): Promise<void> => unlessChanged(ledger, walletUnlisted(ledger, accountId, queue, turnUntil));

const unlessChanged = async ({ db }: Ledger, { Update }: { readonly Update: UpdateCommandInput }): Promise<void> => {
  // Refused: an order began to wait, or another process was faster.
  await unlessRefused(retryContention(() => db.update(Update)));
};

/** Queued orders of one account that are read at once. */
const QUEUED_ORDERS_PER_PAGE = 25;

/** All queued orders in the account's queue that the index has, oldest first. */
export const listQueuedOrders = async (ledger: Ledger, accountId: string): Promise<readonly QueuedOrder[]> =>
  (await readTransactions(ledger, await queuedOrderKeys(ledger, accountId))).filter(isQueuedOrder);

export type QueuedPage = { readonly orders: readonly QueuedOrder[]; readonly next: OpenKey | undefined };

/** The orders in the account's queue that are the oldest by the clocks of their instances. */
export const queuedOrdersPage = async (ledger: Ledger, accountId: string, start?: OpenKey): Promise<QueuedPage> => {
  const { keys, next } = await oldestKeys(ledger, accountId, start);
  return { orders: (await readTransactions(ledger, keys)).filter(isQueuedOrder), next };
};

const oldestKeys = (ledger: Ledger, accountId: string, start?: OpenKey) =>
  queryOpen(ledger, queuedOrders(accountId), ALL_TIMES, start, { oldest: QUEUED_ORDERS_PER_PAGE });

const storedItem = z.looseObject({ pk: z.string() });

/** The account's wallet, and the first page of its queued orders. */
export const readQueue = async (
  ledger: Ledger,
  accountId: string,
): Promise<{ readonly wallet: Wallet; readonly page: QueuedPage }> => {
  const { keys, next } = await oldestKeys(ledger, accountId);
  const items = await getItems(ledger, [{ pk: walletPk(accountId) }, ...keys], storedItem);
  const wallet = walletSchema.parse(items.find(({ pk }) => pk === walletPk(accountId)));
  const orders = items.filter(({ pk }) => isTransactionPk(pk)).map((item) => transactionSchema.parse(item));
  return { wallet, page: { orders: orders.filter(isQueuedOrder), next } };
};
