import * as z from "#zod";
import type { Change } from "../call/change.ts";
import { finalStatus } from "../contract/final-status.ts";
import { transactionType } from "../contract/transaction.ts";
import { isTransactionPk, walletPk } from "../ledger/schema.ts";
import { sentAt } from "../ledger/transaction.ts";
import { type CacheInZone, type ChangedBalance, setDailyBalances } from "./daily-balances.ts";
import { addToAccountDays, addToHours, type EndedTransaction } from "./hourly-counts.ts";

/** The stream's numbers are wrapped (shared/lambda/stream-handler.ts). */
const integer = z.pipe(
  z.pipe(
    z.object({ value: z.string() }),
    z.transform(({ value }) => Number(value)),
  ),
  z.int(),
);

const openItem = z.object({ status: z.literal("processing") });
const endedItem = z.object({
  pk: z.string().check(z.refine(isTransactionPk)),
  account_id: z.string(),
  status: finalStatus,
  mode: z.literal("live"),
  type: transactionType,
  network: z.optional(z.string()),
  debit: z.optional(z.literal("void")),
  amount_kobo: integer,
  failure: z.optional(z.object({ code: z.string() })),
  resolved_by: z.optional(z.string()),
  sent_at: z.optional(z.iso.datetime()),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

const walletVersion = z.object({ version: integer });
const walletItem = z.extend(walletVersion, {
  pk: z.string(),
  account_id: z.string(),
  balance_kobo: integer,
  updated_at: z.iso.datetime(),
});

/** The live transaction that ended with this change; undefined for every other change, and one that is unreadable. */
const endedBy = ({ before, after }: Change): EndedTransaction | undefined => {
  const ended = endedItem.safeParse(after).data;
  if (ended === undefined) return undefined;
  // A void debit is put as it ends, and its later changes are not in the stream (infra/streams.ts).
  if (ended.debit === undefined && !openItem.safeParse(before).success) return undefined;
  const { account_id: accountId, status, type, network, failure, amount_kobo, updated_at } = ended;
  const endedAtMs = Date.parse(updated_at);
  const isResolved = ended.resolved_by !== undefined;
  const latencyMs = isResolved ? undefined : endedAtMs - Date.parse(sentAt(ended));
  const what = { accountId, status, type, network, errorCode: isResolved ? undefined : failure?.code };
  return { ...what, amountKobo: amount_kobo, endedAtMs, latencyMs };
};

/** The balance that this change of a wallet made; undefined for every other change. */
const balanceAfter = ({ before, after }: Change): ChangedBalance | undefined => {
  const wallet = walletItem.safeParse(after).data;
  if (wallet === undefined || wallet.pk !== walletPk(wallet.account_id)) return undefined;
  const { account_id: accountId, balance_kobo: balanceKobo, version, updated_at } = wallet;
  // Some changes of a wallet leave its balance as it is.
  if (walletVersion.safeParse(before).data?.version === version) return undefined;
  return { accountId, balanceKobo, version, changedAtMs: Date.parse(updated_at) };
};

/**
 * Adds a batch of the ledger's changes to the statistics. What is unreadable is left out: a retry would not help. The
 * balances come first, because they may be written again; hours and days count a batch that is handled again twice.
 */
export const countTransactions = (cache: CacheInZone) => async (changes: readonly Change[]) => {
  const ended = changes.flatMap((change) => endedBy(change) ?? []);
  const balances = changes.flatMap((change) => balanceAfter(change) ?? []);
  await setDailyBalances(cache, balances);
  await addToHours(cache, ended);
  await addToAccountDays(cache, ended);
  return { changes: changes.length, ended: ended.length, balances: balances.length };
};
