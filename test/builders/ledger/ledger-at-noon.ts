import { createAccount } from "../../../shared/access/accounts.ts";
import { koboFromNaira } from "../../../shared/contract/values/money.ts";
import type { AuditedLedger } from "../../../shared/ledger/ledger.ts";
import { fundWallet } from "../../../shared/ledger/ledger-entry.ts";
import { openTransaction } from "../../../shared/ledger/open-transaction.ts";
import { walletPk } from "../../../shared/ledger/schema.ts";
import type { Transaction } from "../../../shared/ledger/transaction.ts";
import type { WithSdk } from "../../../shared/platform/aws/sdk.ts";
import { deadlineIn } from "../../../shared/platform/deadline.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { beforeEachCall } from "../dynamodb/before-each-call.ts";
import { emulatorClient, freshTables } from "../dynamodb/tables.ts";
import { NOON_MS } from "../run/noon.ts";
import { newTransaction } from "./transaction.ts";

/** A ledger of its own, whose clock stands still unless the test moves it. */
export type LedgerAtNoon = AuditedLedger &
  WithSdk & {
    nowMs: number;
    /** The same tables, by a client without a proxy before the emulator. */
    readonly tables: Awaited<ReturnType<typeof freshTables>>;
    /** An account with that much in its wallet. */
    readonly anAccount: (naira: number) => Promise<string>;
    /** An order for 500 NGN as of now, which is not written. */
    readonly aTransaction: (accountId: string, changes?: Partial<Transaction>) => Transaction;
    /** The same, opened: its debit is written. */
    readonly anOpenTransaction: (accountId: string, changes?: Partial<Transaction>) => Promise<Transaction>;
    /** Changes a wallet without an entry, as nothing in the service does. */
    readonly addToWallet: (accountId: string, attribute: "balance_kobo" | "version", by: number) => Promise<void>;
    /** Gives a transaction a form that a later release may write. */
    readonly makeUnreadable: (pk: string) => Promise<void>;
    /** Runs the callback before each read of a wallet, until the test's mocks are restored. */
    readonly beforeEachWalletRead: (callback: (accountId: string) => Promise<void>) => void;
  };

/** `endpoint`: a proxy before the emulator. */
export const openLedgerAtNoon = async (endpoint?: string): Promise<LedgerAtNoon> => {
  const tables = await freshTables();
  const ledger: LedgerAtNoon = {
    db: endpoint === undefined ? tables.db : emulatorClient(endpoint),
    table: tables.ledgerTable,
    auditTable: tables.auditTable,
    nowMs: NOON_MS,
    clock: () => ledger.nowMs,
    tables,
    anAccount: async (naira) => {
      const store = { ...tables, clock: ledger.clock };
      const { account_id: accountId } = await createAccount(store, { name: "test", whitelist: [] });
      await fundWallet(ledger, { accountId, fundingId: `first-${accountId}`, amountKobo: koboFromNaira(naira) });
      return accountId;
    },
    aTransaction: (accountId, changes) => {
      const at = isoTime(ledger.nowMs);
      return newTransaction(accountId, { created_at: at, updated_at: at, ...changes });
    },
    anOpenTransaction: async (accountId, changes) => {
      const transaction = ledger.aTransaction(accountId, changes);
      const { kind } = await openTransaction(ledger, transaction, [], deadlineIn(120_000));
      if (kind !== "opened") throw new Error(`The transaction was not opened: ${kind}`);
      return transaction;
    },
    addToWallet: async (accountId, attribute, by) => {
      await tables.db.update({
        TableName: tables.ledgerTable,
        Key: { pk: walletPk(accountId) },
        UpdateExpression: "ADD #attribute :by",
        ExpressionAttributeNames: { "#attribute": attribute },
        ExpressionAttributeValues: { ":by": by },
      });
    },
    makeUnreadable: async (pk) => {
      await tables.db.update({
        TableName: tables.ledgerTable,
        Key: { pk },
        UpdateExpression: "SET #type = :later",
        ExpressionAttributeNames: { "#type": "type" },
        ExpressionAttributeValues: { ":later": "of a later release" },
      });
    },
    beforeEachWalletRead: (callback) => {
      const prefix = walletPk("");
      beforeEachCall(ledger.db, "get", async ({ Key }) => {
        const pk = String(Key?.pk);
        if (pk.startsWith(prefix)) await callback(pk.slice(prefix.length));
      });
    },
  };
  return ledger;
};
