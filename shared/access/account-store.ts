import { randomBytes, randomUUID } from "node:crypto";
import * as z from "#zod";
import { duplicateWindowSchema } from "../contract/duplicate-window.ts";
import { replaceableObject } from "../contract/lazy-object.ts";
import { orderLimitsSchema } from "../contract/order-limits.ts";
import { entitlementsSchema, permissionSchema } from "../contract/permission.ts";
import { modeSchema } from "../contract/transaction.ts";
import { accountEventName, ENDPOINTS_MAX, endpointEventName } from "../contract/webhook-events.ts";
import type { AuditPut } from "../ledger/audit.ts";
import { getItem } from "../ledger/get-item.ts";
import type { Writes } from "../ledger/ledger.ts";
import { ifVersion } from "../ledger/put-if.ts";
import { ACCOUNTS_LIST, accountPk } from "../ledger/schema.ts";
import {
  operatorRetries,
  transactOnce,
  transactUnlessRefused,
  type WriteResult,
  wasWritten,
} from "../ledger/transact.ts";
import { cancellationReasons } from "../platform/aws/errors.ts";
import type { DocumentClient } from "../platform/aws-clients.ts";
import { NotFoundError, OperatorError } from "../platform/operator-error.ts";
import type { Secret } from "../platform/secrets.ts";
import { type Clock, systemClock } from "../platform/time.ts";
import { priceListSchema, priceListWrites } from "../prices/price-list.ts";
import { accountStatus } from "./key-store.ts";
import { ownerSchema, ownerWrites } from "./owner-item.ts";
import { subscriptionWrites } from "./subscription-item.ts";

/** A webhook endpoint, as people set it. Secrets are sealed; see shared/webhooks/endpoint.ts. */
const storedEndpoint = replaceableObject(() => ({
  /** A number that counts the endpoints that the account ever had. */
  id: z.string(),
  name: z.string(),
  url: z.string(),
  events: z.array(endpointEventName),
  status: z.enum(["on", "off"]),
  /** Rises when a person sets or enables the endpoint, or tests it with success: its earlier failures do not count. */
  generation: z.int(),
  secret: z.string(),
  /** Secrets that sign too, the newest first: an app may have one of them while rotations repeat. */
  replaced_secrets: z.array(replaceableObject(() => ({ secret: z.string(), until: z.iso.datetime() }))),
}));
export type StoredEndpoint = z.infer<typeof storedEndpoint>;

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
    replaceableObject(() => ({
      key_id: z.string(),
      hash: z.string(),
      name: z.string(),
      /** The end of the key, by which who has it finds it in the list. Absent: only the access table has the key. */
      last_four: z.optional(z.string()),
      mode: modeSchema,
      status: z.enum(["active", "revoked"]),
      permissions: z.array(permissionSchema),
      created_at: z.iso.datetime(),
      /** As the audit log names who made it. Absent: no person did. */
      created_by: z.optional(z.string()),
      /** When a rotated key ends. */
      expires_at: z.optional(z.iso.datetime()),
      /** What live orders with it may be at most; its replacement has the same. */
      order_limits: z.optional(orderLimitsSchema),
    })),
  ),
  endpoints: z.array(storedEndpoint),
  /** How many endpoints it ever had: an id is used once. */
  endpoints_made: z.int(),
  /** The sealed secret that its first endpoint gets, if that was made before the endpoint. */
  first_webhook_secret: z.optional(z.string()),
  owners: z.array(ownerSchema),
  /** Absent until operators set a price. */
  price_list: z.optional(priceListSchema),
  /** Absent: no purchase is refused because it is like an earlier one. */
  duplicate_window_s: z.optional(duplicateWindowSchema),
  /** What its live orders may be at most, of all keys together. */
  order_limits: z.optional(orderLimitsSchema),
  version: z.int(),
  list_key: z.literal(ACCOUNTS_LIST),
  created_at: z.iso.datetime(),
});
export type Account = z.infer<typeof accountSchema>;
/** An account as a change of it reads and replaces it. */
export const replaceableAccount = replaceableObject(() => accountSchema.shape);

/** The tables of accounts and their keys. */
export type AccountStore = {
  readonly db: DocumentClient;
  readonly accessTable: string;
  readonly ledgerTable: string;
  readonly clock?: Clock;
  /** Makes the checksums of new keys. */
  readonly checksumKey: Secret;
  /** Makes the audit entry of a change from the changed account; it is written in the change's own transaction. */
  readonly audit?: (account: Account) => AuditPut;
};

/** The part of the store that holds accounts. */
export type AccountTable = Pick<AccountStore, "db" | "ledgerTable" | "clock" | "audit">;

/** The audit entry of a change, as a part of its transaction. */
export const auditWrites = ({ audit }: AccountTable, account: Account): Writes => (audit ? [audit(account)] : []);

/** The account, read strongly; undefined if it does not exist. */
export const findAccount = async ({ db, ledgerTable }: AccountTable, accountId: string): Promise<Account | undefined> =>
  getItem({ db, table: ledgerTable }, accountPk(accountId), replaceableAccount);

/** The id first: it alone is unique, and nobody chooses it. Two accounts may have one name. */
export const accountText = ({ account_id, name }: Pick<Account, "account_id" | "name">): string =>
  `${account_id} (${name})`;

export const accountNotFound = (accountId: string): NotFoundError =>
  new NotFoundError(`There is no account ${accountId}`, { command: "accounts list shows the account ids" });

export const requireAccount = async (store: AccountTable, accountId: string): Promise<Account> => {
  const account = await findAccount(store, accountId);
  if (account === undefined) throw accountNotFound(accountId);
  return account;
};

/** For changes that a closed account does not take. */
export const assertNotClosed = ({ account_id, status }: Account): void => {
  if (status === "closed") throw new OperatorError(`The account ${account_id} is closed. Reopen it first`);
};

/** A write to a key's item that accompanies a change of its account. */
export type KeyWrite = {
  readonly keyId: string;
  readonly write: Writes[number];
  /** If the condition fails: `skip` changes the account without this write, `fail` throws an OperatorError. */
  readonly whenRefused: "skip" | "fail";
};

/** A transaction takes 100 items: the account, its wallet, an audit entry, its endpoints' subscriptions, and these keys. */
export const KEY_WRITES_MAX = 100 - 3 - ENDPOINTS_MAX * accountEventName.options.length;

const withNextVersion = (account: Account): Account => ({ ...account, version: account.version + 1 });

/**
 * Replaces the account that was read, together with writes to its keys' items and others, such as one of its wallet.
 * `before`: the account as it was read.
 */
export const replaceAccount = (
  store: AccountTable,
  account: Account,
  keyWrites: readonly KeyWrite[],
  others: Writes,
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
          ...ifVersion(account.version),
        },
      },
      ...keyWrites.map(({ write }) => write),
      ...others,
      ...ownerWrites(store.ledgerTable, before, account),
      ...priceListWrites(store.ledgerTable, before, account),
      ...subscriptionWrites(store, before, account),
      ...auditWrites(store, account),
    ],
    randomUUID(),
  );

/**
 * The key writes whose condition failed; none if the account has changed since it was read, or may have, because another
 * write holds it: then all of it is retried.
 */
const refusedOf = (keyWrites: readonly KeyWrite[], error: unknown): readonly KeyWrite[] => {
  const [ofAccount, ...ofOthers] = cancellationReasons(error).map(({ Code }) => Code);
  return keyWrites.filter((_, position) => ofAccount === "None" && ofOthers[position] === "ConditionalCheckFailed");
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

const mismatchError = (accountId: string, keyId: string): OperatorError =>
  new OperatorError(
    `Ledger and access table do not agree about the key ${keyId} of ${accountId}: run keys reconcile, and then this again`,
  );

const walletChangedError = (accountId: string): OperatorError =>
  new OperatorError(`The wallet of ${accountId} has just changed: nothing was done. Try again`);

/**
 * Changes an account, and in the same transaction its keys' items by the writes of `alongside`. `change` may be called
 * several times, each time with the current account; it returns undefined if there is nothing to change. Key writes
 * beyond KEY_WRITES_MAX follow one by one, so the important ones must come first. A closed account is refused.
 */
export const changeAccount: typeof changeAnyAccount = (store, accountId, change, ...alongside) => {
  const changeOpen = (account: Account): Account | undefined => {
    assertNotClosed(account);
    return change(account);
  };
  return changeAnyAccount(store, accountId, changeOpen, ...alongside);
};

/** The same, of a closed account too. */
export const changeAnyAccount = (
  store: AccountTable,
  accountId: string,
  change: (account: Account) => Account | undefined,
  alongside: (changed: Account, before: Account) => readonly KeyWrite[] = () => [],
  others: Writes = [],
): Promise<Account> => {
  const skipped = new Set<string>();
  return retryUntilDone(async () => {
    const account = await requireAccount(store, accountId);
    const changed = change(account);
    if (changed === undefined) return { kind: "done", result: account };
    const keyWrites = alongside(changed, account).filter(({ keyId }) => !skipped.has(keyId));
    const atOnce = keyWrites.slice(0, KEY_WRITES_MAX);
    const replaced = await replaceAccount(store, changed, atOnce, others, account);
    const stored = () => findAccount(store, accountId);
    // A secret that is shown with a change that was made without an answer would otherwise be lost.
    if (replaced.kind !== "written" && !(await wasWritten(replaced, stored, withNextVersion(changed)))) {
      if (!replaced.isCertain) return replaced;
      if (replaced.wallet !== undefined) throw walletChangedError(accountId);
      for (const { keyId, whenRefused } of refusedOf(atOnce, replaced.error)) {
        if (whenRefused === "fail") throw mismatchError(accountId, keyId);
        skipped.add(keyId);
      }
      return replaced;
    }
    // None of these may fail: an account has fewer active keys than one transaction has place for.
    for (const { write } of keyWrites.slice(KEY_WRITES_MAX)) await transactUnlessRefused(store, [write]);
    return { kind: "done", result: withNextVersion(changed) };
  });
};

/** A new id of an account or a key. */
export const newId = (start: string): string => `${start}${randomBytes(9).toString("hex")}`;

export const nowOf = ({ clock = systemClock }: AccountStore): number => clock();
