import { randomUUID } from "node:crypto";
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { permissionSchema } from "../contract/routes.ts";
import { modeSchema } from "../contract/transaction.ts";
import { type AuditEntry, auditPut } from "../ledger/audit.ts";
import { getItem } from "../ledger/get-item.ts";
import { indexedAccounts } from "../ledger/query-index.ts";
import { ACCOUNTS_OWNER, accountPk } from "../ledger/schema.ts";
import { operatorRetries, transact, transactOnce, type WriteResult, type Writes } from "../ledger/transact.ts";
import { isContention } from "../platform/backoff.ts";
import type { Clock } from "../platform/time.ts";
import { accountStatus } from "./key-store.ts";

/** Where an account wants to be told, and what has become of telling it. Secrets are sealed; see shared/webhooks/endpoint.ts. */
const webhookField = z.object({
  url: z.string().optional(),
  status: z.enum(["on", "off"]),
  /** Since when no event was taken. */
  failing_since: z.iso.datetime().optional(),
  secret: z.string(),
  /** The one before, which signs too until `previous_until`. */
  previous_secret: z.string().optional(),
  previous_until: z.iso.datetime().optional(),
});
export type WebhookField = z.infer<typeof webhookField>;

/**
 * One account's item in the ledger table. It lists its keys, so that status and whitelist reach all of them in one transaction;
 * `version` rises with every change. `owner` puts it into the index by which accounts are listed.
 */
export const accountSchema = z.object({
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
      /** When it stops by itself: it was rotated. */
      expires_at: z.iso.datetime().optional(),
    }),
  ),
  webhook: webhookField.optional(),
  version: z.int(),
  owner: z.literal(ACCOUNTS_OWNER),
  created_at: z.iso.datetime(),
});
export type Account = z.infer<typeof accountSchema>;

/** Where accounts and their keys are kept. */
export type AccountStore = {
  readonly db: DynamoDBDocumentClient;
  readonly accessTable: string;
  readonly ledgerTable: string;
  readonly clock?: Clock;
  /** The operator's act behind a change, kept in the change's own transaction. It is told the account as it will be. */
  readonly audit?: (account: Account) => AuditEntry;
};

/** The part of it that holds the accounts themselves. */
export type AccountTable = Pick<AccountStore, "db" | "ledgerTable" | "audit">;

/** What stands on record about a change, as a part of its transaction. */
export const auditWrites = ({ ledgerTable, audit }: AccountTable, account: Account): Writes =>
  audit ? [auditPut(ledgerTable, audit(account))] : [];

/** What an operator got wrong, in a sentence. */
export class AccountError extends Error {
  override readonly name = "AccountError";
}

/** The account, read strongly; undefined where there is none. */
export const findAccount = async ({ db, ledgerTable }: AccountTable, accountId: string): Promise<Account | undefined> =>
  getItem({ db, table: ledgerTable }, accountPk(accountId), accountSchema);

export const requireAccount = async (store: AccountTable, accountId: string): Promise<Account> => {
  const account = await findAccount(store, accountId);
  if (account === undefined) throw new AccountError(`There is no account ${accountId}`);
  return account;
};

/** A write to one key's item beside the account's own. */
export type KeyWrite = {
  readonly keyId: string;
  readonly write: Writes[number];
  /** If the condition fails: `skip` changes the account without this write, `fail` throws an AccountError. */
  readonly whenRefused: "skip" | "fail";
};

/** What else a transaction has room for beside the account and the record of the change. It takes 100 items. */
export const KEY_WRITES_MAX = 90;

/** Puts an account in the place of the one that was read, together with writes to its keys' items. */
export const replaceAccount = (
  store: AccountTable,
  account: Account,
  keyWrites: readonly KeyWrite[],
): Promise<WriteResult> =>
  transactOnce(
    store.db,
    [
      {
        Put: {
          TableName: store.ledgerTable,
          Item: { ...account, version: account.version + 1 },
          // Two operators at once: the second one reads again instead of undoing the first.
          ConditionExpression: "version = :read",
          ExpressionAttributeValues: { ":read": account.version },
        },
      },
      ...keyWrites.map(({ write }) => write),
      ...auditWrites(store, account),
    ],
    randomUUID(),
  );

/**
 * Which key writes a condition refused, by their positions; empty where the account has changed since it was read, or where another
 * write held an item: then the change is tried again.
 */
const refusedKeyWrites = (error: unknown): readonly number[] => {
  if (!(error instanceof TransactionCanceledException) || isContention(error)) return [];
  const isRefused = (error.CancellationReasons ?? []).map(({ Code }) => Code === "ConditionalCheckFailed");
  if (isRefused[0]) return [];
  return isRefused.flatMap((refused, position) => (refused ? [position - 1] : []));
};

/** What one attempt at a change came to. */
type Attempted<Result> =
  | { readonly kind: "done"; readonly result: Result }
  | Exclude<WriteResult, { readonly kind: "written" }>;

/** Calls `attempt`, which reads anew what it changes, until it is done. Other writers of the account are waited for. */
export const retryUntilDone = async <Result>(attempt: () => Promise<Attempted<Result>>): Promise<Result> => {
  const nextAttempt = operatorRetries();
  for (;;) {
    const attempted = await attempt();
    if (attempted.kind === "done") return attempted.result;
    // A copy that may have been written must not be followed by another change on top of it.
    if (!attempted.isCertain || !(await nextAttempt())) throw attempted.error;
  }
};

const disagreement = (accountId: string, keyId: string): AccountError =>
  new AccountError(
    `Ledger and access table do not agree about the key ${keyId} of ${accountId}: run keys reconcile, and then this again`,
  );

/**
 * Changes an account, and what `alongside` says of its keys' items in the same transaction. `change` may be called several times,
 * each time with the account as it stands; undefined means that there is nothing to change. Resolves with the account as it
 * stands then. More key writes than a transaction has room for follow it one by one: the first ones must be those that matter.
 */
export const changeAccount = (
  store: AccountTable,
  accountId: string,
  change: (account: Account) => Account | undefined,
  alongside: (changed: Account, before: Account) => readonly KeyWrite[] = () => [],
): Promise<Account> => {
  const skipped = new Set<string>();
  return retryUntilDone(async () => {
    const account = await requireAccount(store, accountId);
    const changed = change(account);
    if (changed === undefined) return { kind: "done", result: account };
    const keyWrites = alongside(changed, account).filter(({ keyId }) => !skipped.has(keyId));
    const replaced = await replaceAccount(store, changed, keyWrites.slice(0, KEY_WRITES_MAX));
    if (replaced.kind !== "written") {
      for (const position of refusedKeyWrites(replaced.error)) {
        const refused = keyWrites[position];
        if (refused === undefined) continue;
        if (refused.whenRefused === "fail") throw disagreement(accountId, refused.keyId);
        skipped.add(refused.keyId);
      }
      return replaced;
    }
    for (const keyWrite of keyWrites.slice(KEY_WRITES_MAX)) await writeAlone(store, accountId, keyWrite);
    return { kind: "done", result: { ...changed, version: account.version + 1 } };
  });
};

const writeAlone = async (
  { db }: AccountTable,
  accountId: string,
  { keyId, write, whenRefused }: KeyWrite,
): Promise<void> => {
  const result = await transact(db, [write], {
    nextAttempt: operatorRetries(),
    unansweredMax: 0,
    about: { key: keyId },
  });
  if (result.kind === "written") return;
  if (result.kind !== "condition_failed") throw result.error;
  if (whenRefused === "fail") throw disagreement(accountId, keyId);
};

/** The ids of all accounts, oldest first. */
export async function* accountIds({ db, ledgerTable }: AccountTable): AsyncGenerator<string, void, void> {
  for await (const { account_id } of indexedAccounts({ db, table: ledgerTable })) yield account_id;
}
