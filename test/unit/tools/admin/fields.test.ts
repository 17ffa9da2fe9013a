import { expect, test } from "vitest";
import { durationField, entitlementsField, limitsField, ownersField } from "../../../../tools/admin/fields.ts";

test.for([
  ["0", 0],
  ["90s", 90_000],
  ["30m", 1_800_000],
  ["24h", 86_400_000],
  ["7d", 604_800_000],
] as const)("the duration %s is %i ms", ([text, ms]) => {
  expect(durationField.parse(text)).toBe(ms);
});

test("owners are e-mail addresses in lower case and groups as written; none is an empty list", () => {
  expect(ownersField.parse(["email:Ada@Example.com", "group:a:b, c"])).toEqual([
    { kind: "email", value: "ada@example.com" },
    { kind: "group", value: "a:b, c" },
  ]);
  expect(ownersField.parse(["none"])).toEqual([]);
});

test.for([
  [["email:ada"], '"email:ada": "ada" is not an e-mail address'],
  [["group:x", "ada@example.com"], '"ada@example.com": Must be email:ADDRESS, group:NAME or none'],
  [["group:"], '"group:": Must not be empty'],
  [["none", "group:x"], '"none": Must be email:ADDRESS, group:NAME or none'],
  [Array.from({ length: 21 }, (_, n) => `group:${n}`), "Must be at most 20 owners"],
] as const)("owners that are none are refused with the entry and the rule: %s", ([entries, message]) => {
  expect(ownersField.safeParse(entries).error?.issues[0]?.message).toBe(message);
});

test("limits and entitlements are names with numbers, and none is nothing", () => {
  expect(limitsField.parse(["day_naira=100000", "day_orders=500"])).toEqual({ day_naira: 100_000, day_orders: 500 });
  expect(entitlementsField.parse(["vtu", "identity=1000"])).toEqual({ vtu: null, identity: 1_000 });
  expect([limitsField.parse(["none"]), entitlementsField.parse(["none"])]).toEqual([{}, {}]);
});

test.for([
  [limitsField, ["day=5"], '"day=5": Must be order_naira, day_naira, month_naira, day_orders, month_orders or none'],
  [limitsField, ["day_naira=5", "none"], /^"none": Must be order_naira/],
  [limitsField, ["day_orders=5", "day_naira=5=6"], '"day_naira=5=6": Must be a whole number'],
  [limitsField, ["day_naira=5", "day_naira="], '"day_naira=": day_naira is there already'],
  [limitsField, ["day_naira="], '"day_naira=": Must be a whole number'],
  [entitlementsField, ["vtu", "vtu=5"], '"vtu=5": vtu is there already'],
  [entitlementsField, ["identity="], '"identity=": Must be a whole number'],
  [entitlementsField, ["__proto__=5"], /^"__proto__=5": Must be vtu, /],
] as const)("pairs of which one is wrong are refused with that one and the rule: %#", ([field, entries, message]) => {
  expect(field.safeParse([...entries]).error?.issues[0]?.message).toMatch(message);
});
