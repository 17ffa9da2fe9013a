import { type AccountTable, accountIds } from "../access/account-store.ts";
import { modeSchema } from "../contract/transaction.ts";
import type { Owner } from "../ledger/find-transactions.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { listTransactions } from "../ledger/list-transactions.ts";
import type { Transaction } from "../ledger/transaction.ts";
import { isoTime } from "../platform/time.ts";
import { type DeliveryQueue, finalStatus } from "./delivery-queue.ts";

const DAY_MS = 24 * 3_600_000;
/** How long before the range a transaction may have been made that ended within it; the ledger is indexed by when it was made. */
const LOOK_BACK_MS = 30 * DAY_MS;
/** Messages sent at the same time. */
const SENDS_MAX = 20;

export type EnqueueRange = {
  /** Both inclusive: when the transaction ended. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Names this repetition, in the deliveries' records. The same name again tells only what it has not told yet. */
  readonly repeat: string;
  readonly lookBackMs?: number;
};

/** Tells again every end within a range of time, from the ledger itself: for when a stream, a queue or a receiver has lost them. */
export const enqueueRange = async (
  deps: { readonly ledger: Ledger; readonly accounts: AccountTable; readonly queue: DeliveryQueue },
  { fromMs, toMs, repeat, lookBackMs = LOOK_BACK_MS }: EnqueueRange,
): Promise<{ readonly announced: number }> => {
  const made = { from: isoTime(fromMs - lookBackMs), to: isoTime(toMs) };
  let announced = 0;
  for await (const owner of owners(deps.accounts)) {
    for await (const transactions of pages(deps.ledger, owner, made)) {
      const ended = transactions.filter(
        ({ updated_at }) => updated_at >= isoTime(fromMs) && updated_at <= isoTime(toMs),
      );
      announced += await announceAll(deps.queue, ended, repeat);
    }
  }
  return { announced };
};

async function* owners(accounts: AccountTable): AsyncGenerator<Owner, void, void> {
  for await (const accountId of accountIds(accounts)) {
    for (const mode of modeSchema.options) yield { accountId, mode };
  }
}

async function* pages(
  ledger: Ledger,
  owner: Owner,
  made: { readonly from: string; readonly to: string },
): AsyncGenerator<readonly Transaction[], void, void> {
  let page = await listTransactions(ledger, owner, {}, made, undefined);
  yield page.transactions;
  while (page.next !== undefined) {
    page = await listTransactions(ledger, owner, {}, made, page.next);
    yield page.transactions;
  }
}

const announceAll = async (
  queue: DeliveryQueue,
  transactions: readonly Transaction[],
  repeat: string,
): Promise<number> => {
  const messages = transactions.flatMap(({ pk, account_id, status }) => {
    const end = finalStatus.safeParse(status).data;
    return end === undefined ? [] : [{ account_id, message: { transaction: pk, status: end, repeat } }];
  });
  for (let sent = 0; sent < messages.length; sent += SENDS_MAX) {
    const batch = messages.slice(sent, sent + SENDS_MAX);
    await Promise.all(batch.map(({ message, account_id }) => queue.send(message, account_id)));
  }
  return messages.length;
};
