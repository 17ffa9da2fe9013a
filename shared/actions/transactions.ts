import { requireAccount } from "../access/account-store.ts";
import { LISTED_TRANSACTIONS_MAX, type transactionsActions } from "../contract/actions/transactions.ts";
import { nairaFromKobo } from "../contract/money.ts";
import { readTransactionAudit } from "../ledger/audit.ts";
import { openTransactions, readTransaction } from "../ledger/find-transactions.ts";
import { encodeCursor, listTransactions } from "../ledger/list-transactions.ts";
import { ALL_TIMES } from "../ledger/query-index.ts";
import { isFinalStatus, referenceOf, STUCK_MS, type Transaction, transactionToView } from "../ledger/transaction.ts";
import { InFlightError, OperatorError } from "../platform/operator-error.ts";
import { sum } from "../platform/sum.ts";
import { isoTime, sleep } from "../platform/time.ts";
import {
  type QueuedOrders,
  queuedOrderJson,
  queuedText,
  readQueuedOrders,
} from "../queued-orders/queued-orders-report.ts";
import { inFlightMs, resolveTransaction } from "../upstream-events/operator-resolution.ts";
import type { ActionContext } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";
import { requireTransaction, requireTransactionOf } from "./lookup.ts";
import { resolvedView } from "./resolved-transaction.ts";
import { requireCursor, requireTimeRange } from "./time-range.ts";
import { historyOf, unknownOutcomeText } from "./transaction-history.ts";

export const transactionsRuns: ActionRuns<typeof transactionsActions> = {
  "transactions list": async (context, { account, mode, cursor, limit, from, to, ...filter }) => {
    await requireAccount(context.accounts, account);
    const range = requireTimeRange({ from, to });
    const start = cursor === undefined ? undefined : requireCursor(cursor, range);
    const owner = { accountId: account, mode };
    const { transactions, next } = await listTransactions(context.ledger, owner, filter, range, start, limit);
    return {
      transactions: transactions.map(transactionView),
      next_cursor: next === undefined ? null : encodeCursor(next),
    };
  },
  "transactions show": async (context, { account, reference }) =>
    detailsOf(context, await requireTransactionOf(context, account, reference)),
  "transactions open": async ({ ledger }) => {
    const nowMs = ledger.clock();
    const open = await openOlderThan({ ledger }, 0);
    const isStuck = ({ created_at }: Transaction): boolean => created_at <= isoTime(nowMs - STUCK_MS);
    return {
      number: open.length,
      stuck: open.filter(isStuck).length,
      transactions: open.slice(0, LISTED_TRANSACTIONS_MAX).map((transaction) => ({
        ...transactionView(transaction),
        stuck: isStuck(transaction),
        in_flight_ms: inFlightMs(transaction, nowMs),
      })),
    };
  },
  "transactions waiting": async (context, { account }) => {
    if (account !== undefined) await requireAccount(context.accounts, account);
    return waitingView(await readQueuedOrders(context, account), context.ledger.clock());
  },
  "transactions resolve": async (context, { reference, status, why }) => {
    const transaction = await requireTransaction(context, reference);
    try {
      await resolveTransaction(context.ledger, transaction, status, { ...context.actor(), why });
    } catch (error) {
      if (!(error instanceof OperatorError) || error instanceof InFlightError) throw error;
      throw (await resolvedBefore(context, transaction)) ?? error;
    }
    return resolvedView(context, transaction);
  },
};

export const transactionView = (transaction: Transaction) => ({
  account_id: transaction.account_id,
  mode: transaction.mode,
  ...transactionToView(transaction),
  upstream_reference: transaction.upstream_reference ?? null,
});

/** The open transactions of all accounts that were sent and are at least this old, oldest first. */
export const openOlderThan = (
  { ledger }: Pick<ActionContext, "ledger">,
  olderMs: number,
): Promise<readonly Transaction[]> =>
  openTransactions(ledger, { from: ALL_TIMES.from, to: isoTime(ledger.clock() - olderMs) });

const detailsOf = async (context: ActionContext, transaction: Transaction) => {
  const history = await historyOf(context, transaction);
  const wait = (await queuedText(context, transaction)) ?? null;
  return {
    ...transactionView(transaction),
    sent_at: transaction.sent_at ?? null,
    wait,
    unknown_outcome: unknownOutcomeText(transaction) ?? null,
    history: [...history],
  };
};

const waitingView = ({ accounts, count, amountKobo, oldestS, sendingS }: QueuedOrders, nowMs: number) => ({
  number: count,
  amount: nairaFromKobo(amountKobo),
  oldest_s: oldestS ?? null,
  sending_s: sendingS ?? null,
  accounts: accounts.map(({ accountId: account_id, orders, counted }) => ({
    account_id,
    number: orders.length,
    counted,
    amount: nairaFromKobo(sum(orders.map(({ amount_kobo }) => amount_kobo))),
  })),
  orders: accounts.flatMap(({ orders, isRestricted }) =>
    orders.map((order) => queuedOrderJson(order, isRestricted, nowMs)),
  ),
});

/** The audit index lags: it is read 5 times, 300 ms apart. */
const AUDIT_TRIES = 5;
const AUDIT_TRY_MS = 300;

/** The refusal of a resolution that another operator came before; undefined if no operator resolved the transaction. */
const resolvedBefore = async ({ ledger }: ActionContext, { pk }: Transaction): Promise<OperatorError | undefined> => {
  const transaction = await readTransaction(ledger, pk);
  if (transaction === undefined || !isFinalStatus(transaction.status)) return undefined;
  const { status, updated_at } = transaction;
  const reference = referenceOf(transaction);
  const isNew = ledger.clock() - Date.parse(updated_at) < AUDIT_TRIES * AUDIT_TRY_MS;
  for (let tries = isNew ? AUDIT_TRIES : 1; tries > 0; tries -= 1) {
    const entry = (await readTransactionAudit(ledger, transaction)).findLast(({ action }) =>
      RESOLUTIONS.includes(action),
    );
    if (entry !== undefined) {
      const { by, why = "" } = entry;
      const sentence = `${reference} was settled as ${status} at ${updated_at}; that is final: ${by} resolved it ("${why}")`;
      return new OperatorError(sentence, { command: "wallet adjust corrects the balance" });
    }
    if (tries > 1) await sleep(AUDIT_TRY_MS);
  }
  return undefined;
};

/** The actions that settle a transaction by an operator's decision. */
const RESOLUTIONS = ["transactions resolve", "events match"];
