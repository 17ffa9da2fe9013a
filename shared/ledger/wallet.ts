import * as z from "#zod";
import { lazyObject } from "../contract/lazy-object.ts";
import type { DailyQuota, Entitlement } from "../contract/permission.ts";
import { type Kobo, koboSchema } from "../contract/values/money.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { isoTime } from "../platform/time.ts";
import { getItem } from "./get-item.ts";
import type { Ledger } from "./ledger.ts";
import { QUEUED, walletPk } from "./schema.ts";
import { returned, type UpdateParts, updateOf } from "./update-parts.ts";
import { usageSchema } from "./usage.ts";

/** The attributes that count the orders of `quota_day`. */
const quotaUsed = {
  vtu: "quota_used_vtu",
  identity: "quota_used_identity",
  "identity:advanced": "quota_used_advanced",
  "identity:retrieve": "quota_used_retrieve",
} as const satisfies Record<Entitlement, string>;

/**
 * An account's wallet. `version` counts the changes of the balance, each of which is a line: a reconciliation, or who
 * closes a month, knows by it whether all lines were found.
 */
export const walletSchema = lazyObject(() => ({
  pk: z.string(),
  account_id: z.string(),
  balance_kobo: koboSchema,
  version: z.int().check(z.minimum(0)),
  low_balance_threshold_kobo: z.optional(koboSchema),
  /** The account is restricted: nothing is debited, and no queued order is sent. */
  restricted: z.optional(z.literal(true)),
  restricted_at: z.optional(z.iso.datetime()),
  /** The account is closed: no line is booked any more. A closed wallet is restricted. */
  closed: z.optional(z.literal(true)),
  /** What is dated until then is final: no line is booked at this time or an earlier one. It only rises. */
  sealed_to: z.optional(z.iso.datetime()),
  /** While the sender of queued orders lists the wallet, new orders of the account wait too. */
  open: z.optional(z.literal(QUEUED)),
  /** Since when it is listed, or when the account's last turn ended. */
  listed_at: z.optional(z.iso.datetime()),
  /** The account's queued orders: shared/queued-orders/order-queue.ts. They outlast the list, so that no number is given twice. */
  queue_tail: z.optional(z.int().check(z.minimum(1))),
  queue_head: z.optional(z.int().check(z.minimum(1))),
  queue_front: z.optional(z.set(z.int())),
  queue_gaps: z.optional(z.set(z.int())),
  /** When a number was put in front last. */
  queue_front_at: z.optional(z.iso.datetime()),
  /** Until then the request of the order that was claimed last may begin, so no later order is sent by another run. */
  turn_until: z.optional(z.iso.datetime()),
  /** The day in Lagos whose orders are counted, if they have a quota; also those that failed later. */
  quota_day: z.optional(z.int()),
  quota_used_vtu: z.optional(z.int()),
  quota_used_identity: z.optional(z.int()),
  quota_used_advanced: z.optional(z.int()),
  quota_used_retrieve: z.optional(z.int()),
  /** What its account's limits count (usage.ts). */
  ...usageSchema.shape,
  /** Live identity checks that were debited, and those that found nobody. */
  checks: z.optional(z.int()),
  empty_checks: z.optional(z.int()),
  /** Where the last run of checks that found nobody began: their number before it, and that of all others. */
  empty_run_from: z.optional(z.int()),
  empty_run_found: z.optional(z.int()),
  updated_at: z.iso.datetime(),
}));
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
export const readWallet = async (ledger: Ledger, accountId: string, abortSignal?: AbortSignal): Promise<Wallet> => {
  const wallet = await getItem(ledger, walletPk(accountId), walletSchema, abortSignal);
  if (wallet === undefined) throw new Error("The account has no wallet");
  return wallet;
};

/** The balance and the threshold of a wallet that is low; undefined of any other. */
export const lowBalanceOf = ({
  balance_kobo: balance,
  low_balance_threshold_kobo: threshold,
}: Pick<Wallet, "balance_kobo" | "low_balance_threshold_kobo">) =>
  threshold !== undefined && balance < threshold ? { balance, threshold } : undefined;

/** One part of a transaction of writes. A wallet can be in one part only, so its changes are made together. */
export const walletUpdate = (
  { table }: Pick<Ledger, "table">,
  accountId: string,
  ...parts: readonly UpdateParts[]
) => ({
  Update: { TableName: table, Key: { pk: walletPk(accountId) }, ...updateOf(...parts), ...returned },
});

const changedBalance = (sign: "+" | "-"): string =>
  `balance_kobo = balance_kobo ${sign} :amount, version = version + :one, updated_at = :now`;

/** An amount, and the time of the line that says why. */
type Booking = { readonly amount: Kobo; readonly bookedAt: string };

const balanceValues = ({ clock }: Ledger, { amount, bookedAt }: Booking) => ({
  ":amount": amount,
  ":one": 1,
  ":now": isoTime(clock()),
  ":booked_at": bookedAt,
});

/** Each change of a balance requires it, so that a write that lands after its period was sealed, or its account closed, is refused. */
const MAY_BE_BOOKED = "attribute_not_exists(closed) AND (attribute_not_exists(sealed_to) OR sealed_to < :booked_at)";
const EXISTS: UpdateParts = { conditions: ["attribute_exists(pk)"] };
/** The sender does not list the wallet. */
const IS_UNLISTED: UpdateParts = { conditions: ["attribute_not_exists(#open)"], names: { "#open": "open" } };
const IS_SUFFICIENT = "balance_kobo >= :amount";
const MAY_BE_DEBITED = `${IS_SUFFICIENT} AND attribute_not_exists(restricted) AND ${MAY_BE_BOOKED}`;

/** What a debit requires and does besides. */
export type DebitOptions = {
  /** It fails too while the sender lists the wallet: the order would overtake one that waits, or is claimed and not yet sent. */
  readonly unlessQueued: boolean;
  /** The debit is of an identity check. */
  readonly isCheck: boolean;
  /** It is counted. `beginsDay`: as the first order of the day, of all that have a quota. */
  readonly quota?: DailyQuota & { readonly day: number; readonly beginsDay: boolean };
  /** What the debit counts for the limits of its account. */
  readonly usage?: UpdateParts | undefined;
};

/**
 * Takes the amount from the wallet if it is not restricted and holds enough, and is not sealed at the booking time: one
 * part of a transaction of writes.
 */
export const walletDebit = (
  ledger: Ledger,
  accountId: string,
  booking: Booking,
  { unlessQueued, isCheck, quota, usage = {} }: DebitOptions,
) => {
  const debit: UpdateParts = {
    sets: [changedBalance("-")],
    adds: isCheck ? ["checks :one"] : [],
    conditions: [MAY_BE_DEBITED],
    values: balanceValues(ledger, booking),
  };
  return walletUpdate(ledger, accountId, debit, unlessQueued ? IS_UNLISTED : {}, quota ? countedBy(quota) : {}, usage);
};

/** The part of a debit that counts it. */
const countedBy = ({ entitlement, perDay, day, beginsDay }: NonNullable<DebitOptions["quota"]>): UpdateParts => {
  const used = quotaUsed[entitlement];
  return beginsDay
    ? {
        sets: ["quota_day = :day", `${used} = :one`],
        removes: Object.values(quotaUsed).filter((each) => each !== used),
        conditions: ["(attribute_not_exists(quota_day) OR quota_day < :day)"],
        values: { ":day": day },
      }
    : {
        adds: [`${used} :one`],
        conditions: [`quota_day = :day AND (attribute_not_exists(${used}) OR ${used} < :per_day)`],
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
export const walletAdjustment = (ledger: Ledger, accountId: string, booking: Booking) =>
  walletUpdate(ledger, accountId, {
    sets: [changedBalance("-")],
    conditions: [IS_SUFFICIENT, MAY_BE_BOOKED],
    values: balanceValues(ledger, booking),
  });

const credit = (ledger: Ledger, booking: Booking): UpdateParts => ({
  sets: [changedBalance("+")],
  conditions: [MAY_BE_BOOKED],
  values: balanceValues(ledger, booking),
});

/** Adds the amount to the wallet, and gives back what was counted of it: one part of a transaction of writes. */
export const walletCredit = (ledger: Ledger, accountId: string, booking: Booking, usage: UpdateParts = {}) =>
  walletUpdate(ledger, accountId, EXISTS, credit(ledger, booking), usage);

/** Restricts a wallet with its account, or ends the restriction: one part of a transaction of writes. */
export const walletRestriction = (table: string, accountId: string, isRestricted: boolean, nowMs: number) =>
  walletUpdate(
    { table },
    accountId,
    EXISTS,
    isRestricted
      ? {
          sets: ["restricted = :true, restricted_at = if_not_exists(restricted_at, :now)"],
          values: { ":true": true, ":now": isoTime(nowMs) },
        }
      : { removes: ["restricted, restricted_at"] },
  );

/**
 * Closes a wallet with its account, if it is restricted, empty, without queued orders, and no line was booked since it was
 * read: one part of a transaction of writes.
 */
export const walletClosing = (table: string, { account_id, version }: Pick<Wallet, "account_id" | "version">) =>
  walletUpdate({ table }, account_id, IS_UNLISTED, {
    sets: ["closed = :true"],
    removes: ["low_balance_threshold_kobo"],
    conditions: ["version = :read AND balance_kobo = :zero AND restricted = :true"],
    values: { ":true": true, ":read": version, ":zero": 0 },
  });

/** Lets lines be booked again; the wallet stays restricted: one part of a transaction of writes. */
export const walletReopening = (table: string, accountId: string) =>
  walletUpdate({ table }, accountId, EXISTS, { removes: ["closed"] });

/** Why nothing is booked any more. */
export const closedError = (accountId: string): OperatorError =>
  new OperatorError(`The account ${accountId} is closed: nothing is booked until it is reopened`, {
    command: "Reopen it with accounts reopen",
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
export const listed = ({ clock }: Ledger): UpdateParts => ({
  sets: ["#open = :open, listed_at = if_not_exists(listed_at, :now)"],
  names: { "#open": "open" },
  values: { ":open": QUEUED, ":now": isoTime(clock()) },
});
/** Takes it off the list. */
export const unlisted: UpdateParts = { removes: ["#open, listed_at"], names: { "#open": "open" } };

/**
 * Takes the number of an order out of the queue that ends without being claimed, and refunds it if `refund` is given:
 * one part of a transaction of writes.
 */
export const walletQueueGap = (
  ledger: Ledger,
  accountId: string,
  number: number,
  refund?: Booking,
  usage: UpdateParts = {},
) =>
  walletUpdate(
    ledger,
    accountId,
    EXISTS,
    { adds: ["queue_gaps :numbers"], values: { ":numbers": new Set([number]) } },
    ...(refund === undefined ? [] : [credit(ledger, refund), usage]),
  );
