import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { readTransaction, readTransactions } from "./find-transactions.ts";
import { settleTarget } from "./settle-transaction.ts";
import type { Ledger } from "./transact.ts";
import { pkOfReference, referenceOf, type Transaction, transactionSchema } from "./transaction.ts";

/** What the index by upstream reference knows of a transaction. */
const namedTransaction = settleTarget.extend({ status: transactionSchema.shape.status });
export type IndexedTransaction = z.infer<typeof namedTransaction>;

/** The transactions that bear an upstream reference. The index lags behind the table by moments. */
export const findByUpstreamReference = async (
  { db, table }: Ledger,
  reference: string,
): Promise<readonly IndexedTransaction[]> => {
  const { Items = [] } = await db.send(
    new QueryCommand({
      TableName: table,
      IndexName: "by_upstream_reference",
      KeyConditionExpression: "upstream_reference = :reference",
      ExpressionAttributeValues: { ":reference": reference },
    }),
  );
  return z.array(namedTransaction).parse(Items);
};

/** The transaction whose own reference this is, read strongly. An upstream reference that only looks like one of ours is none. */
export const findByOwnReference = async (ledger: Ledger, reference: string): Promise<Transaction | undefined> => {
  const pk = pkOfReference(reference);
  const transaction = pk === undefined ? undefined : await readTransaction(ledger, pk);
  return transaction !== undefined && referenceOf(transaction) === reference ? transaction : undefined;
};

const openKey = z.object({ pk: z.string(), created_at: z.iso.datetime() });
type OpenKey = z.infer<typeof openKey>;

/** Keys of live transactions that are `processing`, oldest first. */
const openKeys = async (
  { db, table }: Ledger,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<readonly OpenKey[]> => {
  const keys: OpenKey[] = [];
  let start: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await db.send(
      new QueryCommand({
        TableName: table,
        IndexName: "by_open",
        KeyConditionExpression: "#open = :live AND created_at BETWEEN :from AND :to",
        ExpressionAttributeNames: { "#open": "open" },
        ExpressionAttributeValues: { ":live": "live", ":from": from, ":to": to },
        ...(start && { ExclusiveStartKey: start }),
      }),
    );
    keys.push(...z.array(openKey).parse(Items));
    start = LastEvaluatedKey;
  } while (start !== undefined);
  return keys;
};

/** The same with their items, read strongly; what has ended since is left out. */
export const openTransactions = async (
  ledger: Ledger,
  range: { readonly from: string; readonly to: string },
): Promise<readonly Transaction[]> => {
  const transactions = await readTransactions(ledger, await openKeys(ledger, range));
  return transactions.filter(({ status }) => status === "processing");
};
