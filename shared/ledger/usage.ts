import * as z from "#zod";
import { lazyObject } from "../contract/lazy-object.ts";
import type {
  CallerLimits,
  LimitedBy,
  OrderLimitName,
  OrderLimits,
  PeriodLimitName,
} from "../contract/order-limits.ts";
import { type Kobo, koboFromNaira, nairaFromKobo } from "../contract/values/money.ts";
import { dateIn, monthOf } from "../contract/values/time-zone.ts";
import { getItems } from "./get-item.ts";
import type { Ledger, Table } from "./ledger.ts";
import { itemKindOf, keyUsagePk } from "./schema.ts";
import { joinParts, returned, type UpdateParts, updateOf } from "./update-parts.ts";

/**
 * What live orders use of the limits of their account and key. Both are counted in the write of the debit, and given
 * back in the write of the refund (decision 0036).
 */

/** Each counter, with the limit that it is compared with. */
const countedLimits = [
  ["day_kobo", "day_naira"],
  ["day_orders", "day_orders"],
  ["month_kobo", "month_naira"],
  ["month_orders", "month_orders"],
] as const satisfies readonly (readonly [string, PeriodLimitName])[];
type CounterName = (typeof countedLimits)[number][0];

/**
 * The counters of a day and its month, of live orders that are not refunded: attributes of the wallet for its account,
 * and of an item of its own for a key. `usage_day` is a date of the stage's time zone, and is never set back.
 * `..._near`: the limit of which it was logged in this period that little is left.
 */
export const usageSchema = lazyObject(() => {
  const counter = z.optional(z.int());
  return {
    usage_day: z.optional(z.iso.date()),
    ...{ day_kobo: counter, day_orders: counter, month_kobo: counter, month_orders: counter },
    ...{ day_kobo_near: counter, day_orders_near: counter, month_kobo_near: counter, month_orders_near: counter },
  } satisfies Record<CounterName | `${CounterName}_near` | "usage_day", z.ZodMiniType>;
});
export type Usage = z.infer<typeof usageSchema>;

/** The counters of a key. Only a key that has had a limit of a day or a month has the item. */
export const keyUsageSchema = lazyObject(() => ({ pk: z.string(), account_id: z.string(), ...usageSchema.shape }));
export type KeyUsage = z.infer<typeof keyUsageSchema>;

/** Where an order was counted, as its transaction has it. */
export const countedSchema = lazyObject(() => ({
  day: z.iso.date(),
  account: z.optional(z.literal(true)),
  key_id: z.optional(z.string()),
}));
export type Counted = z.infer<typeof countedSchema>;

/** The counters of account and key, as far as a refused write has shown them. */
export type SeenUsage = { readonly [By in LimitedBy]?: Usage | undefined };

/** The limits that an order counts for, and the zone whose days and months they are of. */
export type LimitGuard = { readonly limits: CallerLimits; readonly timeZone: string };

/** A limit that an order would pass. `used`: what is counted so far, in the unit of the limit. */
export type ReachedLimit = {
  readonly by: LimitedBy;
  readonly limit: OrderLimitName;
  readonly max: number;
  readonly used?: number;
};

/** One thing that an order is counted for, and the most that is allowed of it. */
type Counter = {
  readonly name: CounterName;
  readonly limit: OrderLimitName;
  readonly adds: number;
  readonly max: number | undefined;
};

/** Whether one of the limits is of a day or a month. */
export const hasPeriodLimit = (limits: OrderLimits = {}): boolean =>
  countedLimits.some(([, limit]) => limits[limit] !== undefined);

const isOfDay = (name: CounterName): boolean => name.startsWith("day");
const isAmount = (name: CounterName): boolean => name.endsWith("kobo");

/** All four are counted if one of them has a limit: a limit that is added in the course of a month counts all of it. */
const countersOf = (amountKobo: Kobo, limits: OrderLimits): readonly Counter[] =>
  countedLimits.map(([name, limit]) => {
    const max = limits[limit];
    return {
      ...{ name, limit },
      adds: isAmount(name) ? amountKobo : 1,
      max: max !== undefined && isAmount(name) ? koboFromNaira(max) : max,
    };
  });

const subjects = ["account", "key"] as const satisfies readonly LimitedBy[];

const amountLimits = ["order_naira", "day_naira", "month_naira"] as const satisfies readonly OrderLimitName[];

/** The first limit that an order passes by itself, whatever is counted. */
export const limitBelow = (limits: CallerLimits, amountKobo: Kobo): ReachedLimit | undefined =>
  subjects
    .flatMap((by) => amountLimits.map((limit) => ({ by, limit, max: limits[by]?.[limit] })))
    .flatMap(({ max, ...each }) => (max !== undefined && amountKobo > koboFromNaira(max) ? [{ ...each, max }] : []))[0];

/** The share of a limit above which it is near. */
const NEAR = 0.8;

/** Whether a counter is of the same period on both days. */
const continues = (name: CounterName, from: string, to: string): boolean =>
  isOfDay(name) ? from === to : monthOf(from) === monthOf(to);

/** What is counted so far; 0 if that was in another period. */
const usedOf = (usage: Usage | undefined, name: CounterName, day: string): number =>
  usage?.usage_day !== undefined && continues(name, usage.usage_day, day) ? (usage[name] ?? 0) : 0;

/** What is counted on a day and in its month. */
export const usageOn = (usage: Usage | undefined, day: string): Readonly<Record<CounterName, number>> => {
  const used = (name: CounterName) => usedOf(usage, name, day);
  return {
    day_kobo: used("day_kobo"),
    day_orders: used("day_orders"),
    month_kobo: used("month_kobo"),
    month_orders: used("month_orders"),
  };
};

/** A limit of a day or a month of which little is left, with the day or month: `2026-11-26`, `2026-11`. */
export type NearLimit = { readonly limit: PeriodLimitName; readonly max: number; readonly period: string };

/** The present limits of which little is left, in the day and month of the counters. */
export const nearLimits = (usage: Usage, limits: OrderLimits = {}): readonly NearLimit[] =>
  countedLimits.flatMap(([name, limit]) => {
    const [used = 0, day, max] = [usage[name], usage.usage_day, limits[limit]];
    if (day === undefined || max === undefined || inUnit(name, used) <= NEAR * max) return [];
    return [{ limit, max, period: isOfDay(name) ? day : monthOf(day) }];
  });

/** How a debit counts its order. */
export type Counting = {
  readonly parts: { readonly [By in LimitedBy]?: UpdateParts };
  /** What the transaction keeps of it. */
  readonly counted: Counted;
  /** The limits of which little is left after it. */
  readonly near: readonly Omit<ReachedLimit, "used">[];
  /** The limit that refuses it, by what was seen. */
  readonly reached: ReachedLimit | undefined;
};

/**
 * Counts an order for both; undefined if neither has a limit of a day or a month. `seen`: the counters as a refused
 * debit has shown them; without them they are assumed to be of this day and far from their limits. The day of
 * counters may be ahead of this clock around midnight, and then counts.
 *
 * The one order that brings a counter near its limit writes that limit beside it: each other one requires that the
 * counter is far from the limit, or that the limit is written. So of simultaneous orders one is logged.
 */
export const countOrder = (
  { limits, timeZone }: LimitGuard,
  { amount_kobo, key_id }: { readonly amount_kobo: Kobo; readonly key_id: string },
  nowMs: number,
  seen: SeenUsage,
): Counting | undefined => {
  const limited = subjects.flatMap((by) => {
    const own = limits[by];
    return own !== undefined && hasPeriodLimit(own)
      ? [{ by, counters: countersOf(amount_kobo, own), read: seen[by] }]
      : [];
  });
  if (limited.length === 0) return undefined;
  const days = limited.flatMap(({ read }) => read?.usage_day ?? []);
  const day = [dateIn(nowMs, timeZone), ...days].sort().at(-1) ?? "";
  const counted = limited.map((each) => ({ ...each, ...countAll(each.counters, day, each.read) }));
  return {
    parts: Object.fromEntries(counted.map(({ by, parts }) => [by, parts])),
    counted: {
      day,
      ...(counted.some(({ by }) => by === "account") && { account: true }),
      ...(counted.some(({ by }) => by === "key") && { key_id }),
    },
    near: counted.flatMap(({ by, near }) => near.map((each) => ({ by, ...each }))),
    reached: counted
      .flatMap(({ by, read, ...count }) =>
        count.counters.map((each) => ({ by, ...each, used: usedOf(read, each.name, day) })),
      )
      .flatMap(({ by, name, limit, adds, max, used }) =>
        max !== undefined && used + adds > max ? [{ by, limit, max: inUnit(name, max), used: inUnit(name, used) }] : [],
      )[0],
  };
};

/** A counted value in the unit of its limit. */
const inUnit = (name: CounterName, value: number): number => (isAmount(name) ? nairaFromKobo(value) : value);

/** Whether a debit that was refused is to be sent again, because it would count in another way. */
export const countsOtherwise = (sent: Counting | undefined, now: Counting | undefined): boolean =>
  JSON.stringify(sent?.parts) !== JSON.stringify(now?.parts);

const countAll = (counted: readonly Counter[], day: string, read: Usage | undefined) => {
  const readDay = read?.usage_day ?? day;
  const period: UpdateParts =
    readDay === day
      ? {
          sets: ["usage_day = :usage_day"],
          conditions: ["(attribute_not_exists(usage_day) OR usage_day = :usage_day)"],
          values: { ":usage_day": day },
        }
      : {
          sets: ["usage_day = :usage_day"],
          conditions: ["usage_day = :read_day"],
          values: { ":usage_day": day, ":read_day": readDay },
        };
  const each = counted.map((one) => countOne(one, continues(one.name, readDay, day), read));
  return {
    parts: joinParts(period, ...each.map(({ parts }) => parts)),
    near: counted.flatMap(({ name, limit, max }, position) =>
      max !== undefined && each[position]?.isNear ? [{ limit, max: inUnit(name, max) }] : [],
    ),
  };
};

const countOne = (
  { name, adds, max }: Counter,
  isContinued: boolean,
  read: Usage | undefined,
): { readonly parts: UpdateParts; readonly isNear: boolean } => {
  const values = { [`:${name}`]: adds };
  const near = `${name}_near` as const;
  const isBeyond = max !== undefined && adds > NEAR * max;
  if (!isContinued) {
    const parts = {
      sets: [`${name} = :${name}`, ...(isBeyond ? [`${near} = :${name}_max`] : [])],
      removes: isBeyond ? [] : [near],
      values: { ...values, ...(isBeyond && { [`:${name}_max`]: max }) },
    };
    return { parts, isNear: isBeyond };
  }
  if (max === undefined) return { parts: { adds: [`${name} :${name}`], values }, isNear: false };
  const far = Math.floor(NEAR * max) - adds;
  const isNear = read?.[near] !== max && (isBeyond || (read?.[name] ?? 0) > far);
  const isAtMost = (value: string) => `(attribute_not_exists(${name}) OR ${name} <= ${value})`;
  const parts = {
    sets: isNear ? [`${near} = :${name}_max`] : [],
    adds: [`${name} :${name}`],
    conditions: [
      isAtMost(`:${name}_room`),
      isNear
        ? `(attribute_not_exists(${near}) OR ${near} <> :${name}_max)`
        : `(${isAtMost(`:${name}_far`)} OR ${near} = :${name}_max)`,
    ],
    values: {
      ...values,
      [`:${name}_max`]: max,
      [`:${name}_room`]: max - adds,
      ...(!isNear && { [`:${name}_far`]: far }),
    },
  };
  return { parts, isNear };
};

/**
 * Gives an order's amount and number back to the day and month in which it was counted, as far as they go on. `read`:
 * the item as a refused refund has shown it; without it the day is assumed to go on. Counters of an earlier day, which
 * only a restored ledger has, did not count the order.
 */
export const giveBack = (amountKobo: Kobo, { day }: Counted, read: Usage | undefined): UpdateParts | undefined => {
  const readDay = read === undefined ? day : (read.usage_day ?? "");
  const back = readDay < day ? [] : countersOf(amountKobo, {}).filter(({ name }) => continues(name, day, readDay));
  if (back.length === 0) return undefined;
  return {
    adds: back.map(({ name }) => `${name} :${name}_back`),
    conditions: ["usage_day = :usage_day"],
    values: { ":usage_day": readDay, ...Object.fromEntries(back.map(({ name, adds }) => [`:${name}_back`, -adds])) },
  };
};

/** Changes the counters of a key: one part of a transaction of writes. */
export const keyUsageUpdate = (
  { table }: Pick<Ledger, "table">,
  { keyId, accountId }: { readonly keyId: string; readonly accountId: string },
  parts: UpdateParts,
) => {
  const owner = { sets: ["account_id = :account"], values: { ":account": accountId } };
  return { Update: { TableName: table, Key: { pk: keyUsagePk(keyId) }, ...updateOf(owner, parts), ...returned } };
};

/** The counters of the items that refused a write. */
export const seenUsage = ({
  wallet,
  items = [],
}: {
  readonly wallet?: Usage;
  readonly items?: readonly Readonly<Record<string, unknown>>[];
}): SeenUsage => {
  const item = items.find(({ pk }) => typeof pk === "string" && itemKindOf(pk) === "key-usage");
  return { ...(wallet && { account: wallet }), ...(item && { key: keyUsageSchema.parse(item) }) };
};

/** The counters of these keys, read strongly, of those that have some. */
export const readKeyUsages = (ledger: Table, keyIds: readonly string[]): Promise<readonly KeyUsage[]> =>
  getItems(ledger, keyIds.map(keyUsagePk), keyUsageSchema);
