import * as z from "#zod";
import { DAY_MS } from "../contract/values/durations.ts";
import { dateIn, datesUntil } from "../contract/values/time-zone.ts";
import { getItemsByPk } from "../ledger/get-item.ts";
import type { Table } from "../ledger/ledger.ts";
import { setParts, updateOf } from "../ledger/update-parts.ts";
import { unlessRefused } from "../platform/aws/errors.ts";
import { retryContention } from "../platform/backoff.ts";
import { cachePk } from "../platform/cache-keys.ts";
import { mapInOrder } from "../platform/map-in-order.ts";

/** A wallet's balance after one of its changes, which `version` counts. */
export type ChangedBalance = {
  readonly accountId: string;
  readonly balanceKobo: number;
  readonly version: number;
  readonly changedAtMs: number;
};

const KEPT_DAYS = 400;
const KEPT_MS = KEPT_DAYS * DAY_MS;
/** A batch may have a thousand accounts, which one after the other would take longer than the function may. */
export const WRITES_AT_ONCE = 10;

/** The item of an account's day in the cache table. */
const dayPk = (accountId: string, day: string): string => cachePk("balances", accountId, day);

/** The cache table, and the zone in which days begin. After a change of the zone, the days before it stay as they were. */
export type CacheInZone = Table & { readonly timeZone: string };

/** Sets the balance of each account's day to its newest one, unless a newer one is known. Safe to call again. */
export const setDailyBalances = async (cache: CacheInZone, changed: readonly ChangedBalance[]): Promise<void> => {
  const newest = new Map<string, ChangedBalance>();
  for (const balance of changed) {
    const pk = dayPk(balance.accountId, dateIn(balance.changedAtMs, cache.timeZone));
    if (balance.version > (newest.get(pk)?.version ?? -1)) newest.set(pk, balance);
  }
  const writes = mapInOrder(newest, WRITES_AT_ONCE, ([pk, balance], abortSignal) =>
    setDailyBalance(cache, pk, balance, abortSignal),
  );
  for await (const _ of writes);
};

const setDailyBalance = async (
  { db, table }: Table,
  pk: string,
  { balanceKobo, version, changedAtMs }: ChangedBalance,
  abortSignal: AbortSignal,
): Promise<void> => {
  const values = {
    balance_kobo: balanceKobo,
    version,
    expires_at_s: Math.floor((changedAtMs + KEPT_MS) / 1_000),
  };
  const isNewer = { conditions: ["attribute_not_exists(#version) OR #version < :version"] };
  const update = { TableName: table, Key: { pk }, ...updateOf(setParts(values), isNewer) };
  await unlessRefused(retryContention(() => db.update(update, { abortSignal })));
};

export const dayItem = z.object({ pk: z.string(), balance_kobo: z.int() });

/** The balance at the end of each of these days that has one. */
const readBalances = async (cache: CacheInZone, accountId: string, days: readonly string[]) => {
  const byPk = await getItemsByPk(
    cache,
    days.map((day) => dayPk(accountId, day)),
    dayItem,
  );
  return (day: string): number | undefined => byPk.get(dayPk(accountId, day))?.balance_kobo;
};

/**
 * The days until that of `nowMs`, oldest first, each with its last balance: that of the day before if none changed it.
 * `since`: the account's first day.
 */
export const readDailyBalances = async (
  cache: CacheInZone,
  accountId: string,
  days: number,
  nowMs: number,
  since: string,
): Promise<readonly { readonly day: string; readonly balanceKobo: number | undefined }[]> => {
  const today = dateIn(nowMs, cache.timeZone);
  const names = datesUntil(today, days);
  const [first = today] = names;
  const balanceOf = await readBalances(cache, accountId, names);
  let balanceKobo: number | undefined;
  if (balanceOf(first) === undefined) {
    const earlier = datesUntil(today, KEPT_DAYS).filter((day) => day >= since && day < first);
    const earlierBalanceOf = await readBalances(cache, accountId, earlier);
    balanceKobo = earlier.map(earlierBalanceOf).findLast((kobo) => kobo !== undefined);
  }
  return names.map((day) => {
    balanceKobo = balanceOf(day) ?? balanceKobo;
    return { day, balanceKobo };
  });
};
