import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { PutCommand, type PutCommandInput } from "@aws-sdk/lib-dynamodb";
import { retryContention } from "../platform/backoff.ts";
import type { Table } from "./ledger.ts";

type Condition = Pick<
  PutCommandInput,
  "ConditionExpression" | "ExpressionAttributeNames" | "ExpressionAttributeValues"
>;

/** Puts an item if the stored one meets the condition; resolves with whether it did. */
export const putIf = async ({ db, table }: Table, Item: { readonly pk: string }, when: Condition): Promise<boolean> => {
  const command = new PutCommand({ TableName: table, Item, ...when });
  try {
    await retryContention(() => db.send(command));
    return true;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return false;
  }
};
