import type { PutCommandInput } from "@aws-sdk/lib-dynamodb";
import { isConditionFailure } from "../platform/aws/errors.ts";
import { retryContention } from "../platform/backoff.ts";
import type { Table } from "./ledger.ts";

type Condition = Pick<
  PutCommandInput,
  "ConditionExpression" | "ExpressionAttributeNames" | "ExpressionAttributeValues"
>;

/** Puts an item if the stored one meets the condition; resolves with whether it did. */
export const putIf = async ({ db, table }: Table, Item: { readonly pk: string }, when: Condition): Promise<boolean> => {
  const command: PutCommandInput = { TableName: table, Item, ...when };
  try {
    await retryContention(() => db.put(command));
    return true;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    return false;
  }
};
