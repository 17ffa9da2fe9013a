import fc from "fast-check";
import { expect, test } from "vitest";
import {
  durationField,
  nairaOrNoneField,
  ownersField,
  permissionsField,
  positiveNairaField,
  signedNairaField,
} from "../../../../tools/admin/fields.ts";

test("an amount of NGN with no, one or two decimals is parsed as the same amount in kobo", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 999_999_999_999 }), (kobo) => {
      const text = `${Math.floor(kobo / 100)}.${String(kobo % 100).padStart(2, "0")}`;
      expect(positiveNairaField.parse(text)).toBe(kobo);
      expect(positiveNairaField.parse(text.replace(/\.?0{1,2}$/, "") || "0")).toBe(kobo);
      expect(signedNairaField.parse(`-${text}`)).toBe(-kobo);
      expect(signedNairaField.parse(`+${text}`)).toBe(kobo);
    }),
  );
});

test("an amount may have commas between thousands, and nowhere else, as in the console", () => {
  expect(positiveNairaField.parse("50,000.50")).toBe(50_000_50);
  const fields = [positiveNairaField, signedNairaField, nairaOrNoneField];
  for (const field of fields) expect(field.safeParse("500,00").error?.issues[0]?.message).toMatch(/commas only/);
});

test.for(["0", "0.00", "-5", "1.005", "1e3", "0x10", "5,00", "NaN", "12345678901", "10,000,000,000", ""])(
  "wallet fund refuses the amount '%s'",
  (text) => {
    expect(positiveNairaField.safeParse(text).success).toBe(false);
  },
);

test("a threshold is parsed as kobo, 0 included, and anything else is refused", () => {
  expect(["500.5", "0", "0.00"].map((text) => nairaOrNoneField.parse(text))).toEqual([500_50, 0, 0]);
  for (const text of ["-5", "1.005", "none", ""]) expect(nairaOrNoneField.safeParse(text).success).toBe(false);
});

test.for([
  ["0", 0],
  ["90s", 90_000],
  ["30m", 1_800_000],
  ["24h", 86_400_000],
  ["7d", 604_800_000],
] as const)("the duration %s is %i ms", ([text, ms]) => {
  expect(durationField.parse(text)).toBe(ms);
});

test("permissions are parsed without duplicates, and unknown ones are refused", () => {
  expect(permissionsField.parse("vtu, identity,vtu")).toEqual(["vtu", "identity"]);
  for (const text of ["", "vtu,", "all"]) expect(permissionsField.safeParse(text).success).toBe(false);
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
