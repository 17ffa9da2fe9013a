import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as z from "#zod";
import { replaceableAccount } from "../../../../shared/access/account-store.ts";
import { auditItemKinds, itemKinds } from "../../../../shared/ledger/schema.ts";
import { notifiedSchema } from "../../../../shared/notifications/notified.ts";
import { cacheItemKinds } from "../../../../shared/platform/cache-keys.ts";
import { statementSchema } from "../../../../shared/upstream-statement/statement.ts";
import { statementCaseSchema } from "../../../../shared/upstream-statement/statement-case.ts";
import { deliverySchema } from "../../../../shared/webhooks/delivery.ts";
import { subscriptionSchema } from "../../../../shared/webhooks/subscription.ts";
import { releasedVersions } from "../../../../tools/release/changelog.ts";
import { examplesOf } from "../../../../tools/release/examples.ts";
import { readFirstProblems } from "../../../../tools/release/read-first.ts";
import {
  comparedVersions,
  read,
  recordedRelease,
  releasedGoldenFiles,
  versionOf,
} from "../../../../tools/release/releases.ts";
import { readByThisTree, storedSchemas, unreadable, writeGolden } from "../../../../tools/release/stored-items.ts";

/** Goal: what a release has stored can be read by every later one. */
const text = await writeGolden();
const golden = z
  .object({
    items: z.record(z.string(), z.array(z.record(z.string(), z.unknown()))),
    messages: z.record(z.string(), z.array(z.unknown())),
  })
  .parse(JSON.parse(text));

test("a golden file has items of each kind of each table, and messages of each queue", () => {
  const kinds = [
    "access: key",
    ...itemKinds.map((kind) => `ledger: ${kind}`),
    ...auditItemKinds.map((kind) => `audit: ${kind}`),
    ...cacheItemKinds.map((kind) => `cache: ${kind}`),
  ];
  expect(Object.keys(golden.items)).toEqual(kinds);
  expect(Object.values(golden.items).filter((items) => items.length === 0)).toEqual([]);
  expect(JSON.stringify(golden.items["ledger: transaction"])).toContain('"nin_retrieval"');
  expect(Object.keys(golden.messages)).toEqual(["outcomes", "deliveries"]);
});

test("this tree reads what it writes, bytes and sets included", async () => {
  expect(await unreadable(text)).toEqual([]);
});

// Empty before the first release.
test("this tree reads the golden file of every released version", async () => {
  for (const file of releasedGoldenFiles()) expect(await unreadable(readFileSync(file, "utf8")), file).toEqual([]);
});

test("the last release reads what this tree stores, but for what is listed as not written yet", () => {
  const versions = comparedVersions(versionOf("package.json"), releasedVersions(read("CHANGELOG.md")));
  const problems = versions.map((version) => readFirstProblems(recordedRelease(version).reads, readByThisTree()));
  expect(problems.flat()).toEqual([]);
});

test("no schema refuses a field that a later release has added to what is stored", () => {
  const strict = [...storedSchemas()].filter(([, schema]) =>
    JSON.stringify(schema).includes('"additionalProperties":false'),
  );
  expect(strict.map(([name]) => name)).toEqual([]);
});

test.each([
  [
    "a field that is required now was missing",
    /"write_token":\{"S":"example"\},/g,
    "",
    /ledger: transaction: .*write_token/s,
  ],
  ["a field had another name", /"upstream_reference"/g, '"provider_reference"', /provider_reference is not read/],
  [
    "a field in an object had another name",
    /"refusals"/g,
    '"attempts_refused"',
    /queued\.attempts_refused is not read/,
  ],
  ["a status had another name", /"processing"/g, '"open"', /ledger: transaction: .*status/s],
  ["a kind had another name", /"ledger: refund"/g, '"ledger: reversal"', /ledger: reversal: no code reads this kind/],
  [
    "a reference had another transaction",
    /"transaction of a reference":"\w+"/,
    '"transaction of a reference":"0"',
    /^transaction of a reference: another value is computed$/,
  ],
  ["a message had another kind", /"settlement"/g, '"settle"', /outcomes: /],
])("a golden file of a release is not readable if %s", async (_what, found, replacement, problem) => {
  const other = JSON.stringify(JSON.parse(text)).replace(found, replacement);
  expect((await unreadable(other)).join("\n")).toMatch(problem);
});

/** The value with a further field in each of its objects. Not in records by name. */
const withLaterFields = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withLaterFields);
  const { success, data } = z.record(z.string(), z.unknown()).safeParse(value);
  if (!success) return value;
  const fields = Object.entries(data).map(([name, field]) => [
    name,
    ["entitlements", "order_limits", "response_headers", "sent"].includes(name) ? field : withLaterFields(field),
  ]);
  return { ...Object.fromEntries(fields), of_a_later_release: true };
};

test.each([
  ["an account", replaceableAccount],
  ["a statement", statementSchema],
  ["a case of a statement", statementCaseSchema],
  ["a delivery", deliverySchema],
  ["a subscription", subscriptionSchema],
  ["what a person was notified of", notifiedSchema],
] as const)(
  "%s, which a change stores as a whole, keeps what a later release has added at any depth",
  (name, schema) => {
    for (const example of examplesOf(schema, name)) {
      const later = withLaterFields(example);
      expect(schema.parse(later)).toEqual(later);
    }
  },
);

test("examples have every option, member and optional field, and the required fields alone", () => {
  const schema = z.object({
    kind: z.enum(["a", "b"]),
    more: z.optional(z.union([z.literal(1), z.object({ deep: z.boolean() })])),
  });
  expect(examplesOf(schema, "item")).toEqual([
    { kind: "a", more: 1 },
    { kind: "b", more: { deep: true } },
    { kind: "a", more: { deep: false } },
    { kind: "b", more: { deep: true } },
    { kind: "a" },
  ]);
});

test("a field of which no example is known has to be given one", () => {
  const schema = z.object({ code: z.string().check(z.regex(/^unknown-\d{3}$/)) });
  expect(() => examplesOf(schema, "coupon")).toThrow("coupon.code: add a value that its schema takes");
});
