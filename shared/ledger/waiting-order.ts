import { randomUUID } from "node:crypto";
import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { backoff, retryContention } from "../platform/backoff.ts";
import { abortAfter, type Deadline, settleBudgetMs } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import { isoTime } from "../platform/time.ts";
import { readTransaction, readTransactions } from "./find-transactions.ts";
import { getItems } from "./get-item.ts";
import type { Ledger } from "./ledger.ts";
import { type IndexKey, queryPage, waitingOrderKeys, walletsWithWaitingOrdersKeys } from "./query-index.ts";
import { OPEN_TRANSACTION, waitingOrders } from "./schema.ts";
import { transact, type WriteResult, type Writes } from "./transact.ts";
import type { OrderToSend, Transaction } from "./transaction.ts";
import {
  type Wallet,
  walletSchema,
  walletWaitingOrder,
  walletWaitingOrderClaimed,
  walletWithoutWaitingOrders,
} from "./wallet.ts";

/** An order that is debited and was certainly not sent, or was refused by the upstream's rate limit. */
export type WaitingOrder = Transaction & Waiting;
type Waiting = { readonly waiting: NonNullable<Transaction["waiting"]> };

/**
 * From then on people should look at a waiting order: half of its time is over. Orders that are sent by the next runs of
 * the sender are younger.
 */
export const longWaitS = (waitingMinutes: number): number => Math.max(5 * 60, waitingMinutes * 30);

export const isWaitingOrder = <Stored extends Pick<Transaction, "waiting">>(order: Stored): order is Stored & Waiting =>
  order.waiting !== undefined;

/** Which open order is to wait. `claim` is the claim under which it was refused; undefined for its own request. */
export type WaitTarget = Pick<Transaction, "pk" | "mode" | "attempt" | "account_id" | "claim"> & {
  /** The ledger in which it was found to be unsent, if that was not now; a restored one may lack a later claim. */
  readonly table?: string;
  /** How often the upstream refused this very order with 429; absent if it never did. */
  readonly refusals?: number | undefined;
};

export type WaitResult =
  | { readonly kind: "waiting" }
  /** Nothing was written: the order has a final status, or was claimed since. */
  | { readonly kind: "not_open"; readonly transaction: Transaction }
  | { readonly kind: "indeterminate" };

/**
 * Makes an order wait that its sender knows to be unsent. `claim` makes sure that nobody else has begun to send it: a
 * late copy of this write has no effect after a claim.
 */
export const makeOrderWait = async (
  ledger: Ledger,
  target: WaitTarget,
  order: OrderToSend,
  deadline: Deadline,
): Promise<WaitResult> => {
  const result = await writeInTime(
    ledger,
    target,
    [{ Update: waitingUpdate(ledger, target, order) }, walletWaitingOrder(ledger, target.account_id)],
    deadline,
  );
  if (result.kind === "written") return { kind: "waiting" };
  if (result.kind !== "condition_failed" || result.transaction === undefined) return { kind: "indeterminate" };
  const { transaction } = result;
  const isOwn = transaction.attempt === target.attempt && transaction.claim === target.claim;
  return isOwn && isWaitingOrder(transaction) ? { kind: "waiting" } : { kind: "not_open", transaction };
};

const waitingUpdate = (
  ledger: Ledger,
  { pk, mode, attempt, account_id, claim, table = ledger.table, refusals }: WaitTarget,
  order: OrderToSend,
) => ({
  TableName: ledger.table,
  Key: { pk },
  UpdateExpression: "SET waiting = :waiting, #open = :open, updated_at = :now",
  ConditionExpression: `#status = :processing AND #mode = :mode AND attempt = :attempt AND attribute_not_exists(waiting) AND ${
    claim === undefined ? "attribute_not_exists(claim)" : "claim = :claim"
  }`,
  ExpressionAttributeNames: { "#open": "open", "#status": "status", "#mode": "mode" },
  ExpressionAttributeValues: {
    ":waiting": { order, table, ...(refusals !== undefined && { refusals }) },
    ":open": waitingOrders(account_id),
    ":now": isoTime(ledger.clock()),
    ":processing": "processing",
    ":mode": mode,
    ":attempt": attempt,
    ...(claim !== undefined && { ":claim": claim }),
  },
  ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
});

export type ClaimResult =
  /** The order is this claim's to send: once. */
  | { readonly kind: "claimed"; readonly claimed: ClaimedOrder }
  /** It waits no more, or other writes held its wallet. */
  | { readonly kind: "not_claimed" }
  /** It may be claimed, or may yet be: it must not be sent, and must wait again. */
  | { readonly kind: "indeterminate"; readonly claimed: ClaimedOrder };
export type ClaimedOrder = Transaction & { readonly claim: string; readonly sent_at: string };

/** Ends an order's wait before it is sent, so that it is sent once. */
export const claimOrder = async (ledger: Ledger, order: WaitingOrder, deadline: Deadline): Promise<ClaimResult> => {
  const { waiting: _waiting, ...transaction } = order;
  const claimed = { ...transaction, open: OPEN_TRANSACTION, claim: randomUUID(), sent_at: isoTime(ledger.clock()) };
  const result = await writeInTime(
    ledger,
    order,
    [{ Update: claimUpdate(ledger, order, claimed) }, walletWaitingOrderClaimed(ledger, order.account_id)],
    deadline,
  );
  if (result.kind === "written") return { kind: "claimed", claimed };
  if (result.kind === "condition_failed" && result.transaction?.claim === claimed.claim) {
    return { kind: "claimed", claimed };
  }
  if (result.isCertain) return { kind: "not_claimed" };
  try {
    const stored = await readTransaction(ledger, order.pk);
    return { kind: stored?.claim === claimed.claim ? "claimed" : "indeterminate", claimed };
  } catch (error) {
    log.warn("order.claim_lookup_failed", { attempt: order.attempt, ...errorFields(error) });
    return { kind: "indeterminate", claimed };
  }
};

const claimUpdate = ({ table }: Ledger, waiting: WaitingOrder, { claim, sent_at }: ClaimedOrder) => ({
  TableName: table,
  Key: { pk: waiting.pk },
  UpdateExpression: "SET claim = :claim, sent_at = :now, updated_at = :now, #open = :open REMOVE waiting",
  ConditionExpression: `#status = :processing AND attempt = :attempt AND attribute_exists(waiting) AND ${
    waiting.claim === undefined ? "attribute_not_exists(claim)" : "claim = :previous"
  }`,
  ExpressionAttributeNames: { "#open": "open", "#status": "status" },
  ExpressionAttributeValues: {
    ":claim": claim,
    ":now": sent_at,
    ":open": OPEN_TRANSACTION,
    ":processing": "processing",
    ":attempt": waiting.attempt,
    ...(waiting.claim !== undefined && { ":previous": waiting.claim }),
  },
  ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
});

/** Attempts without a response that are followed by another, under the same token. */
const UNANSWERED_MAX = 2;

const writeInTime = (
  ledger: Ledger,
  { attempt }: Pick<Transaction, "attempt">,
  writes: Writes,
  deadline: Deadline,
): Promise<WriteResult> =>
  transact(ledger.db, writes, {
    nextAttempt: backoff(() => settleBudgetMs(deadline)),
    unansweredMax: UNANSWERED_MAX,
    abortSignal: abortAfter(settleBudgetMs(deadline)),
    about: { attempt },
  });

/** The wallets whose waiting orders the index lists, the one whose last turn was the longest ago first. */
export const walletsWithWaitingOrders = async (ledger: Ledger): Promise<readonly Wallet[]> =>
  getItems(ledger, await walletsWithWaitingOrdersKeys(ledger), walletSchema);

/** Takes a wallet out of the index, if it has no waiting orders. */
export const clearWaitingOrders = async (ledger: Ledger, accountId: string): Promise<void> => {
  try {
    const update = new UpdateCommand(walletWithoutWaitingOrders(ledger, accountId).Update);
    await retryContention(() => ledger.db.send(update));
  } catch (error) {
    // An order began to wait, or another process was faster.
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
};

/** Waiting orders of one account that are read at once. */
export const WAITING_ORDERS_PER_PAGE = 25;
/**
 * Orders that became waiting later than this are left for the next page: the index may show an earlier one of the same
 * account after them.
 */
const INDEX_LAG_MS = 2_000;

/** All waiting orders of the account that the index has, oldest first. */
export const listWaitingOrders = async (ledger: Ledger, accountId: string): Promise<readonly WaitingOrder[]> =>
  (await readTransactions(ledger, await waitingOrderKeys(ledger, accountId))).filter(isWaitingOrder);

export type WaitingPage = { readonly orders: readonly WaitingOrder[]; readonly next: IndexKey | undefined };

/** The account's oldest waiting orders, oldest first. */
export const waitingOrdersPage = async (ledger: Ledger, accountId: string, start?: IndexKey): Promise<WaitingPage> => {
  const range = { from: "0000", to: isoTime(ledger.clock() - INDEX_LAG_MS) };
  const limits = { oldest: WAITING_ORDERS_PER_PAGE };
  const { keys, next } = await queryPage(ledger, { open: waitingOrders(accountId) }, range, start, limits);
  return { orders: (await readTransactions(ledger, keys)).filter(isWaitingOrder), next };
};
