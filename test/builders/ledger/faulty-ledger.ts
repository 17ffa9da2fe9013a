import { randomUUID } from "node:crypto";
import { afterAll, beforeEach, expect, vi } from "vitest";
import { koboFromNaira } from "../../../shared/contract/values/money.ts";
import type { AuditedLedger } from "../../../shared/ledger/ledger.ts";
import { openTransaction } from "../../../shared/ledger/open-transaction.ts";
import type { Transaction } from "../../../shared/ledger/transaction.ts";
import { emptyWallet, readWallet } from "../../../shared/ledger/wallet.ts";
import type { WithSdk } from "../../../shared/platform/aws/sdk.ts";
import { deadlineIn } from "../../../shared/platform/deadline.ts";
import type { WireFault } from "../../strict/faults.ts";
import { type DynamoDbProxy, startDynamoDbProxy } from "../dynamodb/dynamodb-proxy.ts";
import { dynamodbEndpoint } from "../dynamodb/emulator.ts";
import { emulatorClient, freshTables } from "../dynamodb/tables.ts";
import { NOON_MS } from "../run/noon.ts";
import { newTransaction } from "./transaction.ts";

/** How often the SDK sends one write: it tries each call twice. */
export const TRIES = 2;

export const isWrite = (operation: string): boolean => operation === "TransactWriteItems" || operation === "UpdateItem";

/**
 * A ledger of its own whose writes meet the faults that a test sets, and whose clock stands still unless the test moves
 * it.
 */
export type FaultyLedger = AuditedLedger &
  WithSdk & {
    nowMs: number;
    readonly proxy: DynamoDbProxy;
    /** The first `count` writes meet the fault in each of the SDK's tries. Counts the calls. */
    readonly firstWrites: (count: number, fault: WireFault) => { readonly writes: number };
    /** The same of the SDK's tries. */
    readonly firstTries: (count: number, fault: ReturnType<DynamoDbProxy["fault"]>) => { readonly writes: number };
    /** Every write meets a conflict and takes 4 s of the mocked clock. Counts the calls. */
    readonly neverFree: () => { readonly writes: number };
    /** Creates a wallet; resolves with its account. */
    readonly aWallet: (naira: number) => Promise<string>;
    /** A new transaction for 500 NGN, which is not written. */
    readonly aTransaction: (accountId: string, changes?: Partial<Transaction>) => Transaction;
    /** The same, opened in a wallet that it empties. */
    readonly anOpenTransaction: (changes?: Partial<Transaction>) => Promise<Transaction>;
    /** In NGN. */
    readonly balanceOf: (accountId: string) => Promise<number>;
    /** Noon, no fault, and no backoff. */
    readonly reset: () => void;
  };

export const openFaultyLedger = async (): Promise<FaultyLedger> => {
  const proxy = await startDynamoDbProxy(dynamodbEndpoint);
  const db = emulatorClient(proxy.endpoint);
  const { ledgerTable: table, auditTable } = await freshTables();
  const ledger: FaultyLedger = {
    db,
    table,
    auditTable,
    nowMs: NOON_MS,
    clock: () => ledger.nowMs,
    proxy,
    // The SDK does not retry a conflict.
    firstWrites: (count, fault) => ledger.firstTries(fault === "conflict" ? count : count * TRIES, fault),
    firstTries: (count, fault) => {
      const seen = { writes: 0 };
      proxy.fault = ({ operation }) => {
        if (!isWrite(operation)) return undefined;
        seen.writes += 1;
        return seen.writes <= count ? fault : undefined;
      };
      return seen;
    },
    neverFree: () => {
      const begunMs = Date.now();
      const seen = { writes: 0 };
      vi.spyOn(Date, "now").mockImplementation(() => begunMs + seen.writes * 4_000);
      proxy.fault = ({ operation }) => {
        if (!isWrite(operation)) return undefined;
        seen.writes += 1;
        return "conflict";
      };
      return seen;
    },
    aWallet: async (naira) => {
      const accountId = `acc_${randomUUID()}`;
      const Item = { ...emptyWallet(accountId, NOON_MS), balance_kobo: koboFromNaira(naira) };
      await db.put({ TableName: table, Item });
      return accountId;
    },
    aTransaction: newTransaction,
    anOpenTransaction: async (changes) => {
      const transaction = ledger.aTransaction(await ledger.aWallet(500), changes);
      expect(await openTransaction(ledger, transaction, [], deadlineIn(29_000))).toEqual({ kind: "opened" });
      return transaction;
    },
    balanceOf: async (accountId) => (await readWallet(ledger, accountId)).balance_kobo / 100,
    reset: () => {
      proxy.fault = () => undefined;
      ledger.nowMs = NOON_MS;
      vi.restoreAllMocks();
      vi.spyOn(Math, "random").mockReturnValue(0);
    },
  };
  return ledger;
};

/** One for the tests of the importing file, which is reset before each. */
export const faultyLedgerForTests = async (): Promise<FaultyLedger> => {
  const ledger = await openFaultyLedger();
  beforeEach(() => ledger.reset());
  afterAll(() => ledger.proxy.stop());
  return ledger;
};
