import { randomUUID } from "node:crypto";
import { createAccount } from "../../../shared/access/accounts.ts";
import { createKey } from "../../../shared/access/keys.ts";
import { DAY_MS, HOUR_MS } from "../../../shared/contract/values/durations.ts";
import { koboFromNaira, koboSchema } from "../../../shared/contract/values/money.ts";
import type { Ledger } from "../../../shared/ledger/ledger.ts";
import { fundWallet } from "../../../shared/ledger/ledger-entry.ts";
import { transactionList, transactionPk } from "../../../shared/ledger/schema.ts";
import { settledTransaction } from "../../../shared/ledger/settle-transaction.ts";
import type { Transaction } from "../../../shared/ledger/transaction.ts";
import { walletDebit } from "../../../shared/ledger/wallet.ts";
import { type KeyedHashes, loadKeyedHashes } from "../../../shared/platform/keyed-hashes.ts";
import { SECRET_LENGTH_MIN } from "../../../shared/platform/secret-length.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { aTransaction } from "../../../test/builders/ledger/transaction.ts";

const YEAR_MS = 365 * DAY_MS;
/** The age of the youngest transaction, so that a reconciliation's checkpoint covers all. */
const YOUNGEST_MS = 2 * HOUR_MS;
const PRICE_NAIRA = 500;
/** One in this many transactions failed and was refunded. */
const FAILED_EVERY = 50;

/** An account with a year of transactions. */
export type BusyAccount = {
  readonly accountId: string;
  readonly key: string;
  readonly keyId: string;
  readonly transactions: number;
};

/**
 * Creates the account with its key and the wallet as its transactions leave it; the transactions are imported later.
 */
export const openBusyAccount = async (
  ledger: Ledger,
  accessTable: string,
  transactions: number,
): Promise<BusyAccount> => {
  const { db, table } = ledger;
  // The measured function reads no secret, and admits keys with any checksum.
  const checksum = async (): Promise<string> => "0".repeat(SECRET_LENGTH_MIN);
  const checksumKey = { value: checksum, refetch: checksum };
  const store = { db, accessTable, ledgerTable: table, checksumKey };
  const { account_id: accountId } = await createAccount(store, { name: "busy", whitelist: ["127.0.0.1"] });
  const { key, keyId } = await createKey(store, accountId, { mode: "live" });
  const aYearAgo: Ledger = { ...ledger, clock: () => ledger.clock() - YEAR_MS - YOUNGEST_MS };
  const amountKobo = koboFromNaira((transactions + 1) * PRICE_NAIRA);
  await fundWallet(aYearAgo, { accountId, fundingId: `first-${accountId}`, amountKobo });
  const spent = koboSchema.parse(succeeded(transactions) * koboFromNaira(PRICE_NAIRA));
  const booking = { amount: spent, bookedAt: isoTime(ledger.clock()) };
  const options = { unlessQueued: false, isCheck: false };
  const { ExpressionAttributeValues, ...debit } = walletDebit(ledger, accountId, booking, options).Update;
  // A debit for each transaction, and a refund for each that failed.
  const changes = transactions + transactions - succeeded(transactions);
  await db.update({ ...debit, ExpressionAttributeValues: { ...ExpressionAttributeValues, ":one": changes } });
  return { accountId, key, keyId, transactions };
};

const succeeded = (transactions: number): number => transactions - Math.ceil(transactions / FAILED_EVERY);

/** The account's transactions, as purchases write them. */
export async function* transactionsOf(account: BusyAccount, nowMs: number): AsyncGenerator<Transaction, void, void> {
  const keyedHashes = await loadKeyedHashes({ value: async () => "k".repeat(32), refetch: async () => undefined })();
  for (let index = 0; index < account.transactions; index += 1) yield rowOf(account, keyedHashes, index, nowMs);
}

const rowOf = (
  { accountId, keyId, transactions }: BusyAccount,
  keyedHashes: KeyedHashes,
  index: number,
  nowMs: number,
) => {
  const createdMs = nowMs - YOUNGEST_MS - Math.floor((YEAR_MS * (transactions - index)) / transactions);
  const reference = `order-${index}`;
  const opened = aTransaction({
    pk: transactionPk(keyedHashes.transactionId({ accountId, mode: "live", callerReference: reference })),
    list_key: transactionList(accountId, "live"),
    account_id: accountId,
    key_id: keyId,
    write_token: randomUUID(),
    fingerprint: keyedHashes.fingerprints(["data", "1", "101", "08031234567"])[0],
    caller_reference: reference,
    amount_kobo: koboFromNaira(PRICE_NAIRA),
    created_at: isoTime(createdMs),
    updated_at: isoTime(createdMs + 1_000),
  });
  const upstreamReference = `DATA_${randomUUID().replaceAll("-", "").slice(0, 20).toUpperCase()}`;
  if (index % FAILED_EVERY > 0)
    return settledTransaction(opened, { status: "success", upstream_reference: upstreamReference });
  return settledTransaction(opened, {
    status: "failed",
    failure: { code: "delivery_failed" },
    upstream_reference: upstreamReference,
  });
};
