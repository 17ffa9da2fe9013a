import { requireAccount } from "../../shared/access/account-store.ts";
import { finalStatus } from "../../shared/contract/final-status.ts";
import { modeSchema } from "../../shared/contract/transaction.ts";
import { DAY_MS } from "../../shared/contract/values/durations.ts";
import { TRANSACTION_UPDATED } from "../../shared/contract/webhook-events.ts";
import type { AccountMode } from "../../shared/ledger/find-transactions.ts";
import type { Ledger } from "../../shared/ledger/ledger.ts";
import { listTransactions, type TransactionList } from "../../shared/ledger/list-transactions.ts";
import { accountIdsOf } from "../../shared/ledger/query-index.ts";
import type { Transaction } from "../../shared/ledger/transaction.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { type AddressedMessage, type DeliveryQueue, sendAll } from "../../shared/webhooks/delivery-queue.ts";

/**
 * The ledger is indexed by creation time: a transaction that settled in the range may be older than the range by this
 * much.
 */
const LOOK_BACK_MS = 30 * DAY_MS;

type EnqueueRange = {
  /** Both inclusive: when the transaction settled. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Part of the delivery's key: a second run with the same id enqueues duplicates, which are not delivered twice. */
  readonly resendId: string;
};

/**
 * Enqueues the webhooks of every transaction that settled within a range, from the ledger: recovers events that were
 * lost.
 */
export const enqueueRange = async (
  deps: { readonly ledger: Ledger; readonly queue: DeliveryQueue },
  { fromMs, toMs, resendId }: EnqueueRange,
): Promise<{ readonly enqueued: number }> => {
  const created = { from: isoTime(fromMs - LOOK_BACK_MS), to: isoTime(toMs) };
  let enqueued = 0;
  for await (const accountMode of accountModes(deps.ledger)) {
    const endpoints = await endpointsOf(deps.ledger, accountMode.accountId);
    for await (const transactions of pages(deps.ledger, accountMode, created)) {
      const settled = transactions.filter(
        ({ updated_at }) => updated_at >= isoTime(fromMs) && updated_at <= isoTime(toMs),
      );
      enqueued += await enqueueAll(deps.queue, endpoints, settled, resendId);
    }
  }
  return { enqueued };
};

/** The ids of the endpoints of an account that get the event. */
const endpointsOf = async ({ db, table }: Ledger, accountId: string): Promise<readonly string[]> => {
  const account = await requireAccount({ db, ledgerTable: table }, accountId);
  return account.endpoints.filter(({ events }) => events.includes(TRANSACTION_UPDATED)).map(({ id }) => id);
};

async function* accountModes(ledger: Ledger): AsyncGenerator<AccountMode, void, void> {
  for (const accountId of await accountIdsOf(ledger)) {
    for (const mode of modeSchema.options) yield { accountId, mode };
  }
}

async function* pages(
  ledger: Ledger,
  accountMode: AccountMode,
  created: { readonly from: string; readonly to: string },
): AsyncGenerator<readonly Transaction[], void, void> {
  let next: TransactionList["next"];
  do {
    const page = await listTransactions(ledger, accountMode, {}, created, next);
    yield page.transactions;
    next = page.next;
  } while (next !== undefined);
}

const enqueueAll = async (
  queue: DeliveryQueue,
  endpoints: readonly string[],
  transactions: readonly Transaction[],
  resendId: string,
): Promise<number> => {
  const messages = transactions.flatMap(({ pk, account_id, ...transaction }): AddressedMessage[] => {
    const status = finalStatus.safeParse(transaction.status).data;
    // The caller cancelled it before it was placed, and knows.
    if (status === undefined || transaction.debit === "cancelled") return [];
    const event = { event: TRANSACTION_UPDATED, transaction_pk: pk, status, repeat: resendId } as const;
    return endpoints.map((endpoint) => ({ accountId: account_id, message: { ...event, endpoint } }));
  });
  await sendAll(queue, messages);
  return messages.length;
};
