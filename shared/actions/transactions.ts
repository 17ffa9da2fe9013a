import { requireAccount } from "../access/account-store.ts";
import { LISTED_TRANSACTIONS_MAX, type transactionsActions } from "../contract/actions/transactions.ts";
import { refundName } from "../contract/corrections.ts";
import { MINUTE_MS } from "../contract/values/durations.ts";
import { nairaFromKobo } from "../contract/values/money.ts";
import { actorName } from "../ledger/audit.ts";
import { type OpenOrder, openOrders, readTransaction, readTransactions } from "../ledger/find-transactions.ts";
import { listTransactions } from "../ledger/list-transactions.ts";
import { ALL_TIMES } from "../ledger/query-index.ts";
import { takerOf, takeUpdate } from "../ledger/take-order.ts";
import { transactUnlessRefused } from "../ledger/transact.ts";
import {
  CHECK_OPEN_MS_MAX,
  inFlightMs,
  isFinalStatus,
  isIdentityCheck,
  isQueuedOrder,
  isStuck,
  referenceOf,
  STUCK_MS,
  sendingOf,
  sentAt,
  type Transaction,
  transactionToView,
  waitsInAnotherLedger,
} from "../ledger/transaction.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { sum } from "../platform/sum.ts";
import { isoTime } from "../platform/time.ts";
import {
  oldestQueuedJson,
  type QueuedOrders,
  queuedText,
  readQueuedOrders,
} from "../queued-orders/queued-orders-report.ts";
import { carriesReference, type UpstreamProfile } from "../upstream/profile.ts";
import { resolveTransaction } from "../upstream-events/operator-resolution.ts";
import { canAsk } from "../upstream-lookup/ask-upstream.ts";
import { askNow, nextQuestionMs, readLookupRecord } from "../upstream-lookup/lookup-record.ts";
import { type ActionContext, type AuditFields, auditItem, isForOwner, recordAudited } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";
import { cursorOf, requirePlaceWithin } from "./cursor.ts";
import { adviceOn } from "./order-advice.ts";
import { requireTransaction, requireTransactionOf } from "./require-transaction.ts";
import { settledView } from "./resolved-transaction.ts";
import { requireTimeRange } from "./time-range.ts";
import { historyOf, unknownOutcomeText } from "./transaction-history.ts";
import { adjust } from "./wallet.ts";

export const transactionsRuns: ActionRuns<typeof transactionsActions> = {
  "transactions list": async (context, { account, mode, cursor, limit, from, to, ...filter }) => {
    await requireAccount(context.accounts, account);
    const range = requireTimeRange(context, { from, to });
    const start = requirePlaceWithin(cursor, range);
    const owner = { accountId: account, mode };
    const { transactions, next } = await listTransactions(context.ledger, owner, filter, range, start, limit);
    return { transactions: transactions.map(transactionView), next_cursor: cursorOf(next) };
  },
  "transactions show": async (context, { account, reference }) =>
    detailsOf(context, await requireTransactionOf(context, account, reference)),
  "transactions open": async ({ ledger }, { cursor = "" }) => {
    const nowMs = ledger.clock();
    const open = await openOlderThan({ ledger }, 0);
    const behind = open.filter((order) => placeOf(order) > cursor).toSorted(byPlace);
    const page = behind.slice(0, LISTED_TRANSACTIONS_MAX);
    const last = page.at(-1);
    const transactions = await readTransactions(ledger, page);
    return {
      number: open.length,
      stuck: open.filter((order) => isStuck(order, nowMs)).length,
      transactions: transactions.filter(isOpen).map((transaction) => ({
        ...transactionView(transaction),
        stuck: isStuck(transaction, nowMs),
        sending: sendingOf(transaction),
        in_flight_ms: inFlightMs(transaction, nowMs),
        taken: takerOf(transaction, nowMs) ?? null,
      })),
      next_cursor: last === undefined || page.length === behind.length ? null : placeOf(last),
    };
  },
  "transactions waiting": async (context, { account }) => {
    if (account !== undefined) await requireAccount(context.accounts, account);
    return waitingView(await readQueuedOrders(context, account), context.ledger.clock());
  },
  "transactions ask": async (context, { reference, why }) => {
    const transaction = await requireTransaction(context, reference);
    const { ledger, purchases: cache, probe } = context;
    assertCanAsk(probe.profile, transaction);
    await recordAudited(context, transaction.account_id, auditAbout(transaction, "transactions ask", why));
    await askNow(cache, transaction, ledger.clock());
    return { reference: referenceOf(transaction), account_id: transaction.account_id };
  },
  "transactions take": async (context, { reference, why }) => {
    const { ledger } = context;
    const transaction = await requireTransaction(context, reference);
    const writes = [
      takeUpdate(ledger, transaction, actorName(context.actor())),
      auditItem(context, transaction.account_id, auditAbout(transaction, "transactions take", why)),
    ];
    const isTaken = await transactUnlessRefused(ledger, writes);
    const stored = (await readTransaction(ledger, transaction.pk)) ?? transaction;
    const taken = takerOf(stored, ledger.clock()) ?? null;
    const view = { reference: referenceOf(stored), account_id: stored.account_id, taken };
    if (isTaken) return view;
    throw new OperatorError(
      taken === null
        ? `${view.reference} has ended: it is ${stored.status}`
        : `${taken.by} has been on it since ${taken.at}`,
    );
  },
  "transactions note": async (context, { reference, note }) => {
    const transaction = await requireTransaction(context, reference);
    const audit = auditAbout(transaction, "transactions note", note);
    await recordAudited(context, transaction.account_id, audit);
    return { reference: referenceOf(transaction), account_id: transaction.account_id };
  },
  "transactions refund": async (context, { reference, why }) => {
    const transaction = await requireTransaction(context, reference);
    const { account_id: account, amount_kobo } = transaction;
    const ours = referenceOf(transaction);
    const refusal = refundRefusal(transaction);
    if (refusal !== undefined) throw refusal;
    const entry = { account, amount_kobo, id: refundName(ours), why };
    const details = { reference: ours, amount: nairaFromKobo(amount_kobo) };
    return adjust(context, entry, { ...auditAbout(transaction, "transactions refund", why), details });
  },
  "transactions resolve": async (context, { reference, status, sending, why }) => {
    const transaction = await requireTransaction(context, reference);
    return settledView(context, transaction, { status }, () =>
      resolveTransaction(context.ledger, transaction, status, { ...context.actor(), why }, sending),
    );
  },
};

const auditAbout = (transaction: Transaction, action: string, why: string | undefined): AuditFields => ({
  about: transaction.pk,
  action,
  why,
  details: { reference: referenceOf(transaction) },
});

export const transactionView = (transaction: Transaction) => ({
  account_id: transaction.account_id,
  mode: transaction.mode,
  ...transactionToView(transaction),
  upstream_reference: transaction.upstream_reference ?? null,
});

/** One may have ended since it was counted. */
const isOpen = ({ status }: Transaction): boolean => !isFinalStatus(status);

/** Where an order is in the list of open ones, oldest first. The order of that place may have ended since. */
const placeOf = (order: OpenOrder): string => `${order.created_at} ${referenceOf(order)}`;
const byPlace = (one: OpenOrder, other: OpenOrder): number => (placeOf(one) < placeOf(other) ? -1 : 1);

/** The open transactions of all accounts that were sent and are at least this old, oldest first. */
export const openOlderThan = (
  { ledger }: Pick<ActionContext, "ledger">,
  olderMs: number,
): Promise<readonly OpenOrder[]> => openOrders(ledger, { from: ALL_TIMES.from, to: isoTime(ledger.clock() - olderMs) });

const assertCanAsk = (profile: UpstreamProfile, transaction: Transaction): void => {
  if (canAsk(profile, transaction)) return;
  const reference = referenceOf(transaction);
  if (profile.lookup === undefined) {
    throw new OperatorError("The profile of the upstream has no lookup, so that it cannot be asked for an order");
  }
  if (isFinalStatus(transaction.status)) throw new OperatorError(`${reference} has ended: it is ${transaction.status}`);
  throw new OperatorError(
    `The upstream cannot be asked for ${reference}: it is no live purchase that was sent, or the upstream knows it by no reference of ours`,
  );
};

/** What the upstream answered, and when it is asked next. Owners do not see it. */
const lookupOf = async (context: ActionContext, transaction: Transaction) => {
  const { profile } = context.probe;
  if (isForOwner(context) || profile.lookup === undefined) return { lookup: null, next_question_at: null };
  const record = await readLookupRecord(context.purchases, transaction);
  const { asked_at, asked, finding, details = null } = record ?? {};
  return {
    lookup:
      asked_at === undefined || asked === undefined || finding === undefined
        ? null
        : { asked_at, asked, finding, details },
    next_question_at: canAsk(profile, transaction) ? isoTime(nextQuestionMs(transaction, record)) : null,
  };
};

/** Why `transactions refund` refuses the transaction; undefined if it refunds it, once. */
export const refundRefusal = (transaction: Transaction): OperatorError | undefined => {
  const { mode, status } = transaction;
  const reference = referenceOf(transaction);
  if (mode === "test") return new OperatorError(`${reference} is a test order: no wallet was debited`);
  if (status === "failed") return new OperatorError(`${reference} has failed: it was refunded, or never debited`);
  if (status === "success") return undefined;
  return new OperatorError(`${reference} is open`, { command: "transactions resolve settles it", separator: ": " });
};

const detailsOf = async (context: ActionContext, transaction: Transaction) => {
  const { lookup, next_question_at } = await lookupOf(context, transaction);
  const { history, ...found } = await historyOf(context, transaction, lookup);
  const nowMs = context.ledger.clock();
  const inFlight = isFinalStatus(transaction.status) ? 0 : inFlightMs(transaction, nowMs);
  const wait = (await queuedText(context, transaction)) ?? null;
  const wait_until = waitUntil(context, transaction);
  const isOverdue = wait_until !== null && Date.parse(wait_until) <= nowMs;
  return {
    ...transactionView(transaction),
    taken: (isForOwner(context) ? undefined : takerOf(transaction, nowMs)) ?? null,
    sent_at: transaction.sent_at ?? null,
    sending: sendingOf(transaction),
    wait,
    unknown_outcome: unknownOutcomeText(transaction) ?? null,
    advice: [
      ...adviceOn(transaction, {
        ...found,
        ...{ isForOwner: isForOwner(context), isOverdue },
        isOfAnotherLedger: waitsInAnotherLedger(context.ledger, transaction),
        carriesOurs: carriesReference(context.probe.profile, transaction.type),
      }),
    ],
    wait_until,
    next_question_at,
    in_flight_until: inFlight === 0 ? null : isoTime(nowMs + inFlight),
    lookup,
    can_refund: refundRefusal(transaction) === undefined && !found.isRefunded,
    can_ask: !isForOwner(context) && canAsk(context.probe.profile, transaction),
    history: [...history],
  };
};

/** Then an identity check or a queued order is refunded by the next run, and a purchase that was sent counts as stuck. */
const waitUntil = ({ ledger, queueMinutes }: ActionContext, transaction: Transaction): string | null => {
  if (isFinalStatus(transaction.status) || transaction.mode === "test") return null;
  if (waitsInAnotherLedger(ledger, transaction)) return null;
  const sentMs = isIdentityCheck(transaction) ? CHECK_OPEN_MS_MAX : STUCK_MS;
  const lengthMs = isQueuedOrder(transaction) ? queueMinutes * MINUTE_MS : sentMs;
  return isoTime(Date.parse(isQueuedOrder(transaction) ? transaction.created_at : sentAt(transaction)) + lengthMs);
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
  orders: oldestQueuedJson(accounts, nowMs),
});
