import type { UpdateCommandInput } from "@aws-sdk/lib-dynamodb";
import * as z from "#zod";
import { type FinalStatus, finalStatus } from "../contract/final-status.ts";
import { type TransactionType, transactionType } from "../contract/transaction.ts";
import { DAY_MS, HOUR_MS } from "../contract/values/durations.ts";
import { dateIn, datesUntil } from "../contract/values/time-zone.ts";
import { getItemsByPk } from "../ledger/get-item.ts";
import type { Table } from "../ledger/ledger.ts";
import { retryContention } from "../platform/backoff.ts";
import { cachePk } from "../platform/cache-keys.ts";
import { mapInOrder } from "../platform/map-in-order.ts";
import { isoTime } from "../platform/time.ts";
import { type CacheInZone, WRITES_AT_ONCE } from "./daily-balances.ts";

/** A live transaction that has ended. */
export type EndedTransaction = Ended & { readonly accountId: string };
type Ended = {
  readonly type: TransactionType;
  /** Absent for an identity check. */
  readonly network?: string | undefined;
  readonly status: FinalStatus;
  /** Of a failed one, unless an operator resolved it. */
  readonly errorCode?: string | undefined;
  readonly amountKobo: number;
  readonly endedAtMs: number;
  /** From the request to the upstream to the end; undefined if an operator ended it. */
  readonly latencyMs: number | undefined;
};

/** What one hour has of transactions with the same type, network and status. */
export type EndedCount = {
  readonly type: TransactionType;
  readonly network: string | null;
  readonly status: FinalStatus;
  readonly count: number;
  readonly kobo: number;
  /** One number for each bound, and last the transactions above all of them; only of successful ones. */
  readonly latency: readonly number[];
  /** How many ended in each quarter of the hour; only of orders of a network, without those that an operator resolved. */
  readonly quarters: readonly number[];
};

export const LATENCY_BOUNDS_MS = [1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000] as const;
export const QUARTER_MS = HOUR_MS / 4;
/** In place of an error's code: an operator resolved the order as failed. */
const RESOLVED = "resolved";
const QUARTERS = ["q0", "q1", "q2", "q3"] as const;
const KEPT_MS = 90 * DAY_MS;
/** Bounds an update's expression, which may have 4 KB. */
const ATTRIBUTES_MAX = 100;

/** The item of an hour in the cache table: `statistics#2026-11-22T10`. */
const hourPk = (atMs: number): string => cachePk("statistics", isoTime(atMs).slice(0, 13));
/** The item of an account's day: `statistics#acc_1#2026-11-22`. */
const dayPk = (accountId: string, day: string): string => cachePk("statistics", accountId, day);
const hourOf = (atMs: number): number => Math.floor(atMs / HOUR_MS) * HOUR_MS;

const latencyBucket = (latencyMs: number): number => {
  const bucket = LATENCY_BOUNDS_MS.findIndex((boundMs) => latencyMs <= boundMs);
  return bucket < 0 ? LATENCY_BOUNDS_MS.length : bucket;
};

type Increment = readonly [name: string, amount: number];

/** The attributes of a transaction's hour or day, with what it adds: `airtime|MTN|success|count`. */
const increments = (transaction: Ended, more: string | undefined): readonly Increment[] => {
  const { type, network = "", status, amountKobo, latencyMs } = transaction;
  const name = (what: string | number): string => [type, network, status, what].join("|");
  return [
    [name("count"), 1],
    [name("kobo"), amountKobo],
    ...(more === undefined ? [] : [[name(more), 1] as const]),
    ...(status === "success" && latencyMs !== undefined ? [[name(latencyBucket(latencyMs)), 1] as const] : []),
  ] as const;
};

/** When a person ends an order says nothing of what its network delivers then. */
const quarterOf = ({ network, endedAtMs, latencyMs }: Ended): string | undefined =>
  latencyMs === undefined ? undefined : network && `q${Math.floor((endedAtMs - hourOf(endedAtMs)) / QUARTER_MS)}`;

/** Adds transactions to the items of the hours in which they ended. A call that is made again counts them twice. */
export const addToHours = (cache: Table, ended: readonly Ended[]): Promise<void> =>
  addCounts(cache, ended, ({ endedAtMs }) => hourPk(endedAtMs), quarterOf);

const reasonOf = ({ status, errorCode = RESOLVED }: Ended): string | undefined =>
  status === "failed" ? errorCode : undefined;

/** Adds transactions to the items of their accounts' days. A call that is made again counts them twice. */
export const addToAccountDays = (cache: CacheInZone, ended: readonly EndedTransaction[]): Promise<void> =>
  addCounts(cache, ended, ({ accountId, endedAtMs }) => dayPk(accountId, dateIn(endedAtMs, cache.timeZone)), reasonOf);

const addCounts = async <Counted extends Ended>(
  cache: Table,
  ended: readonly Counted[],
  pkOf: (transaction: Counted) => string,
  moreOf: (transaction: Counted) => string | undefined,
): Promise<void> => {
  const items = new Map<string, { readonly endedAtMs: number; readonly sums: Map<string, number> }>();
  for (const transaction of ended) {
    const pk = pkOf(transaction);
    const { sums } = items.get(pk) ?? { sums: new Map<string, number>() };
    items.set(pk, { endedAtMs: transaction.endedAtMs, sums });
    for (const [name, amount] of increments(transaction, moreOf(transaction))) {
      sums.set(name, (sums.get(name) ?? 0) + amount);
    }
  }
  const parts = [...items].flatMap(([pk, { endedAtMs, sums }]) => {
    const all = [...sums];
    return Array.from({ length: Math.ceil(all.length / ATTRIBUTES_MAX) }, (_, part) => ({
      ...{ pk, endedAtMs },
      sums: all.slice(part * ATTRIBUTES_MAX, (part + 1) * ATTRIBUTES_MAX),
    }));
  });
  for await (const _ of mapInOrder(parts, WRITES_AT_ONCE, (part, abortSignal) => addPart(cache, part, abortSignal)));
};

type Part = { readonly pk: string; readonly endedAtMs: number; readonly sums: readonly Increment[] };

const addPart = async ({ db, table }: Table, { pk, endedAtMs, sums }: Part, abortSignal: AbortSignal) => {
  const update: UpdateCommandInput = {
    TableName: table,
    Key: { pk },
    UpdateExpression: `SET expires_at_s = :expires ADD ${sums.map((_, index) => `#${index} :${index}`).join(", ")}`,
    ExpressionAttributeNames: Object.fromEntries(sums.map(([name], index) => [`#${index}`, name])),
    ExpressionAttributeValues: {
      ":expires": Math.floor((hourOf(endedAtMs) + KEPT_MS) / 1_000),
      ...Object.fromEntries(sums.map(([, amount], index) => [`:${index}`, amount])),
    },
  };
  // A failed batch is handled again, which would count the items before this one twice.
  await retryContention(() => db.update(update, { abortSignal }));
};

const hourItem = z.looseObject({ pk: z.string() });
const COUNTED = new RegExp(
  `^(${transactionType.options.join("|")})\\|(.*)\\|(success|failed)\\|(count|kobo|q[0-3]|\\d+)$`,
  "s",
);
const counted = z.tuple([
  z.string(),
  transactionType,
  z.string(),
  finalStatus,
  z.union([
    z.enum(["count", "kobo", ...QUARTERS]),
    z.coerce.number().check(z.int(), z.maximum(LATENCY_BOUNDS_MS.length)),
  ]),
]);

/** Every hour from the one of `fromMs` to the one of `toMs`, oldest first. */
export const readHours = async (
  cache: Table,
  fromMs: number,
  toMs: number,
): Promise<readonly { readonly hourMs: number; readonly counts: readonly EndedCount[] }[]> => {
  const hours: number[] = [];
  for (let hourMs = hourOf(fromMs); hourMs <= toMs; hourMs += HOUR_MS) hours.push(hourMs);
  const byPk = await getItemsByPk(cache, hours.map(hourPk), hourItem);
  return hours.map((hourMs) => ({ hourMs, counts: countsIn(byPk.get(hourPk(hourMs)) ?? {}) }));
};

/** Why the orders of an account failed on a day, by the code of the error that their caller got. */
export type FailureCount = Pick<EndedCount, "type" | "network" | "count"> & { readonly code: string };

/** The days until that of `nowMs`, oldest first, each with what ended in it. */
export const readAccountDays = async (cache: CacheInZone, accountId: string, days: number, nowMs: number) => {
  const names = datesUntil(dateIn(nowMs, cache.timeZone), days);
  const pks = names.map((day) => dayPk(accountId, day));
  const byPk = await getItemsByPk(cache, pks, hourItem);
  return names.map((day) => {
    const item = byPk.get(dayPk(accountId, day)) ?? {};
    return { day, counts: countsIn(item), failures: failuresIn(item) };
  });
};

const FAILED = new RegExp(`^(${transactionType.options.join("|")})\\|(.*)\\|failed\\|([a-z_]+)$`, "s");
const failed = z.tuple([z.string(), transactionType, z.string(), z.string(), z.number()]);
const COUNTED_NAMES: readonly string[] = ["count", "kobo"];

const failuresIn = (item: Readonly<Record<string, unknown>>): readonly FailureCount[] =>
  Object.entries(item).flatMap(([name, value]) => {
    const { data } = failed.safeParse([...(FAILED.exec(name) ?? []), value]);
    if (data === undefined) return [];
    const [, type, network, code, count] = data;
    return COUNTED_NAMES.includes(code) ? [] : [{ type, network: network === "" ? null : network, code, count }];
  });

const NO_LATENCY: readonly number[] = [...LATENCY_BOUNDS_MS, 0].map(() => 0);

/** Counts of several hours as one for each type, network and status. */
export const sumOfCounts = (counts: readonly EndedCount[]): readonly EndedCount[] => {
  const sums = new Map<string, EndedCount>();
  for (const each of counts) {
    const key = [each.type, each.network, each.status].join("|");
    const sum = sums.get(key);
    sums.set(key, {
      ...each,
      count: each.count + (sum?.count ?? 0),
      kobo: each.kobo + (sum?.kobo ?? 0),
      latency: each.latency.map((number, bucket) => number + (sum?.latency[bucket] ?? 0)),
      quarters: each.quarters.map((number, quarter) => number + (sum?.quarters[quarter] ?? 0)),
    });
  }
  return [...sums.values()];
};

const countsIn = (item: Readonly<Record<string, unknown>>): readonly EndedCount[] =>
  sumOfCounts(Object.entries(item).flatMap(([name, value]) => countOf(name, value) ?? []));

/** What one attribute adds to its count; undefined for the attributes that count nothing. */
const countOf = (name: string, value: unknown): EndedCount | undefined => {
  const { data } = counted.safeParse([...(COUNTED.exec(name) ?? [])]);
  const number = z.number().safeParse(value).data;
  if (data === undefined || number === undefined) return undefined;
  const [, type, network, status, what] = data;
  return {
    type,
    network: network === "" ? null : network,
    status,
    count: what === "count" ? number : 0,
    kobo: what === "kobo" ? number : 0,
    latency: NO_LATENCY.map((_, bucket) => (bucket === what ? number : 0)),
    quarters: QUARTERS.map((quarter) => (quarter === what ? number : 0)),
  };
};
