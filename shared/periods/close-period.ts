import * as z from "#zod";
import { lineKind } from "../contract/actions/wallet.ts";
import { counted } from "../contract/values/counted.ts";
import { koboMoneyText } from "../contract/values/money.ts";
import { monthAfter } from "../contract/values/time-zone.ts";
import type { AuditPut } from "../ledger/audit.ts";
import { type OpenOrder, openOrdersAmong } from "../ledger/find-transactions.ts";
import { getItemsByPk } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  type AccountPeriod,
  isClosedAs,
  isLastReplacement,
  isNotClosed,
  type KindSums,
  putAccountPeriod,
  putPeriodLines,
  readAccountPeriods,
  readPeriodReplacement,
  readServicePeriod,
  type ServicePeriod,
  servicePeriodPut,
} from "../ledger/period.ts";
import {
  ALL_TIMES,
  accountIdsOf,
  INDEXED_AGE_MS,
  indexKeySchema,
  openKeys,
  queryList,
  waitingOrderKeys,
} from "../ledger/query-index.ts";
import { ACCOUNTS_LIST, accountIdOf, transactionIdOf, walletPk } from "../ledger/schema.ts";
import { positionAfter, statementPositionSchema } from "../ledger/statement.ts";
import { transactUnlessRefused } from "../ledger/transact.ts";
import { walletSchema } from "../ledger/wallet.ts";
import { sealWallet } from "../ledger/wallet-seal.ts";
import { allEnded } from "../platform/all-ended.ts";
import { batchesOf } from "../platform/batches.ts";
import type { Deadline } from "../platform/deadline.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { isoTime } from "../platform/time.ts";
import { type Comparison, compareWithWallet, isAgreed } from "./compare-with-wallet.ts";
import { begunOf, emptyFold, foldNext, foldSchema, hashOf, type PeriodOf } from "./fold-lines.ts";
import type { MonthToClose } from "./month-to-close.ts";

/** A line that the index lacks is read again after this time. */
const DISAGREES_WAIT_MS = 10_000;
const ACCOUNTS_PER_READ = 100;
const SEALED_AT_ONCE = 10;
/** Of one account: an item has at most 400 KB, and an order takes 35 bytes of it. */
const OPEN_ORDERS_MAX = 10_000;

const begunAccountSchema = z.object({
  account_id: z.string(),
  fold: foldSchema,
  /** All its lines are summed up, and those after them until here. */
  compared: z.optional(statementPositionSchema),
  /** Since when its lines do not agree with its wallet. */
  disagrees_since: z.optional(z.iso.datetime()),
});
type BegunAccount = z.infer<typeof begunAccountSchema>;

/** Where closing a month continues. All of it can be repeated: what is sealed or closed stays as it is. */
export const closingSchema = z.object({
  phase: z.enum(["seal", "close"]),
  /** The last account of this phase, as the index lists it. */
  account: z.optional(indexKeySchema),
  done: z.int(),
  accounts: z.int(),
  /** The next account, which is closed in part. */
  begun: z.optional(begunAccountSchema),
});
export type Closing = z.infer<typeof closingSchema>;

export type ClosingProgress = {
  readonly closing: Closing;
  /** The lines of an account do not agree with its wallet yet: continue after this time. */
  readonly waitMs: number;
};

export const beginClosing = async (ledger: Ledger, { to }: MonthToClose): Promise<Closing> => ({
  phase: "seal",
  done: 0,
  accounts: (await accountIdsOf(ledger, to)).length,
});

/** Seals wallets and closes accounts until the time is up; undefined once every account is closed. */
export const continueClosing = async (
  ledger: Ledger,
  month: MonthToClose,
  begun: Closing,
  deadline: Deadline,
): Promise<ClosingProgress | undefined> => {
  let closing = begun;
  let open: OpenOrders | undefined;
  for (;;) {
    const range = { from: ALL_TIMES.from, to: month.to };
    const { keys, next } = await queryList(ledger, ACCOUNTS_LIST, range, closing.account, {
      oldest: ACCOUNTS_PER_READ,
    });
    if (closing.phase === "seal") {
      for (const some of batchesOf(keys, SEALED_AT_ONCE)) {
        await allEnded(some.map(({ pk }) => sealWallet(ledger, accountIdOf(pk), month.to)));
      }
      closing =
        next === undefined
          ? { phase: "close", done: 0, accounts: closing.accounts }
          : { ...closing, account: next, done: closing.done + keys.length };
    } else {
      open ??= await readOpenOrders(ledger, month.to);
      const closed = await closeAccounts(ledger, month, closing, { keys, open }, deadline);
      if (closed.waitMs !== undefined) return { closing: closed.closing, waitMs: closed.waitMs };
      if (next === undefined) return undefined;
      closing = closed.closing;
    }
    if (deadline.remainingMs() <= 0) return { closing, waitMs: 0 };
  }
};

/** By account. */
type OpenOrders = ReadonlyMap<string, readonly OpenOrder[]>;
type Page = { readonly keys: readonly z.infer<typeof indexKeySchema>[]; readonly open: OpenOrders };

/** `waitMs` is absent if all accounts of the page are closed. */
const closeAccounts = async (
  ledger: Ledger,
  month: MonthToClose,
  begun: Closing,
  { keys, open }: Page,
  deadline: Deadline,
): Promise<{ readonly closing: Closing; readonly waitMs?: number }> => {
  const accountIds = keys.map(({ pk }) => accountIdOf(pk));
  const closed = await periodsOf(ledger, month.month, accountIds);
  const before = await periodsBefore(ledger, month, accountIds);
  const sealSchema = z.pick(walletSchema, { pk: true, sealed_to: true });
  const walletOf = await getItemsByPk(ledger, accountIds.map(walletPk), sealSchema);
  let closing = begun;
  for (const key of keys) {
    const account_id = accountIdOf(key.pk);
    const was = closed.get(account_id);
    if (was === undefined || !isPartOf(month, was, before.get(account_id))) {
      const { sealed_to = "" } = walletOf.get(walletPk(account_id)) ?? {};
      // The account was not yet in the index when the others were sealed.
      if (sealed_to < month.to) await sealWallet(ledger, account_id, month.to);
      const period = { ...month, account_id, previous: before.get(account_id)?.hash ?? "" };
      const openOf = openFields(month, open.get(account_id) ?? [], before.get(account_id));
      const begunAccount = begunOf(account_id, closing.begun) ?? { account_id, fold: emptyFold };
      const unfinished = await closeAccount(ledger, { period, openOf, was }, begunAccount, deadline);
      if (unfinished !== undefined)
        return { closing: { ...closing, begun: unfinished.begun }, waitMs: unfinished.waitMs };
    }
    const { begun: _closed, ...rest } = closing;
    closing = { ...rest, account: key, done: closing.done + 1 };
    if (deadline.remainingMs() <= 0) return { closing, waitMs: 0 };
  }
  return { closing };
};

const periodsOf = async (ledger: Ledger, month: string, accountIds: readonly string[]) =>
  new Map((await readAccountPeriods(ledger, month, accountIds)).map((period) => [period.account_id, period]));

/** The periods that those of a month continue. Of a month that is not closed yet, those that are there may change. */
const periodsBefore = async (ledger: Ledger, { month, previous }: MonthToClose, accountIds: readonly string[]) =>
  periodsOf(ledger, monthAfter(month, -1), previous === "" ? [] : accountIds);

/**
 * Whether an account's period belongs to the month as it is closed now. It does not if another run began it with another
 * zone, or before the month before was closed.
 */
const isPartOf = (month: MonthToClose, period: AccountPeriod, before: AccountPeriod | undefined): boolean =>
  period.previous === (before?.hash ?? "") &&
  (before === undefined || period.opening_kobo === before.closing_kobo) &&
  period.from === month.from &&
  period.to === month.to &&
  period.time_zone === month.time_zone;

type AccountToClose = {
  readonly period: PeriodOf;
  readonly openOf: ReturnType<typeof openFields>;
  /** What an earlier run stored, and is replaced. */
  readonly was: AccountPeriod | undefined;
};

/**
 * Closes one account, once its lines and those after them agree with its wallet: no later line can have a sealed time, so
 * the index then has all of the period. Resolves with how far it came.
 */
const closeAccount = async (
  ledger: Ledger,
  { period, openOf, was }: AccountToClose,
  begun: BegunAccount,
  deadline: Deadline,
): Promise<{ readonly begun: BegunAccount; readonly waitMs: number } | undefined> => {
  const { account_id } = period;
  let { fold } = begun;
  let isFolded = begun.compared !== undefined;
  while (!isFolded) {
    const step = await foldNext(ledger, period, fold);
    if (step.hashed.length > 0) await putPeriodLines(ledger, period.month, account_id, fold.lines, step.fingerprints);
    fold = step.fold;
    isFolded = step.isComplete;
    if (!isFolded && deadline.remainingMs() <= 0) return { begun: { ...begun, fold }, waitMs: 0 };
  }
  const { opening_kobo, kinds, lines, balance_kobo, version, hash = "" } = fold;
  const start = begun.compared ?? positionAfter(period.to, { balance_after_kobo: balance_kobo, version });
  const comparison = await compareWithWallet(ledger, account_id, start, deadline);
  if (comparison.kind === "out_of_time") return { begun: { ...begun, fold, compared: comparison.position }, waitMs: 0 };
  if (!isAgreed(comparison)) {
    const { disagrees_since = isoTime(ledger.clock()) } = begun;
    if (ledger.clock() - Date.parse(disagrees_since) < INDEXED_AGE_MS)
      return { begun: { account_id, fold: emptyFold, disagrees_since }, waitMs: DISAGREES_WAIT_MS };
    throw disagreement(account_id, comparison);
  }
  const sums = { opening_kobo, kinds, lines, closing_kobo: balance_kobo, ...openOf, hash };
  const closed_at = isoTime(ledger.clock());
  await putAccountPeriod(ledger, { ...period, ...sums, version, closed_at }, was);
  return undefined;
};

const disagreement = (
  accountId: string,
  { lines_kobo, balance_kobo, uncounted }: Comparison & { readonly kind: "compared" },
): OperatorError => {
  if (lines_kobo !== balance_kobo)
    return new OperatorError(
      `The lines of ${accountId} add up to ${koboMoneyText(lines_kobo)} and its balance is ${koboMoneyText(balance_kobo)}. ` +
        `Run wallet verify ${accountId}, then close the month again`,
    );
  const lines = counted(Math.abs(uncounted), "line");
  return new OperatorError(
    uncounted > 0
      ? `The index lacks ${lines} that the wallet of ${accountId} counts. Close the month again later`
      : `The index has ${lines} more than the wallet of ${accountId} counts. See "Wallet mismatch" in docs/runbook.md`,
  );
};

/**
 * Open live orders that were placed until a moment. Those that wait are read before and behind the others: an order may be
 * sent, or wait again, while the lists are read.
 */
const readOpenOrders = async (ledger: Ledger, to: string): Promise<OpenOrders> => {
  const range = { from: ALL_TIMES.from, to };
  const waiting = await waitingOrderKeys(ledger, range);
  const sent = await openKeys(ledger, range);
  const keys = [...waiting, ...sent, ...(await waitingOrderKeys(ledger, range))];
  return Map.groupBy(await openOrdersAmong(ledger, keys), ({ account_id }) => account_id);
};

/** What an account's period has of its open orders. An order from before the first closed month is in no file. */
export const openFields = ({ from }: MonthToClose, open: readonly OpenOrder[], before: AccountPeriod | undefined) => {
  const inFiles = open.filter(
    (order) => order.created_at >= from || Object.hasOwn(before?.open_costs ?? {}, transactionIdOf(order)),
  );
  const costs = inFiles.map((order) => [transactionIdOf(order), order.cost_kobo ?? null] as const);
  if (costs.length > OPEN_ORDERS_MAX)
    throw new OperatorError(
      `${open[0]?.account_id} has ${costs.length} orders that are open, and a month is closed with at most ${OPEN_ORDERS_MAX} of an account: end some of them, then close it again`,
      { command: `"Stuck purchase" in docs/runbook.md says how` },
    );
  return { open_orders: open.length, ...(costs.length > 0 && { open_costs: Object.fromEntries(costs) }) };
};

/** The sums of a closed month and the hash over those of its accounts, which are ordered by their ids. */
export const serviceSums = (month: MonthToClose, periods: readonly AccountPeriod[]) => {
  const kinds: KindSums = {};
  const total = { opening_kobo: 0, lines: 0, closing_kobo: 0, open_orders: 0 };
  for (const period of periods) {
    total.opening_kobo += period.opening_kobo;
    total.lines += period.lines;
    total.closing_kobo += period.closing_kobo;
    total.open_orders += period.open_orders;
    for (const name of kindNames(period.kinds)) {
      const { count = 0, kobo = 0 } = kinds[name] ?? {};
      const added = period.kinds[name];
      kinds[name] = { count: count + (added?.count ?? 0), kobo: kobo + (added?.kobo ?? 0) };
    }
  }
  const hashes = periods
    .map(({ account_id, hash }) => [account_id, hash] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  const { previous, time_zone, from, to } = month;
  const hash = hashOf(previous, [month.month, time_zone, from, to, hashes]);
  return { ...total, kinds, accounts: periods.length, hash };
};

const lineKinds = lineKind.def.options.flatMap(({ options }) => options);
/** In the order of the interface. */
export const kindNames = (kinds: KindSums) => lineKinds.filter((name) => kinds[name] !== undefined);

/**
 * Closes the month of the service, once all its accounts are closed, unless another run has closed it. The months beside
 * it are part of the write: of two that are closed at once as the first one, one is refused. So is the last replacement
 * of an account's period: a run in another zone may replace one that was read.
 */
export const closeService = async (
  ledger: Ledger,
  month: MonthToClose,
  auditOf: (period: Pick<ServicePeriod, "month" | "hash">) => AuditPut,
): Promise<void> => {
  const accountIds = await accountIdsOf(ledger, month.to);
  const replacement = await readPeriodReplacement(ledger, month.month);
  const periods = await readAccountPeriods(ledger, month.month, accountIds);
  const before = await periodsBefore(ledger, month, accountIds);
  if (periods.length < accountIds.length)
    throw new OperatorError("An account was added while the month was closed: close it again");
  const other = periods.find((each) => !isPartOf(month, each, before.get(each.account_id)));
  if (other !== undefined)
    throw new OperatorError(`Another run has closed ${other.account_id} in another way: close the month again`);
  const period = { ...month, ...serviceSums(month, periods), closed_at: isoTime(ledger.clock()) };
  const monthBefore = monthAfter(month.month, -1);
  const isClosed = await transactUnlessRefused(ledger, [
    servicePeriodPut(ledger, period),
    month.previous === "" ? isNotClosed(ledger, monthBefore) : isClosedAs(ledger, monthBefore, month.previous),
    isNotClosed(ledger, monthAfter(month.month)),
    isLastReplacement(ledger, month.month, replacement),
    auditOf(period),
  ]);
  if (!isClosed && (await readServicePeriod(ledger, month.month)) === undefined)
    throw new OperatorError(
      "Another run has closed another month, or an account in another way: close the month again",
    );
};
