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
import { localClient } from "../../tools/local/local-aws.ts";

const walletRow = z.object({ account_id: z.string(), balance_kobo: z.int(), version: z.int() });
type Wallet = z.output<typeof walletRow>;

/** The ledger table as it stands, read whole: no index and no rule of the service comes between. */
export type Books = {
  readonly transactions: readonly Transaction[];
  readonly wallets: readonly Wallet[];
  /** Fundings and adjustments by account, in kobo. */
  readonly booked_kobo: ReadonlyMap<string, number>;
};

export const readBooks = async ({ db, table }: Ledger): Promise<Books> => {
  const transactions: Transaction[] = [];
  const wallets: Wallet[] = [];
  const bookedKobo = new Map<string, number>();
  for await (const { Items = [] } of paginateScan({ client: db }, { TableName: table, ConsistentRead: true })) {
    for (const item of Items) {
      const pk = String(item.pk);
      if (isTransactionPk(pk)) transactions.push(transactionSchema.parse(item));
      if (pk.startsWith("wallet#")) wallets.push(walletRow.parse(item));
      if (!/^(funding|adjustment)#/.test(pk)) continue;
      const { account_id, amount_kobo } = ledgerEntrySchema.parse(item);
      bookedKobo.set(account_id, (bookedKobo.get(account_id) ?? 0) + amount_kobo);
    }
  }
  return { transactions, wallets, booked_kobo: bookedKobo };
};

/** Fundings and adjustments minus transactions that are not `failed` are the balance, of every wallet. */
export const expectMoneyIsExact = ({ transactions, wallets, booked_kobo }: Books): void => {
  const dueKobo = new Map(booked_kobo);
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

/** Each balance that any wallet ever had, from the table's stream: none negative, and no change between two of them unseen. */
export const expectBalancesWereNeverNegative = async ({ table }: Ledger): Promise<void> => {
  const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? "";
  const versions = new Map<string, number>();
  for await (const record of streamRecords(endpoint, table)) {
    const { data: wallet } = image.safeParse(record);
    if (wallet === undefined || !wallet.pk.S.startsWith("wallet#")) continue;
    expect(wallet.balance_kobo.N, wallet.pk.S).toBeGreaterThanOrEqual(0);
    expect(wallet.version.N, wallet.pk.S).toBe((versions.get(wallet.pk.S) ?? -1) + 1);
    versions.set(wallet.pk.S, wallet.version.N);
  }
  expect(versions.size).toBeGreaterThan(0);
};

/** The new images of all changes, oldest first, up to now. */
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
