import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCheckpoint } from "../../../shared/ledger/checkpoint.ts";
import type { Ledger } from "../../../shared/ledger/ledger.ts";
import { readStatement } from "../../../shared/ledger/statement.ts";
import { isoTime, systemClock } from "../../../shared/platform/time.ts";
import {
  type Reconciliation,
  reconcileAndCheckpoint,
  reconcileWallet,
} from "../../../shared/reconciliation/reconcile-wallet.ts";
import { startDynoxide } from "../../../tools/local/dynamodb.ts";
import { localAwsEnvironment, setEnvironment } from "../../../tools/local/local-aws.ts";
import { createTables, tableNames } from "../../../tools/local/tables.ts";
import { emulatorClientAt } from "../../builders/emulator-client.ts";
import { createClient } from "../../load/client.ts";
import { openFreshGateway } from "../fresh-gateway.ts";
import type { Say } from "../part.ts";
import { median, timedMs } from "../samples.ts";
import { importTables } from "./imported-tables.ts";
import { type BusyAccount, openBusyAccount, transactionsOf } from "./ledger-rows.ts";

export const transactionCounts = [10, 100, 1_000, 10_000, 100_000] as const;
const MONTH_MS = 30 * 24 * 3_600_000;
const PAGES = 15;
const WARM_UP_PAGES = 5;
/** Statements and proofs of a large account take seconds: the largest is measured once. */
const repeatsOf = (transactions: number): number => (transactions > 10_000 ? 1 : transactions > 1_000 ? 3 : 7);

export type TransactionFigures = {
  readonly transactions: number;
  /** The first page of the list, over loopback. */
  readonly pageMs: number;
  /** Of the last month. */
  readonly statementMs: number;
  /** From the beginning. */
  readonly proofMs: number;
  /** From where the proof before left off, as each day's does. */
  readonly nextProofMs: number;
};

/** Accounts with a year of transactions behind them. */
export const measureTransactions = async (say: Say): Promise<readonly TransactionFigures[]> => {
  const folder = mkdtempSync(join(tmpdir(), "growth-"));
  try {
    const { tables, accounts } = await prepareTables(folder, say);
    const db = emulatorClientAt(tables.endpoint);
    const ledger: Ledger = { db, table: tableNames.ledger, clock: systemClock };
    try {
      const pagesMs = await measurePages(tables.endpoint, accounts);
      const figures: TransactionFigures[] = [];
      for (const [position, account] of accounts.entries()) {
        figures.push({ ...(await measureBooks(ledger, account)), pageMs: pagesMs[position] ?? Number.NaN });
      }
      return figures;
    } finally {
      db.destroy();
      await tables.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const prepareTables = async (folder: string, say: Say) => {
  const empty = await startDynoxide({ pidFile: join(folder, "empty.pid"), logFile: join(folder, "empty.log") });
  try {
    await createTables(empty.endpoint);
    const db = emulatorClientAt(empty.endpoint);
    const ledger: Ledger = { db, table: tableNames.ledger, clock: systemClock };
    const accounts: BusyAccount[] = [];
    for (const count of transactionCounts) accounts.push(await openBusyAccount(ledger, tableNames.access, count));
    db.destroy();
    say("importing a ledger with a year of transactions");
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
    ACCESS_TABLE: tableNames.access,
    LEDGER_TABLE: tableNames.ledger,
    REFERENCE_KEY_SECRET_ID: "reference-key",
    ...localAwsEnvironment({ dynamodb: endpoint, sqs: endpoint, secretsManager: endpoint }),
  });
  const gateway = await openFreshGateway(["read-account"]);
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
): Promise<Omit<TransactionFigures, "pageMs">> => {
  const nowMs = Date.now();
  const month = { from: isoTime(nowMs - MONTH_MS), to: isoTime(nowMs) };
  const repeats = repeatsOf(transactions);
  const statementMs = await middleMs(repeats, async () => {
    const { closing_kobo } = await readStatement(ledger, accountId, month);
    if (closing_kobo <= 0) throw new Error("The statement does not end with what is left in the wallet");
  });
  const proofMs = await middleMs(repeats, () => prove(ledger, accountId));
  await reconcileAndCheckpoint(ledger, await readCheckpoint(ledger, accountId));
  const nextProofMs = await middleMs(repeats, () => prove(ledger, accountId));
  return { transactions, statementMs, proofMs, nextProofMs };
};

const middleMs = async (repeats: number, work: () => Promise<unknown>): Promise<number> => {
  const samplesMs: number[] = [];
  while (samplesMs.length < repeats) samplesMs.push(await timedMs(work));
  return median(samplesMs);
};

/** A proof that does not prove would be no figure. */
const prove = async (ledger: Ledger, accountId: string): Promise<Reconciliation> => {
  const proof = await reconcileWallet(ledger, accountId);
  if (proof?.difference_kobo !== 0) throw new Error(`The wallet is not proved: ${JSON.stringify(proof)}`);
  return proof;
};
