import {
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { permissionSchema } from "../contract/routes.ts";
import { modeSchema } from "../contract/transaction.ts";
import type { Clock } from "../platform/time.ts";
import { accountStatus } from "./key-store.ts";

/**
 * One account's item in the ledger table. It lists its keys, so that status and whitelist reach all of them in one transaction;
 * `version` rises with every change. `owner` puts it into the index by which accounts are listed.
 */
export const accountRow = z.object({
  pk: z.string(),
  account_id: z.string(),
  name: z.string(),
  status: accountStatus,
  whitelist: z.array(z.string()),
  keys: z.array(
    z.object({
      key_id: z.string(),
      hash: z.string(),
      mode: modeSchema,
      status: z.enum(["active", "revoked"]),
      permissions: z.array(permissionSchema),
      created_at: z.iso.datetime(),
    }),
  ),
  version: z.int(),
  owner: z.literal("accounts"),
  created_at: z.iso.datetime(),
});
export type AccountRow = z.infer<typeof accountRow>;

/** Where accounts and their keys are kept. */
export type AccountStore = {
  readonly db: DynamoDBDocumentClient;
  readonly accessTable: string;
  readonly ledgerTable: string;
  readonly clock?: Clock;
};

const PK_PREFIX = "account#";
export const accountPk = (accountId: string): string => `${PK_PREFIX}${accountId}`;

/** What an operator got wrong, in a sentence. */
export class AccountError extends Error {
  override readonly name = "AccountError";
}

/** The account, read strongly; undefined where there is none. */
export const findAccount = async (
  { db, ledgerTable }: AccountStore,
  accountId: string,
): Promise<AccountRow | undefined> => {
  const { Item } = await db.send(
    new GetCommand({ TableName: ledgerTable, Key: { pk: accountPk(accountId) }, ConsistentRead: true }),
  );
  return Item && accountRow.parse(Item);
};

export const requireAccount = async (store: AccountStore, accountId: string): Promise<AccountRow> => {
  const account = await findAccount(store, accountId);
  if (account === undefined) throw new AccountError(`There is no account ${accountId}`);
  return account;
};

export const replaceAccount = async (
  { db, ledgerTable }: AccountStore,
  account: AccountRow,
  others: NonNullable<TransactWriteCommandInput["TransactItems"]>,
): Promise<void> => {
  await db.send(
    new TransactWriteCommand({
      TransactItems: [
        {
          Put: {
            TableName: ledgerTable,
            Item: { ...account, version: account.version + 1 },
            // Two operators at once: the second one reads again instead of undoing the first.
            ConditionExpression: "version = :read",
            ExpressionAttributeValues: { ":read": account.version },
          },
        },
        ...others,
      ],
    }),
  );
};

