import { join } from "node:path";
import { DAY_MS } from "../../../shared/contract/values/durations.ts";
import { readCheckpoint } from "../../../shared/ledger/checkpoint.ts";
import type { Ledger } from "../../../shared/ledger/ledger.ts";
import { isoTime, systemClock } from "../../../shared/platform/time.ts";
import {
  type Reconciliation,
  reconcileAndCheckpoint,
  reconcileWallet,
} from "../../../shared/reconciliation/reconcile-wallet.ts";
import { emulatorClientAt } from "../../../test/builders/dynamodb/emulator-client.ts";
import { readStatement } from "../../../test/builders/ledger/statement.ts";
import { startDynoxide } from "../../../tools/local/dynoxide.ts";
import { localAwsEnvironment, setEnvironment } from "../../../tools/local/local-aws.ts";
import { createTables, localTableNames } from "../../../tools/local/tables.ts";
import { temporaryFolder } from "../../../tools/usage/temporary-folder.ts";
import { createClient } from "../../load/client.ts";
import { openColdGateway } from "../cold-gateway.ts";
import { sizes, times } from "../extent.ts";
import type { Report } from "../part.ts";
import { serviceEnvironment } from "../service-environment.ts";
import { median, timedMs } from "../statistics.ts";
import { importTables } from "./imported-tables.ts";
import { type BusyAccount, openBusyAccount, transactionsOf } from "./ledger-items.ts";

export const transactionCounts = sizes([10, 100, 1_000, 10_000, 100_000]);
const MONTH_MS = 30 * DAY_MS;
const PAGES = times(15);
const WARM_UP_PAGES = times(5);
/** Statements and reconciliations of a large account take seconds, so that the largest is measured once. */
const sampleCount = (transactions: number): number => times(transactions > 10_000 ? 1 : transactions > 1_000 ? 3 : 7);

export type TransactionResults = {
  readonly transactions: number;
  /** The first page of the list, over loopback. */
  readonly pageMs: number;
  /** The statement of the last month. */
  readonly statementMs: number;
  /** From the beginning. */
  readonly reconciliationMs: number;
  /** From the checkpoint of the previous reconciliation, as each day. */
  readonly nextReconciliationMs: number;
};

/** Measures accounts with a year of transactions. */
export const measureTransactions = async (report: Report): Promise<readonly TransactionResults[]> => {
  const { tables, accounts } = await prepareTables(temporaryFolder("growth-"), report);
  const db = emulatorClientAt(tables.endpoint);
  const ledger: Ledger = { db, table: localTableNames.ledger, clock: systemClock };
  try {
    const pagesMs = await measurePages(tables.endpoint, accounts);
    const results: TransactionResults[] = [];
    for (const [position, account] of accounts.entries()) {
      results.push({ ...(await measureBooks(ledger, account)), pageMs: pagesMs[position] ?? Number.NaN });
    }
    return results;
  } finally {
    db.destroy();
    await tables.stop();
  }
};

const prepareTables = async (folder: string, report: Report) => {
  const empty = await startDynoxide({ pidFile: join(folder, "empty.pid"), logFile: join(folder, "empty.log") });
  try {
    await createTables(empty.endpoint);
    const db = emulatorClientAt(empty.endpoint);
    const ledger: Ledger = { db, table: localTableNames.ledger, clock: systemClock };
    const accounts: BusyAccount[] = [];
    for (const count of transactionCounts) accounts.push(await openBusyAccount(ledger, localTableNames.access, count));
    db.destroy();
    report("importing a ledger with a year of transactions");
    return { accounts, tables: await importTables(empty.endpoint, allRows(accounts), folder) };
  } finally {
    await empty.stop();
  }
};

async function* allRows(accounts: readonly BusyAccount[]) {
  const nowMs = Date.now();
  for (const account of accounts) yield* transactionsOf(account, nowMs);
}

const measurePages = async (endpoint: string, accounts: readonly BusyAccount[]): Promise<readonly number[]> => {
  const restore = setEnvironment({
    ...serviceEnvironment(),
    ...localAwsEnvironment({ dynamodb: endpoint, sqs: endpoint, secretsManager: endpoint }),
  });
  const gateway = await openColdGateway(["read-account"]);
  const client = createClient(gateway.baseUrl);
  const samples = accounts.map((): number[] => []);
  try {
    await gateway.begin();
    for (let count = 0; count < WARM_UP_PAGES + PAGES; count += 1) {
      for (const [position, { key }] of accounts.entries()) {
        const headers = { authorization: `Bearer ${key}` };
        const reply = await client.send({ method: "GET", path: "/transactions", headers });
        if (reply.kind !== "answered" || reply.status !== 200) throw new Error(`No page: ${JSON.stringify(reply)}`);
        if (count >= WARM_UP_PAGES) samples[position]?.push(reply.durationMs);
      }
    }
    return samples.map(median);
  } finally {
    client.close();
    await gateway.close();
    restore();
  }
};

const measureBooks = async (
  ledger: Ledger,
  { accountId, transactions }: BusyAccount,
): Promise<Omit<TransactionResults, "pageMs">> => {
  const nowMs = Date.now();
  const month = { from: isoTime(nowMs - MONTH_MS), to: isoTime(nowMs) };
  const count = sampleCount(transactions);
  const statementMs = await medianMs(count, async () => {
    const { closing_kobo } = await readStatement(ledger, accountId, month);
    if (closing_kobo <= 0) throw new Error("The statement has no closing balance");
  });
  const reconciliationMs = await medianMs(count, () => reconcile(ledger, accountId));
  await reconcileAndCheckpoint(ledger, await readCheckpoint(ledger, accountId));
  const nextReconciliationMs = await medianMs(count, () => reconcile(ledger, accountId));
  return { transactions, statementMs, reconciliationMs, nextReconciliationMs };
};

const medianMs = async (count: number, work: () => Promise<unknown>): Promise<number> => {
  const samplesMs: number[] = [];
  while (samplesMs.length < count) samplesMs.push(await timedMs(work));
  return median(samplesMs);
};

/** Reconciles the wallet, and fails if its balance differs from its entries. */
const reconcile = async (ledger: Ledger, accountId: string): Promise<Reconciliation> => {
  const reconciliation = await reconcileWallet(ledger, accountId);
  if (reconciliation?.difference_kobo !== 0)
    throw new Error(`The wallet does not reconcile: ${JSON.stringify(reconciliation)}`);
  return reconciliation;
};
