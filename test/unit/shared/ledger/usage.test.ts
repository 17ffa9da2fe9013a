import { describe, expect, test } from "vitest";
import type { CallerLimits } from "../../../../shared/contract/order-limits.ts";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { keyUsagePk } from "../../../../shared/ledger/schema.ts";
import {
  countOrder,
  countsOtherwise,
  giveBack,
  hasPeriodLimit,
  limitBelow,
  nearLimits,
  type SeenUsage,
  seenUsage,
  type Usage,
  usageOn,
} from "../../../../shared/ledger/usage.ts";

/** Goal: what is counted, what it is compared with, and which day and month it is of. */
const TODAY = "2026-11-26";
const used = { usage_day: TODAY, day_kobo: 700_00, day_orders: 7, month_kobo: 9_000_00, month_orders: 90 };
const ORDER = { amount_kobo: koboFromNaira(100), key_id: "key_1" };

const count = (limits: CallerLimits, seen: SeenUsage = {}, now = `${TODAY}T11:00:00.000Z`) =>
  countOrder({ limits, timeZone: "Africa/Lagos" }, ORDER, Date.parse(now), seen);

test.each([
  ["exactly a limit", { account: { order_naira: 100, day_naira: 100 }, key: { month_naira: 100 } }, undefined],
  [
    "more than an order's",
    { account: { order_naira: 99, day_naira: 98 } },
    { by: "account", limit: "order_naira", max: 99 },
  ],
  [
    "more than a day's",
    { account: { month_naira: 98, day_naira: 99 } },
    { by: "account", limit: "day_naira", max: 99 },
  ],
  ["more than a key's month", { account: {}, key: { month_naira: 99 } }, { by: "key", limit: "month_naira", max: 99 }],
  [
    "more than both allow",
    { account: { month_naira: 99 }, key: { order_naira: 98 } },
    { by: "account", limit: "month_naira", max: 99 },
  ],
  ["the limits of numbers of orders", { account: { day_orders: 1, month_orders: 1 } }, undefined],
  ["no limits", {}, undefined],
] as const)("an order of %s is below a limit by itself, or is not", (_name, limits, below) => {
  expect(limitBelow(limits, ORDER.amount_kobo)).toEqual(below);
});

test("only a limit of a day or a month is counted", () => {
  for (const name of ["day_naira", "day_orders", "month_naira", "month_orders"] as const) {
    expect(hasPeriodLimit({ [name]: 1 }), name).toBe(true);
  }
  expect([hasPeriodLimit({ order_naira: 1 }), hasPeriodLimit({}), hasPeriodLimit()]).toEqual([false, false, false]);
  expect(count({ account: { order_naira: 1 }, key: {} })).toBeUndefined();
});

test("counters are those of their day and month, and 0 on another", () => {
  const { usage_day: _, ...ofToday } = used;
  const zero = { day_kobo: 0, day_orders: 0, month_kobo: 0, month_orders: 0 };
  expect(usageOn(used, TODAY)).toEqual(ofToday);
  expect(usageOn(used, "2026-11-27")).toEqual({ ...ofToday, day_kobo: 0, day_orders: 0 });
  expect(usageOn(used, "2026-12-26")).toEqual(zero);
  expect([usageOn({ usage_day: TODAY }, TODAY), usageOn(ofToday, TODAY), usageOn(undefined, TODAY)]).toEqual([
    ...[zero, zero, zero],
  ]);
});

test("a limit is near above four fifths of it, in its unit and its period", () => {
  expect(nearLimits(used, { day_naira: 875, day_orders: 8, month_naira: 11_249, month_orders: 113 })).toEqual([
    { limit: "day_orders", max: 8, period: TODAY },
    { limit: "month_naira", max: 11_249, period: "2026-11" },
  ]);
  expect(nearLimits(used, { day_naira: 874 })).toEqual([{ limit: "day_naira", max: 874, period: TODAY }]);
  expect(nearLimits(used)).toEqual([]);
  expect(nearLimits({ day_orders: 9 }, { day_orders: 9 })).toEqual([]);
  expect(nearLimits({ usage_day: TODAY }, { day_orders: 1 })).toEqual([]);
});

describe("countOrder", () => {
  test("an order that fits exactly is not refused, and one beyond it is, by the first limit that it passes", () => {
    const fitting = { day_naira: 800, day_orders: 8, month_naira: 9_100, month_orders: 91 };
    expect(count({ account: fitting, key: fitting }, { account: used, key: used })?.reached).toBeUndefined();
    const seen = { account: used, key: used };
    expect(count({ account: { ...fitting, month_naira: 9_099 } }, seen)?.reached).toEqual({
      ...{ by: "account", limit: "month_naira", max: 9_099, used: 9_000 },
    });
    expect(count({ account: fitting, key: { day_naira: 799, day_orders: 7 } }, seen)?.reached).toEqual({
      ...{ by: "key", limit: "day_naira", max: 799, used: 700 },
    });
    expect(count({ account: { day_orders: 7 } }, seen)?.reached).toEqual({
      ...{ by: "account", limit: "day_orders", max: 7, used: 7 },
    });
  });

  test("an order is counted for those that have a limit, on the latest day of the clock and of what was seen", () => {
    const limits = { day_orders: 100 };
    expect(count({ account: limits })?.counted).toEqual({ day: TODAY, account: true });
    expect(count({ account: { order_naira: 1 }, key: limits })?.counted).toEqual({ day: TODAY, key_id: "key_1" });
    const behind = { account: { usage_day: "2026-11-25" }, key: { usage_day: "2026-11-27" } };
    expect(count({ account: limits, key: limits }, behind)?.counted).toEqual({
      ...{ day: "2026-11-27", account: true, key_id: "key_1" },
    });
    // 23:00 UTC is midnight in Lagos.
    expect(count({ account: limits }, {}, `${TODAY}T22:59:59.999Z`)?.counted.day).toBe(TODAY);
    expect(count({ account: limits }, {}, `${TODAY}T23:00:00.000Z`)?.counted.day).toBe("2026-11-27");
  });

  test("the order that passes four fifths of a limit brings it near, once in its period", () => {
    const near = (limits: CallerLimits, seen: SeenUsage = {}) => count(limits, seen)?.near;
    const dayOrders = { by: "account", limit: "day_orders", max: 9 } as const;
    expect(near({ account: { day_orders: 9 } }, { account: { ...used, day_orders: 6 } })).toEqual([]);
    expect(near({ account: { day_orders: 9 } }, { account: used })).toEqual([dayOrders]);
    expect(near({ account: { day_orders: 9 } }, { account: { ...used, day_orders_near: 9 } })).toEqual([]);
    expect(near({ account: { day_orders: 9 } }, { account: { ...used, day_orders_near: 8 } })).toEqual([dayOrders]);
    // An order that passes it by itself needs no counters for that.
    expect(near({ key: { day_naira: 124 } })).toEqual([{ by: "key", limit: "day_naira", max: 124 }]);
    expect(near({ key: { day_naira: 125 } })).toEqual([]);
    // The day's counters begin anew, and the month's go on.
    const yesterday = { ...used, usage_day: "2026-11-25", day_naira_near: 124, month_orders_near: 100 };
    expect(near({ account: { day_naira: 124, month_orders: 100 } }, { account: yesterday })).toEqual([
      { by: "account", limit: "day_naira", max: 124 },
    ]);
    expect(near({ account: { day_naira: 125, month_orders: 113 } }, { account: yesterday })).toEqual([
      { by: "account", limit: "month_orders", max: 113 },
    ]);
  });

  const DAY_IS = "(attribute_not_exists(usage_day) OR usage_day = :usage_day)";
  const HAS_ROOM = "(attribute_not_exists(day_kobo) OR day_kobo <= :day_kobo_room)";
  const FIRST_NEAR = "(attribute_not_exists(day_kobo_near) OR day_kobo_near <> :day_kobo_max)";
  const partsOf = (day_naira: number, usage?: Usage) =>
    count({ account: { day_naira } }, { account: usage })?.parts.account;
  const amounts = { ":day_kobo": 100_00, ":day_orders": 1, ":month_kobo": 100_00, ":month_orders": 1 };
  const [day, month] = [
    ["day_kobo", "day_orders"],
    ["month_kobo", "month_orders"],
  ];
  const added = (names: readonly string[]) => names.map((name) => `${name} :${name}`);
  const set = (names: readonly string[]) => names.map((name) => `${name} = :${name}`);
  const near = (names: readonly string[]) => names.map((name) => `${name}_near`);

  test("a debit adds to what goes on, and requires the room that a limit leaves", () => {
    const far = "((attribute_not_exists(day_kobo) OR day_kobo <= :day_kobo_far) OR day_kobo_near = :day_kobo_max)";
    expect(partsOf(1_000)).toMatchObject({
      sets: ["usage_day = :usage_day"],
      adds: added([...day, ...month]),
      removes: [],
      conditions: [DAY_IS, HAS_ROOM, far],
      values: {
        ...{ ...amounts, ":usage_day": TODAY },
        ...{ ":day_kobo_max": 1_000_00, ":day_kobo_room": 900_00, ":day_kobo_far": 700_00 },
      },
    });
  });

  test("the debit that brings a limit near marks that limit, unless another one has", () => {
    expect(partsOf(1_000, { ...used, day_kobo: 700_01 })).toMatchObject({
      sets: ["usage_day = :usage_day", "day_kobo_near = :day_kobo_max"],
      adds: added([...day, ...month]),
      removes: [],
      conditions: [DAY_IS, HAS_ROOM, FIRST_NEAR],
      values: { ...amounts, ":usage_day": TODAY, ":day_kobo_max": 1_000_00, ":day_kobo_room": 900_00 },
    });
  });

  test("the first debit of a day begins the day's counters, and of a month all of them, without the marks of the last ones", () => {
    const conditions = ["usage_day = :read_day"];
    expect(partsOf(1_000, { ...used, usage_day: "2026-11-25" })).toMatchObject({
      sets: ["usage_day = :usage_day", ...set(day)],
      adds: added(month),
      removes: near(day),
      conditions,
      values: { ...amounts, ":usage_day": TODAY, ":read_day": "2026-11-25" },
    });
    expect(partsOf(124, { ...used, usage_day: "2026-10-26" })).toMatchObject({
      sets: [
        "usage_day = :usage_day",
        "day_kobo = :day_kobo",
        "day_kobo_near = :day_kobo_max",
        ...set(["day_orders", ...month]),
      ],
      adds: [],
      removes: near(["day_orders", ...month]),
      conditions,
      values: { ...amounts, ":usage_day": TODAY, ":read_day": "2026-10-26", ":day_kobo_max": 124_00 },
    });
  });

  test("a refused debit is sent again only if it would count otherwise", () => {
    const limits = { account: { day_orders: 9 }, key: { month_orders: 9 } };
    expect(countsOtherwise(count(limits), count(limits, { account: { ...used, day_orders: 6 } }))).toBe(false);
    expect(countsOtherwise(count(limits), count(limits, { account: used }))).toBe(true);
    expect(countsOtherwise(undefined, undefined)).toBe(false);
  });
});

test.each([
  ["that were not seen", undefined, TODAY, 4],
  ["of its day", used, TODAY, 4],
  ["of a later day of its month", { ...used, usage_day: "2026-11-30" }, "2026-11-30", 2],
  ["of the next month", { ...used, usage_day: "2026-12-26" }, undefined, 0],
  ["of an earlier day, as after a restore", { ...used, usage_day: "2026-11-25" }, undefined, 0],
  ["that have no day", {}, undefined, 0],
] as const)("a refund gives back to counters %s what they count of its order", (_name, read, day, counters) => {
  const names = ["day_kobo", "day_orders", "month_kobo", "month_orders"].slice(4 - counters);
  const values = names.map((name) => [`:${name}_back`, name.endsWith("kobo") ? -100_00 : -1]);
  expect(giveBack(koboFromNaira(100), { day: TODAY }, read)).toEqual(
    counters === 0
      ? undefined
      : {
          adds: names.map((name) => `${name} :${name}_back`),
          conditions: ["usage_day = :usage_day"],
          values: { ":usage_day": day, ...Object.fromEntries(values) },
        },
  );
});

test("the counters of a refused write are those of its wallet and of its key's item", () => {
  const { usage_day: _, ...wallet } = used;
  const near = { day_kobo_near: 1, day_orders_near: 2, month_kobo_near: 3, month_orders_near: 4 };
  const item = { pk: keyUsagePk("key_1"), account_id: "acc_1", ...used, ...near };
  expect(seenUsage({ wallet, items: [{ pk: 1 }, {}, { pk: "wallet#acc_1" }, item] })).toEqual({
    ...{ account: wallet, key: item },
  });
  expect([seenUsage({}), seenUsage({ items: [{ pk: "wallet#acc_1" }] })]).toEqual([{}, {}]);
});
