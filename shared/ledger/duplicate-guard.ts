import * as z from "#zod";
import { lazyObject } from "../contract/lazy-object.ts";
import { isoTime } from "../platform/time.ts";
import { readTransaction } from "./find-transactions.ts";
import type { Ledger } from "./ledger.ts";
import type { Transaction } from "./transaction.ts";

/**
 * The newest purchase of those that are alike: of one account, kind, phone number, product and amount, which its key has
 * as a keyed hash. It is an item of the cache table, whose items expire; if it is lost, so is one window.
 */
export const duplicateGuardSchema = lazyObject(() => ({
  pk: z.string(),
  transaction_pk: z.string(),
  placed_at: z.iso.datetime(),
}));
type DuplicateGuard = z.infer<typeof duplicateGuardSchema>;

/** How an account's purchases like this one are recognised. */
export type DuplicateWindow = {
  /** The cache table. */
  readonly table: string;
  readonly pk: string;
  readonly windowS: number;
  /** The caller means another one. */
  readonly isConfirmed: boolean;
  /** The key of an earlier purchase that does not refuse this one. */
  readonly replaces?: string;
};

/**
 * Makes a purchase the newest of its kind: one part of the transaction of writes that debits it, so of any number of
 * simultaneous purchases one is debited.
 */
export const duplicateGuardPut = (
  { table, pk, windowS, isConfirmed, replaces }: DuplicateWindow,
  transaction: Pick<Transaction, "pk">,
  nowMs: number,
) => {
  const isOver = "attribute_not_exists(pk) OR placed_at <= :until";
  return {
    Put: {
      TableName: table,
      Item: {
        pk,
        transaction_pk: transaction.pk,
        placed_at: isoTime(nowMs),
        expires_at_s: Math.ceil(nowMs / 1_000) + windowS,
      } satisfies DuplicateGuard & { readonly expires_at_s: number },
      ...(!isConfirmed && {
        ConditionExpression: replaces === undefined ? isOver : `${isOver} OR transaction_pk = :replaced`,
        ExpressionAttributeValues: {
          ":until": isoTime(nowMs - windowS * 1_000),
          ":replaced": replaces,
        },
        ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
      }),
    },
  };
};

/** The guard that refused a write, of the items whose conditions failed. */
export const refusingGuard = (
  window: DuplicateWindow | undefined,
  refusing: readonly Readonly<Record<string, unknown>>[] = [],
): DuplicateGuard | undefined =>
  window && z.optional(duplicateGuardSchema).parse(refusing.find(({ pk }) => pk === window.pk));

/**
 * The earlier purchase that refuses this one; undefined if it was not delivered. `failed` is final, so a refund ends the
 * window without a write of its own. A purchase that is missing, after a restore, refuses.
 */
export const earlierPurchase = async (
  ledger: Ledger,
  { transaction_pk }: DuplicateGuard,
): Promise<Pick<Transaction, "pk" | "caller_reference"> | undefined> => {
  const transaction = await readTransaction(ledger, transaction_pk);
  return transaction?.status === "failed" ? undefined : (transaction ?? { pk: transaction_pk });
};
