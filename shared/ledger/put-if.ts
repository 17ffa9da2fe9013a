import type { PutCommandInput } from "@aws-sdk/lib-dynamodb";
import { unlessRefused } from "../platform/aws/errors.ts";
import { retryContention } from "../platform/backoff.ts";
import type { Table } from "./ledger.ts";

type Condition = Pick<
  PutCommandInput,
  "ConditionExpression" | "ExpressionAttributeNames" | "ExpressionAttributeValues"
>;

/** Puts an item if the stored one meets the condition; resolves with whether it did. */
export const putIf = <Item extends { readonly pk: string }>(
  { db, table }: Table,
  item: Item,
  when: Condition,
): Promise<boolean> => unlessRefused(retryContention(() => db.put({ TableName: table, Item: item, ...when })));

/** The condition of a put: the stored item has the version that was read, or there is none if that is 0. */
export const ifVersion = (read: number) =>
  read === 0
    ? { ConditionExpression: "attribute_not_exists(pk)" }
    : { ConditionExpression: "version = :read", ExpressionAttributeValues: { ":read": read } };
