import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from "@aws-sdk/client-dynamodb-streams";
import { paginateScan } from "@aws-sdk/lib-dynamodb";
import { expect } from "vitest";
import * as z from "zod";
import type { Ledger } from "../../shared/ledger/ledger.ts";
import { ledgerEntrySchema } from "../../shared/ledger/ledger-entry.ts";
import { isTransactionPk } from "../../shared/ledger/schema.ts";
import { type Transaction, transactionSchema } from "../../shared/ledger/transaction.ts";
import type { WithSdk } from "../../shared/platform/aws/sdk.ts";
import { localClient } from "../../tools/local/local-aws.ts";

const walletSchema = z.object({ account_id: z.string(), balance_kobo: z.int(), version: z.int() });
type Wallet = z.output<typeof walletSchema>;

/** The content of the ledger table, read by a scan and without the service's code. */
export type LedgerState = {
  readonly transactions: readonly Transaction[];
  readonly wallets: readonly Wallet[];
  /** Fundings and adjustments by account. */
  readonly entriesKobo: ReadonlyMap<string, number>;
};

export const readLedgerState = async ({ db, table }: Ledger & WithSdk): Promise<LedgerState> => {
  const transactions: Transaction[] = [];
  const wallets: Wallet[] = [];
  const entriesKobo = new Map<string, number>();
  for await (const { Items = [] } of paginateScan({ client: db }, { TableName: table, ConsistentRead: true })) {
    for (const item of Items) {
      const pk = String(item.pk);
      if (isTransactionPk(pk)) transactions.push(transactionSchema.parse(item));
      if (pk.startsWith("wallet#")) wallets.push(walletSchema.parse(item));
      if (!/^(funding|adjustment)#/.test(pk)) continue;
      const { account_id, amount_kobo } = ledgerEntrySchema.parse(item);
      entriesKobo.set(account_id, (entriesKobo.get(account_id) ?? 0) + amount_kobo);
    }
  }
  return { transactions, wallets, entriesKobo };
};

/** The balance of every wallet is its fundings and adjustments minus its live transactions that are not `failed`. */
export const expectBalancesMatchEntries = ({ transactions, wallets, entriesKobo }: LedgerState): void => {
  const dueKobo = new Map(entriesKobo);
  for (const { account_id, mode, status, amount_kobo } of transactions) {
    if (mode === "live" && status !== "failed") {
      dueKobo.set(account_id, (dueKobo.get(account_id) ?? 0) - amount_kobo);
    }
  }
  for (const { account_id, balance_kobo } of wallets) {
    expect(balance_kobo, `The balance of ${account_id}`).toBe(dueKobo.get(account_id) ?? 0);
  }
};

const image = z.object({
  pk: z.object({ S: z.string() }),
  balance_kobo: z.object({ N: z.coerce.number<string>() }),
  version: z.object({ N: z.coerce.number<string>() }),
});

/**
 * The table's stream shows every balance of every wallet, without a gap in its versions, and none is negative. A count
 * of queued orders alone leaves balance and version.
 */
export const expectBalancesWereNeverNegative = async ({ table }: Ledger): Promise<void> => {
  const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? "";
  const wallets = new Map<string, { readonly version: number; readonly balanceKobo: number }>();
  for await (const record of streamRecords(endpoint, table)) {
    const { data: wallet } = image.safeParse(record);
    if (wallet === undefined || !wallet.pk.S.startsWith("wallet#")) continue;
    expect(wallet.balance_kobo.N, wallet.pk.S).toBeGreaterThanOrEqual(0);
    const previous = wallets.get(wallet.pk.S);
    const current = { version: wallet.version.N, balanceKobo: wallet.balance_kobo.N };
    wallets.set(wallet.pk.S, current);
    if (current.version === previous?.version) expect(current, wallet.pk.S).toEqual(previous);
    else expect(current.version, wallet.pk.S).toBe((previous?.version ?? -1) + 1);
  }
  expect(wallets.size).toBeGreaterThan(0);
};

/** The new images of all changes until now, oldest first. */
async function* streamRecords(endpoint: string, table: string): AsyncGenerator<unknown, void, void> {
  const tables = new DynamoDBClient(localClient(endpoint));
  const streams = new DynamoDBStreamsClient(localClient(endpoint));
  try {
    const { Table } = await tables.send(new DescribeTableCommand({ TableName: table }));
    const StreamArn = Table?.LatestStreamArn;
    const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }));
    for (const { ShardId } of StreamDescription?.Shards ?? []) {
      const start = { StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" as const };
      let iterator = (await streams.send(new GetShardIteratorCommand(start))).ShardIterator;
      while (iterator !== undefined) {
        const page = await streams.send(new GetRecordsCommand({ ShardIterator: iterator, Limit: 1_000 }));
        const records = page.Records ?? [];
        for (const { dynamodb } of records) yield dynamodb?.NewImage;
        iterator = records.length === 0 ? undefined : page.NextShardIterator;
      }
    }
  } finally {
    tables.destroy();
    streams.destroy();
  }
}
