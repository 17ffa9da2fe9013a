import * as z from "#zod";
import { lazyObject } from "./lazy-object.ts";

export const periodLimitNames = ["day_naira", "month_naira", "day_orders", "month_orders"] as const;
export type PeriodLimitName = (typeof periodLimitNames)[number];

/** The most that an account or a key may order in live mode: by order, by day and by month. */
export const orderLimitName = z.enum(
  ["order_naira", ...periodLimitNames],
  "Must be some of order_naira, day_naira, month_naira, day_orders, month_orders",
);
export type OrderLimitName = z.infer<typeof orderLimitName>;

const LIMIT_MAX = 1_000_000_000;

/** An absent limit limits nothing. */
export const orderLimitsSchema = z
  .partialRecord(orderLimitName, z.int().check(z.minimum(1), z.maximum(LIMIT_MAX)))
  .register(z.globalRegistry, {
    description: `pairs such as day_naira=100000 day_orders=500, of ${orderLimitName.options.join(", ")}; none removes all limits`,
  });
export type OrderLimits = Readonly<z.infer<typeof orderLimitsSchema>>;

/** Whether a limit of `after` allows more than the same one of `before`. */
export const raisesLimits = (before: OrderLimits, after: OrderLimits): boolean =>
  orderLimitName.options.some(
    (each) => (before[each] ?? Number.POSITIVE_INFINITY) < (after[each] ?? Number.POSITIVE_INFINITY),
  );

/** The lower one of each limit. */
export const lowerLimits = (one: OrderLimits, other: OrderLimits): OrderLimits =>
  Object.fromEntries(
    orderLimitName.options.flatMap((each) => {
      const max = Math.min(one[each] ?? Number.POSITIVE_INFINITY, other[each] ?? Number.POSITIVE_INFINITY);
      return Number.isFinite(max) ? [[each, max]] : [];
    }),
  );

export type LimitedBy = "account" | "key";

/** The limits that an order counts for: its account's, and its key's. */
export type CallerLimits = { readonly [By in LimitedBy]?: OrderLimits | undefined };

/** `day_naira=100000 day_orders=500`, as it is typed; `none` for nothing. */
export const orderLimitsText = (limits: OrderLimits): string =>
  orderLimitName.options.flatMap((each) => (limits[each] === undefined ? [] : [`${each}=${limits[each]}`])).join(" ") ||
  "none";

/** What of an order's day and month is counted, of live orders that are not refunded; amounts in NGN. */
export const usageView = lazyObject(() => ({
  day: z.iso.date(),
  day_naira: z.number(),
  day_orders: z.int(),
  month_naira: z.number(),
  month_orders: z.int(),
}));
