import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { BATCH_KEYS_MAX } from "./batch-read.ts";
import type { Ledger } from "./transact.ts";

/** What the index by time has of an item. */
export const indexKey = z.object({ pk: z.string(), created_at: z.iso.datetime() });
export type IndexKey = z.infer<typeof indexKey>;

/** Times as the index has them, both inclusive. */
export type TimeRange = { readonly from: string; readonly to: string };

/** Everything that an owner has. */
export const ALL_TIMES: TimeRange = { from: "0000", to: "9999" };

/** The keys of one owner (an account's transactions or entries, the accounts themselves) in a time range, page by page, oldest first. */
export async function* ownedKeyPages(
  { db, table }: Pick<Ledger, "db" | "table">,
  owner: string,
  { from, to }: TimeRange,
): AsyncGenerator<readonly IndexKey[], void, void> {
  let start: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await db.send(
      new QueryCommand({
        TableName: table,
        IndexName: "by_owner",
        KeyConditionExpression: "#owner = :owner AND created_at BETWEEN :from AND :to",
        ExpressionAttributeNames: { "#owner": "owner" },
        ExpressionAttributeValues: { ":owner": owner, ":from": from, ":to": to },
        ...(start && { ExclusiveStartKey: start }),
      }),
    );
    yield z.array(indexKey).parse(Items);
    start = LastEvaluatedKey;
  } while (start !== undefined);
}

/** The same in batches that are read at once. */
export async function* ownedKeyBatches(
  ledger: Ledger,
  owner: string,
  range: TimeRange,
): AsyncGenerator<readonly IndexKey[], void, void> {
  for await (const page of ownedKeyPages(ledger, owner, range)) {
    for (let start = 0; start < page.length; start += BATCH_KEYS_MAX) yield page.slice(start, start + BATCH_KEYS_MAX);
  }
}

/** All of them. */
export const ownedKeys = async (ledger: Ledger, owner: string, range: TimeRange): Promise<readonly IndexKey[]> => {
  const keys: IndexKey[] = [];
  for await (const page of ownedKeyPages(ledger, owner, range)) keys.push(...page);
  return keys;
};
