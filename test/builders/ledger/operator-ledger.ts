import { createAccount } from "../../../shared/access/accounts.ts";
import { koboFromNaira, nairaFromKobo } from "../../../shared/contract/values/money.ts";
import { readTransaction } from "../../../shared/ledger/find-transactions.ts";
import type { AuditedLedger } from "../../../shared/ledger/ledger.ts";
import { fundWallet } from "../../../shared/ledger/ledger-entry.ts";
import type { Transaction } from "../../../shared/ledger/transaction.ts";
import { readWallet } from "../../../shared/ledger/wallet.ts";
import type { WithSdk } from "../../../shared/platform/aws/sdk.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { reconcileWallet } from "../../../shared/reconciliation/reconcile-wallet.ts";
import { NOON_MS } from "../run/noon.ts";
import { openLedgerAtNoon } from "./ledger-at-noon.ts";

export const decision = { by: "ada", why: "ticket 88" };

/** The tables as an operator's command uses them, at a time that the test chooses. */
export const openOperatorLedger = async () => {
  const { db, table, auditTable, tables, anOpenTransaction } = await openLedgerAtNoon();
  const ledgerAt = (nowMs = NOON_MS): AuditedLedger & WithSdk => ({ db, table, auditTable, clock: () => nowMs });
  const storeAt = (nowMs = NOON_MS) => ({ ...tables, clock: () => nowMs });

  /** An account of 1,000 NGN. */
  const anAccount = async () => {
    const { account_id: accountId } = await createAccount(storeAt(), { name: "test", whitelist: [] });
    const first = { accountId, fundingId: `first-${accountId}`, amountKobo: koboFromNaira(1_000) };
    await fundWallet(ledgerAt(NOON_MS - 3_600_000), first);
    const balance = async () => nairaFromKobo((await readWallet(ledgerAt(), accountId)).balance_kobo);
    const isReconciled = async () => (await reconcileWallet(ledgerAt(), accountId))?.difference_kobo === 0;
    return { accountId, balance, isReconciled };
  };

  /** An order of 500 NGN, open for a minute. */
  const anOrder = async (changes: Partial<Transaction> = {}) => {
    const account = await anAccount();
    const transaction = await openFor(account.accountId, changes);
    return { ...account, transaction, stored: () => readTransaction(ledgerAt(), transaction.pk) };
  };

  const openFor = (accountId: string, changes: Partial<Transaction> = {}): Promise<Transaction> => {
    const at = isoTime(NOON_MS - 60_000);
    const list_key = `${accountId}#${changes.mode ?? "live"}`;
    return anOpenTransaction(accountId, { list_key, created_at: at, updated_at: at, ...changes });
  };
  return { tables, ledgerAt, storeAt, anAccount, anOrder, openFor };
};
export type OperatorLedger = Awaited<ReturnType<typeof openOperatorLedger>>;
