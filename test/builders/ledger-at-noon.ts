import { randomUUID } from "node:crypto";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { createAccount } from "../../shared/access/accounts.ts";
import type { Ledger } from "../../shared/ledger/ledger.ts";
import { fundWallet } from "../../shared/ledger/ledger-entry.ts";
import { openTransaction } from "../../shared/ledger/open-transaction.ts";
import { transactionPk, walletPk } from "../../shared/ledger/schema.ts";
import type { Transaction } from "../../shared/ledger/transaction.ts";
import { deadlineIn } from "../../shared/platform/deadline.ts";
import { koboFromNaira } from "../../shared/platform/money.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { NOON_MS } from "./noon.ts";
import { emulatorClient, freshTables } from "./tables.ts";
import { aTransaction } from "./transaction.ts";

/** A ledger of its own, whose clock stands still unless the test moves it. */
export type LedgerAtNoon = Ledger & {
  nowMs: number;
  /** The same tables by a client that goes past whatever stands before the emulator. */
  readonly tables: Awaited<ReturnType<typeof freshTables>>;
  /** An account with that much in its wallet. */
  readonly anAccount: (naira: number) => Promise<string>;
  /** An order for 500 NGN as of now, which is not written. */
  readonly aTransaction: (accountId: string, changes?: Partial<Transaction>) => Transaction;
  /** The same, made. */
  readonly anOpenTransaction: (accountId: string, changes?: Partial<Transaction>) => Promise<Transaction>;
  /** Changes a wallet as nothing in the service does: no entry explains it. */
  readonly addToWallet: (accountId: string, attribute: "balance_kobo" | "version", by: number) => Promise<void>;
};

/** `endpoint` is that of something that stands before the emulator. */
export const openLedgerAtNoon = async (endpoint?: string): Promise<LedgerAtNoon> => {
  const tables = await freshTables();
  const ledger: LedgerAtNoon = {
    db: endpoint === undefined ? tables.db : emulatorClient(endpoint),
    table: tables.ledgerTable,
    nowMs: NOON_MS,
    clock: () => ledger.nowMs,
    tables,
    anAccount: async (naira) => {
      const store = { ...tables, clock: ledger.clock };
      const { account_id: accountId } = await createAccount(store, { name: "test", whitelist: [] });
      await fundWallet(ledger, { accountId, fundingId: `first-${accountId}`, amountKobo: koboFromNaira(naira) });
      return accountId;
    },
    aTransaction: (accountId, changes = {}) => {
      const at = isoTime(ledger.nowMs);
      const own = { owner: `${accountId}#live`, account_id: accountId, attempt: randomUUID() };
      return aTransaction({ pk: transactionPk(randomUUID()), ...own, created_at: at, updated_at: at, ...changes });
    },
    anOpenTransaction: async (accountId, changes) => {
      const transaction = ledger.aTransaction(accountId, changes);
      const { kind } = await openTransaction(ledger, transaction, [], deadlineIn(120_000));
      if (kind !== "opened") throw new Error(`The order was not made: ${kind}`);
      return transaction;
    },
    addToWallet: async (accountId, attribute, by) => {
      await tables.db.send(
        new UpdateCommand({
          TableName: tables.ledgerTable,
          Key: { pk: walletPk(accountId) },
          UpdateExpression: "ADD #attribute :by",
          ExpressionAttributeNames: { "#attribute": attribute },
          ExpressionAttributeValues: { ":by": by },
        }),
      );
    },
  };
  return ledger;
};
