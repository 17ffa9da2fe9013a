import type { PutCommandInput } from "@aws-sdk/lib-dynamodb";
import { isConditionFailure } from "../platform/aws/errors.ts";
import { retryContention } from "../platform/backoff.ts";
import type { Table } from "./ledger.ts";

type Condition = Pick<
  PutCommandInput,
  "ConditionExpression" | "ExpressionAttributeNames" | "ExpressionAttributeValues"
>;

/** Puts an item if the stored one meets the condition; resolves with whether it did. */
export const putIf = async <Item extends { readonly pk: string }>(
  { db, table }: Table,
  item: Item,
  when: Condition,
): Promise<boolean> => {
  const command: PutCommandInput = { TableName: table, Item: item, ...when };
  try {
    await retryContention(() => db.put(command));
    return true;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    return false;
  }
};
