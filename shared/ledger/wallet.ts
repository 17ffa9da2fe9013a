import * as z from "zod";
import { type Kobo, koboSchema } from "../contract/money.ts";
import type { DailyQuota, Entitlement } from "../contract/permission.ts";
import { isoTime } from "../platform/time.ts";
import { getItem } from "./get-item.ts";
import type { Ledger } from "./ledger.ts";
import { QUEUED, walletPk } from "./schema.ts";

/** The attributes that count the orders of `quota_day`. */
const quotaUsed = {
  vtu: "quota_used_vtu",
  identity: "quota_used_identity",
  "identity:advanced": "quota_used_advanced",
  "identity:retrieve": "quota_used_retrieve",
} as const satisfies Record<Entitlement, string>;

/**
 * An account's wallet. `version` counts the changes of the balance, so a reconciliation knows whether it has found them
 * all.
 */
export const walletSchema = z.object({
  pk: z.string(),
  account_id: z.string(),
  balance_kobo: koboSchema,
  version: z.int().min(0),
  low_balance_threshold_kobo: koboSchema.optional(),
  /** The account is restricted: nothing is debited, and no queued order is sent. */
  restricted: z.literal(true).optional(),
  /** While the sender of queued orders lists the wallet, new orders of the account wait too. */
  open: z.literal(QUEUED).optional(),
  /** Since when it is listed, or when the account's last turn ended. */
  listed_at: z.iso.datetime().optional(),
  /** The account's queued orders: shared/queued-orders/order-queue.ts. They outlast the list, so that no number is given twice. */
  queue_tail: z.int().min(1).optional(),
  queue_head: z.int().min(1).optional(),
  queue_front: z.set(z.int()).optional(),
  queue_gaps: z.set(z.int()).optional(),
  /** When a number was put in front last. */
  queue_front_at: z.iso.datetime().optional(),
  /** Until then the request of the order that was claimed last may begin, so no later order is sent by another run. */
  turn_until: z.iso.datetime().optional(),
  /** The day in Lagos whose orders are counted, if they have a quota; also those that failed later. */
  quota_day: z.int().optional(),
  quota_used_vtu: z.int().optional(),
  quota_used_identity: z.int().optional(),
  quota_used_advanced: z.int().optional(),
  quota_used_retrieve: z.int().optional(),
  /** Live identity checks that were debited, and those that found nobody. */
  checks: z.int().optional(),
  empty_checks: z.int().optional(),
  /** Where the last run of checks that found nobody began: their number before it, and that of all others. */
  empty_run_from: z.int().optional(),
  empty_run_found: z.int().optional(),
  updated_at: z.iso.datetime(),
});
export type Wallet = z.infer<typeof walletSchema>;

/** An empty wallet; it is created together with its account. */
export const emptyWallet = (accountId: string, nowMs: number): Wallet => ({
  pk: walletPk(accountId),
  account_id: accountId,
  balance_kobo: koboSchema.parse(0),
  version: 0,
  updated_at: isoTime(nowMs),
});

/** The wallet, read strongly: a caller who just bought sees the new balance. Throws if the account has none. */
export const readWallet = async (ledger: Ledger, accountId: string): Promise<Wallet> => {
  const wallet = await getItem(ledger, walletPk(accountId), walletSchema);
  if (wallet === undefined) throw new Error("The account has no wallet");
  return wallet;
};

/** One part of a transaction of writes. A wallet can be in one part only, so its changes are made together. */
export const walletUpdate = <Update extends object>(
  { table }: Pick<Ledger, "table">,
  accountId: string,
  update: Update,
) => ({
  Update: { TableName: table, Key: { pk: walletPk(accountId) }, ...update },
});

/** The stored wallet is returned if a condition fails: it shows which part of it did. */
export const returned = { ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const };

const changedBalance = (sign: "+" | "-"): string =>
  `balance_kobo = balance_kobo ${sign} :amount, version = version + :one, updated_at = :now`;

const balanceValues = ({ clock }: Ledger, amount: Kobo) => ({
  ":amount": amount,
  ":one": 1,
  ":now": isoTime(clock()),
});

const IS_SUFFICIENT = "balance_kobo >= :amount";
const MAY_BE_DEBITED = `${IS_SUFFICIENT} AND attribute_not_exists(restricted)`;

/** What a debit requires and does besides. */
export type DebitOptions = {
  /** It fails too while the sender lists the wallet: the order would overtake one that waits, or is claimed and not yet sent. */
  readonly unlessQueued?: boolean;
  /** It is of an identity check. */
  readonly isCheck?: boolean;
  /** It is counted. `beginsDay`: as the first order of the day, of all that have a quota. */
  readonly quota?: DailyQuota & { readonly day: number; readonly beginsDay: boolean };
};

/** Takes the amount from the wallet if it is not restricted and holds enough: one part of a transaction of writes. */
export const walletDebit = (
  ledger: Ledger,
  accountId: string,
  amount: Kobo,
  { unlessQueued = false, isCheck = false, quota }: DebitOptions = {},
) => {
  const counted = quota && countedBy(quota);
  const added = [...(isCheck ? ["checks"] : []), ...(counted?.adds ?? [])];
  return walletUpdate(ledger, accountId, {
    UpdateExpression: [
      `SET ${[changedBalance("-"), ...(counted?.sets ?? [])].join(", ")}`,
      ...(added.length === 0 ? [] : [`ADD ${added.map((name) => `${name} :one`).join(", ")}`]),
      ...(counted === undefined || counted.removes.length === 0 ? [] : [`REMOVE ${counted.removes.join(", ")}`]),
    ].join(" "),
    ConditionExpression: [
      MAY_BE_DEBITED,
      ...(unlessQueued ? ["attribute_not_exists(#open)"] : []),
      ...(counted ? [counted.condition] : []),
    ].join(" AND "),
    ...(unlessQueued && { ExpressionAttributeNames: { "#open": "open" } }),
    ExpressionAttributeValues: { ...balanceValues(ledger, amount), ...counted?.values },
    ...returned,
  });
};

/** The part of a debit that counts it. */
const countedBy = ({ entitlement, perDay, day, beginsDay }: NonNullable<DebitOptions["quota"]>) => {
  const used = quotaUsed[entitlement];
  const others = Object.values(quotaUsed).filter((each) => each !== used);
  return beginsDay
    ? {
        sets: ["quota_day = :day", `${used} = :one`],
        adds: [],
        removes: others,
        condition: "(attribute_not_exists(quota_day) OR quota_day < :day)",
        values: { ":day": day },
      }
    : {
        sets: [],
        adds: [used],
        removes: [],
        condition: `quota_day = :day AND (attribute_not_exists(${used}) OR ${used} < :per_day)`,
        values: { ":day": day, ":per_day": perDay },
      };
};

/** How many orders the account has placed on a day in Lagos, of those that count for an entitlement with a quota. */
export const ordersOnDay = (wallet: Wallet, entitlement: Entitlement, day: number): number =>
  wallet.quota_day === day ? (wallet[quotaUsed[entitlement]] ?? 0) : 0;

/** Counts an identity check that found nobody. */
export const emptyCheckCount = (accountId: string) => ({
  Key: { pk: walletPk(accountId) },
  UpdateExpression: "ADD empty_checks :one",
  ConditionExpression: "attribute_exists(pk)",
  ExpressionAttributeValues: { ":one": 1 },
});

/** Records where a run of such checks began, unless another check has recorded it: of several at once, the first counts. */
export const emptyRunStart = (
  accountId: string,
  { from, found }: { readonly from: number; readonly found: number },
) => ({
  Key: { pk: walletPk(accountId) },
  UpdateExpression: "SET empty_run_from = :from, empty_run_found = :found",
  ConditionExpression: "attribute_exists(pk) AND (attribute_not_exists(empty_run_found) OR empty_run_found < :found)",
  ExpressionAttributeValues: { ":from": from, ":found": found },
});

/** Takes the amount of an operator's adjustment, also from a restricted wallet: one part of a transaction of writes. */
export const walletAdjustment = (ledger: Ledger, accountId: string, amount: Kobo) =>
  walletUpdate(ledger, accountId, {
    UpdateExpression: `SET ${changedBalance("-")}`,
    ConditionExpression: IS_SUFFICIENT,
    ExpressionAttributeValues: balanceValues(ledger, amount),
  });

/** Adds the amount to the wallet: one part of a transaction of writes. */
export const walletCredit = (ledger: Ledger, accountId: string, amount: Kobo) =>
  walletUpdate(ledger, accountId, {
    UpdateExpression: `SET ${changedBalance("+")}`,
    ConditionExpression: "attribute_exists(pk)",
    ExpressionAttributeValues: balanceValues(ledger, amount),
  });

/** Restricts a wallet with its account, or ends the restriction: one part of a transaction of writes. */
export const walletRestriction = (table: string, accountId: string, isRestricted: boolean) =>
  walletUpdate({ table }, accountId, {
    UpdateExpression: isRestricted ? "SET restricted = :true" : "REMOVE restricted",
    ConditionExpression: "attribute_exists(pk)",
    ...(isRestricted && { ExpressionAttributeValues: { ":true": true } }),
  });

/** The condition that the account is not restricted: one part of a transaction of writes. */
export const walletNotRestricted = ({ table }: Ledger, accountId: string) => ({
  ConditionCheck: {
    TableName: table,
    Key: { pk: walletPk(accountId) },
    ConditionExpression: "attribute_exists(pk) AND attribute_not_exists(restricted)",
    ...returned,
  },
});

/** Has the sender list the wallet. */
export const LISTED = "#open = :open, listed_at = if_not_exists(listed_at, :now)";
export const listedNames = { "#open": "open" };
export const listedValues = ({ clock }: Ledger) => ({ ":open": QUEUED, ":now": isoTime(clock()) });

/**
 * Takes the number of an order out of the queue that ends without being claimed, and refunds its amount if it is given:
 * one part of a transaction of writes.
 */
export const walletQueueGap = (ledger: Ledger, accountId: string, number: number, refund?: Kobo) =>
  walletUpdate(ledger, accountId, {
    UpdateExpression: `${refund === undefined ? "" : `SET ${changedBalance("+")} `}ADD queue_gaps :numbers`,
    ConditionExpression: "attribute_exists(pk)",
    ExpressionAttributeValues: {
      ":numbers": new Set([number]),
      ...(refund !== undefined && balanceValues(ledger, refund)),
    },
  });

/**
 * Sets the balance and the numbers of the queued orders, if nobody has changed either since the wallet was read: one
 * part of a transaction of writes. Only a carry-over corrects a wallet.
 */
export const walletCorrection = (ledger: Ledger, read: Wallet, balanceKobo: number, queued: ReadonlySet<number>) => {
  const { queue_tail: tail } = read;
  const last = Math.max(tail ?? 0, ...queued);
  return walletUpdate(ledger, read.account_id, {
    UpdateExpression: [
      "SET balance_kobo = :balance, version = version + :one, updated_at = :now",
      ...(last > 0 ? [", queue_tail = :last, queue_head = :next"] : []),
      ...(queued.size > 0 ? [`, queue_front = :queued, queue_front_at = :now, ${LISTED}`] : []),
      ` REMOVE queue_gaps, turn_until${queued.size > 0 ? "" : ", queue_front, queue_front_at, #open, listed_at"}`,
    ].join(""),
    ConditionExpression: `version = :read AND ${tail === undefined ? "attribute_not_exists(queue_tail)" : "queue_tail = :tail"}`,
    ExpressionAttributeNames: listedNames,
    ExpressionAttributeValues: {
      ":balance": balanceKobo,
      ":one": 1,
      ":now": isoTime(ledger.clock()),
      ":read": read.version,
      ...(tail !== undefined && { ":tail": tail }),
      ...(last > 0 && { ":last": last, ":next": last + 1 }),
      ...(queued.size > 0 && { ":queued": queued, ":open": QUEUED }),
    },
  });
};
