import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { Ledger } from "./ledger.ts";

const indexKey = z.object({ pk: z.string(), created_at: z.iso.datetime() });
export type IndexKey = z.infer<typeof indexKey>;

/** All keys of one owner (an account's transactions or entries, the accounts themselves) in a time range, oldest first. */
export const ownedKeys = async (
  { db, table }: Ledger,
  owner: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<readonly IndexKey[]> => {
  const keys: IndexKey[] = [];
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
    keys.push(...z.array(indexKey).parse(Items));
    start = LastEvaluatedKey;
  } while (start !== undefined);
  return keys;
};
