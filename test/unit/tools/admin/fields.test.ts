import { expect, test } from "vitest";
import { durationField, ownersField } from "../../../../tools/admin/fields.ts";

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
