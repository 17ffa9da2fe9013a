import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { type TransactionType, transactionType } from "../contract/transaction.ts";
import { getItems } from "../ledger/get-item.ts";
import type { Table } from "../ledger/ledger.ts";
import { retryContention } from "../platform/backoff.ts";
import { cachePk } from "../platform/cache-keys.ts";
import { isoTime } from "../platform/time.ts";

/** A live transaction that has ended. */
export type EndedTransaction = {
  readonly type: TransactionType;
  /** Absent for an identity check. */
  readonly network?: string | undefined;
  readonly status: "success" | "failed";
  readonly amountKobo: number;
  readonly endedAtMs: number;
  /** From the request to the upstream to the end; undefined if an operator ended it. */
  readonly latencyMs: number | undefined;
};

/** What one hour has of transactions with the same type, network and status. */
export type EndedCount = {
  readonly type: TransactionType;
  readonly network: string | null;
  readonly status: "success" | "failed";
  readonly count: number;
  readonly kobo: number;
  /** One number for each bound, and last the transactions above all of them; only of successful ones. */
  readonly latency: readonly number[];
};

export const LATENCY_BOUNDS_MS = [1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000] as const;

const HOUR_MS = 3_600_000;
const KEPT_MS = 90 * 24 * HOUR_MS;
/** Bounds an update's expression, which may have 4 KB. */
const ATTRIBUTES_MAX = 100;

/** The item of an hour in the cache table: `statistics#2026-11-22T10`. */
const hourPk = (atMs: number): string => cachePk("statistics", isoTime(atMs).slice(0, 13));
const hourOf = (atMs: number): number => Math.floor(atMs / HOUR_MS) * HOUR_MS;

const latencyBucket = (latencyMs: number): number => {
  const bucket = LATENCY_BOUNDS_MS.findIndex((boundMs) => latencyMs <= boundMs);
  return bucket < 0 ? LATENCY_BOUNDS_MS.length : bucket;
};

/** The attributes of a transaction's hour, with what it adds: `airtime|MTN|success|count`. */
const increments = ({ type, network = "", status, amountKobo, latencyMs }: EndedTransaction) => {
  const name = (what: string | number): string => [type, network, status, what].join("|");
  return [
    [name("count"), 1],
    [name("kobo"), amountKobo],
    ...(status === "success" && latencyMs !== undefined ? [[name(latencyBucket(latencyMs)), 1] as const] : []),
  ] as const;
};

/** Adds transactions to the items of the hours in which they ended. A call that is made again counts them twice. */
export const addToHours = async (cache: Table, ended: readonly EndedTransaction[]): Promise<void> => {
  const hours = new Map<number, Map<string, number>>();
  for (const transaction of ended) {
    const hourMs = hourOf(transaction.endedAtMs);
    const sums = hours.get(hourMs) ?? new Map<string, number>();
    hours.set(hourMs, sums);
    for (const [name, amount] of increments(transaction)) sums.set(name, (sums.get(name) ?? 0) + amount);
  }
  for (const [hourMs, sums] of hours) {
    const all = [...sums];
    for (let start = 0; start < all.length; start += ATTRIBUTES_MAX) {
      await addToHour(cache, hourMs, all.slice(start, start + ATTRIBUTES_MAX));
    }
  }
};

const addToHour = async (
  { db, table }: Table,
  hourMs: number,
  sums: readonly (readonly [name: string, amount: number])[],
): Promise<void> => {
  const update = new UpdateCommand({
    TableName: table,
    Key: { pk: hourPk(hourMs) },
    UpdateExpression: `SET expires_at_s = :expires ADD ${sums.map((_, index) => `#${index} :${index}`).join(", ")}`,
    ExpressionAttributeNames: Object.fromEntries(sums.map(([name], index) => [`#${index}`, name])),
    ExpressionAttributeValues: {
      ":expires": Math.floor((hourMs + KEPT_MS) / 1_000),
      ...Object.fromEntries(sums.map(([, amount], index) => [`:${index}`, amount])),
    },
  });
  // A failed batch is handled again, which would count the hours before this one twice.
  await retryContention(() => db.send(update));
};

const hourItem = z.looseObject({ pk: z.string() });
const COUNTED = new RegExp(
  `^(${transactionType.options.join("|")})\\|(.*)\\|(success|failed)\\|(count|kobo|\\d+)$`,
  "s",
);
const counted = z.tuple([
  z.string(),
  transactionType,
  z.string(),
  z.enum(["success", "failed"]),
  z.union([z.enum(["count", "kobo"]), z.coerce.number().int().max(LATENCY_BOUNDS_MS.length)]),
]);

/** Every hour from the one of `fromMs` to the one of `toMs`, oldest first. */
export const readHours = async (
  cache: Table,
  fromMs: number,
  toMs: number,
): Promise<readonly { readonly hourMs: number; readonly counts: readonly EndedCount[] }[]> => {
  const hours: number[] = [];
  for (let hourMs = hourOf(fromMs); hourMs <= toMs; hourMs += HOUR_MS) hours.push(hourMs);
  const items = await getItems(
    cache,
    hours.map((hourMs) => ({ pk: hourPk(hourMs) })),
    hourItem,
  );
  const byPk = new Map(items.map((item) => [item.pk, item]));
  return hours.map((hourMs) => ({ hourMs, counts: countsIn(byPk.get(hourPk(hourMs)) ?? {}) }));
};

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
  };
};
