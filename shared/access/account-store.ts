import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { duplicateWindowSchema } from "../contract/duplicate-window.ts";
import { orderLimitsSchema } from "../contract/order-limits.ts";
import { entitlementsSchema, permissionSchema } from "../contract/permission.ts";
import { modeSchema } from "../contract/transaction.ts";
import type { AuditPut } from "../ledger/audit.ts";
import { getItem } from "../ledger/get-item.ts";
import { ACCOUNTS_LIST, accountPk } from "../ledger/schema.ts";
import { operatorRetries, transact, transactOnce, type WriteResult, type Writes } from "../ledger/transact.ts";
import { walletRestriction } from "../ledger/wallet.ts";
import { isContention } from "../platform/backoff.ts";
import type { Secret } from "../platform/secrets.ts";
import type { Clock } from "../platform/time.ts";
import { priceListSchema, priceListWrites } from "../prices/price-list.ts";
import { accountStatus } from "./key-store.ts";
import { ownerSchema, ownerWrites } from "./owner-item.ts";

/** The account's webhook endpoint, as people set it. Secrets are sealed; see shared/webhooks/endpoint.ts. */
const webhookField = z.object({
  url: z.string().optional(),
  status: z.enum(["on", "off"]),
  /** Rises when a person sets or enables the endpoint, or tests it with success: its earlier failures do not count. */
  generation: z.int(),
  secret: z.string(),
  /** Secrets that sign too, the newest first: an app may have one of them while rotations repeat. */
  replaced_secrets: z.array(z.object({ secret: z.string(), until: z.iso.datetime() })),
});
export type WebhookField = z.infer<typeof webhookField>;

/**
 * An account's item in the ledger table. It lists its keys, so a change of status or whitelist reaches all of them in
 * one transaction. `version` rises with every change; `list_key` puts it into the list of accounts.
 */
export const accountSchema = z.object({
  pk: z.string(),
  account_id: z.string(),
  name: z.string(),
  status: accountStatus,
  whitelist: z.array(z.string()),
  /** What operators let it do: its keys can do no more, whatever their permissions. */
  entitlements: entitlementsSchema,
  keys: z.array(
    z.object({
      key_id: z.string(),
      hash: z.string(),
      mode: modeSchema,
      status: z.enum(["active", "revoked"]),
      permissions: z.array(permissionSchema),
      created_at: z.iso.datetime(),
      /** When a rotated key ends. */
      expires_at: z.iso.datetime().optional(),
      /** What live orders with it may be at most; its replacement has the same. */
      order_limits: orderLimitsSchema.optional(),
    }),
  ),
  webhook: webhookField.optional(),
  owners: z.array(ownerSchema),
  /** Absent until operators set a price. */
  price_list: priceListSchema.optional(),
  /** Absent: no purchase is refused because it is like an earlier one. */
  duplicate_window_s: duplicateWindowSchema.optional(),
  /** What its live orders may be at most, of all keys together. */
  order_limits: orderLimitsSchema.optional(),
  version: z.int(),
  list_key: z.literal(ACCOUNTS_LIST),
  created_at: z.iso.datetime(),
});
export type Account = z.infer<typeof accountSchema>;

/** The tables of accounts and their keys. */
export type AccountStore = {
  readonly db: DynamoDBDocumentClient;
  readonly accessTable: string;
  readonly ledgerTable: string;
  readonly clock?: Clock;
  /** Makes the checksums of new keys. */
  readonly checksumKey: Secret;
  /** Makes the audit entry of a change from the changed account; it is written in the change's own transaction. */
  readonly audit?: (account: Account) => AuditPut;
};

/** The part of the store that holds accounts. */
export type AccountTable = Pick<AccountStore, "db" | "ledgerTable" | "audit">;

/** The audit entry of a change, as a part of its transaction. */
export const auditWrites = ({ audit }: AccountTable, account: Account): Writes => (audit ? [audit(account)] : []);

/** An operator's mistake, in a sentence. */
export class AccountError extends Error {
  override readonly name = "AccountError";
}

/** The account, read strongly; undefined if it does not exist. */
export const findAccount = async ({ db, ledgerTable }: AccountTable, accountId: string): Promise<Account | undefined> =>
  getItem({ db, table: ledgerTable }, accountPk(accountId), accountSchema);

export const requireAccount = async (store: AccountTable, accountId: string): Promise<Account> => {
  const account = await findAccount(store, accountId);
  if (account === undefined) throw new AccountError(`There is no account ${accountId}`);
  return account;
};

/** A write to a key's item that accompanies a change of its account. */
export type KeyWrite = {
  readonly keyId: string;
  readonly write: Writes[number];
  /** If the condition fails: `skip` changes the account without this write, `fail` throws an AccountError. */
  readonly whenRefused: "skip" | "fail";
};

/** Key writes in one transaction, beside the account and the audit entry. A transaction takes 100 items. */
export const KEY_WRITES_MAX = 90;

const withNextVersion = (account: Account): Account => ({ ...account, version: account.version + 1 });

/**
 * Replaces the account that was read, together with writes to its keys' items. `isRestricted`: also restricts the
 * wallet, or ends its restriction; undefined leaves the wallet as it is. `before`: the account whose owners differ.
 */
export const replaceAccount = (
  store: AccountTable,
  account: Account,
  keyWrites: readonly KeyWrite[],
  isRestricted?: boolean,
  before: Account = account,
): Promise<WriteResult> =>
  transactOnce(
    store.db,
    [
      {
        Put: {
          TableName: store.ledgerTable,
          Item: withNextVersion(account),
          // Of two concurrent changes the second one reads again instead of undoing the first.
          ConditionExpression: "version = :read",
          ExpressionAttributeValues: { ":read": account.version },
        },
      },
      ...keyWrites.map(({ write }) => write),
      ...(isRestricted === undefined ? [] : [walletRestriction(store.ledgerTable, account.account_id, isRestricted)]),
      ...ownerWrites(store.ledgerTable, before, account),
      ...priceListWrites(store.ledgerTable, before, account),
      ...auditWrites(store, account),
    ],
    randomUUID(),
  );

/**
 * Positions of the key writes whose condition failed. Empty if the account has changed since it was read or another
 * write held an item: then the whole change is retried.
 */
const refusedKeyWrites = (error: unknown): readonly number[] => {
  if (!(error instanceof TransactionCanceledException) || isContention(error)) return [];
  const isRefused = (error.CancellationReasons ?? []).map(({ Code }) => Code === "ConditionalCheckFailed");
  if (isRefused[0]) return [];
  return isRefused.flatMap((refused, position) => (refused ? [position - 1] : []));
};

/** The result of one attempt at a change. */
type AttemptResult<Result> =
  | { readonly kind: "done"; readonly result: Result }
  | Exclude<WriteResult, { readonly kind: "written" }>;

/** Calls `attempt`, which must read again what it changes, with backoff until it is done. */
export const retryUntilDone = async <Result>(attempt: () => Promise<AttemptResult<Result>>): Promise<Result> => {
  const nextAttempt = operatorRetries();
  for (;;) {
    const attempted = await attempt();
    if (attempted.kind === "done") return attempted.result;
    // After an indeterminate write another attempt could apply the change twice.
    if (!attempted.isCertain || !(await nextAttempt())) throw attempted.error;
  }
};

const mismatchError = (accountId: string, keyId: string): AccountError =>
  new AccountError(
    `Ledger and access table do not agree about the key ${keyId} of ${accountId}: run keys reconcile, and then this again`,
  );

/**
 * Changes an account, and in the same transaction its keys' items by the writes of `alongside`. `change` may be called
 * several times, each time with the current account; it returns undefined if there is nothing to change. Key writes
 * beyond KEY_WRITES_MAX follow one by one, so the important ones must come first. `isRestricted`: see replaceAccount.
 */
export const changeAccount = (
  store: AccountTable,
  accountId: string,
  change: (account: Account) => Account | undefined,
  alongside: (changed: Account, before: Account) => readonly KeyWrite[] = () => [],
  isRestricted?: boolean,
): Promise<Account> => {
  const skipped = new Set<string>();
  return retryUntilDone(async () => {
    const account = await requireAccount(store, accountId);
    const changed = change(account);
    if (changed === undefined) return { kind: "done", result: account };
    const keyWrites = alongside(changed, account).filter(({ keyId }) => !skipped.has(keyId));
    const atOnce = keyWrites.slice(0, KEY_WRITES_MAX);
    const replaced = await replaceAccount(store, changed, atOnce, isRestricted, account);
    if (replaced.kind !== "written" && !(await wasReplaced(store, changed, replaced))) {
      for (const position of refusedKeyWrites(replaced.error)) {
        const refused = atOnce[position];
        if (refused === undefined) continue;
        if (refused.whenRefused === "fail") throw mismatchError(accountId, refused.keyId);
        skipped.add(refused.keyId);
      }
      return replaced;
    }
    for (const keyWrite of keyWrites.slice(KEY_WRITES_MAX)) await writeSeparately(store, accountId, keyWrite);
    return { kind: "done", result: withNextVersion(changed) };
  });
};

/**
 * Whether a change was made although its write got no answer: a secret that is shown with it would otherwise be lost.
 * Absence is inconclusive, because the write may still land.
 */
const wasReplaced = async (
  store: AccountTable,
  changed: Account,
  { isCertain }: Pick<Exclude<WriteResult, { readonly kind: "written" }>, "isCertain">,
): Promise<boolean> =>
  !isCertain && isDeepStrictEqual(await findAccount(store, changed.account_id), withNextVersion(changed));

const writeSeparately = async (
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
  if (whenRefused === "fail") throw mismatchError(accountId, keyId);
};
