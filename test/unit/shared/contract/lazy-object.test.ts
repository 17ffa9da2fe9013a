import { expect, test, vi } from "vitest";
import * as z from "#zod";
import { replaceableAccount } from "../../../../shared/access/account-store.ts";
import { lazyObject, lazyStrictObject } from "../../../../shared/contract/lazy-object.ts";
import { notifiedSchema } from "../../../../shared/notifications/notified.ts";
import { statementSchema } from "../../../../shared/upstream-statement/statement.ts";
import { statementCaseSchema } from "../../../../shared/upstream-statement/statement-case.ts";
import { deliverySchema } from "../../../../shared/webhooks/delivery.ts";
import { subscriptionSchema } from "../../../../shared/webhooks/subscription.ts";

const aShape = () => ({ name: z.string(), count: z.optional(z.int()) });
const FOUND = { name: "a", count: 1, other: true };

test("the shape is made once, when something is parsed first", () => {
  const makeShape = vi.fn(aShape);
  const schema = lazyObject(makeShape);
  const derived = [schema.register(z.globalRegistry, { description: "A thing" }), z.optional(schema)] as const;
  expect(makeShape).not.toHaveBeenCalled();
  expect([schema, ...derived].map((each) => each.parse(FOUND))).toEqual([
    { name: "a", count: 1 },
    { name: "a", count: 1 },
    { name: "a", count: 1 },
  ]);
  expect(makeShape).toHaveBeenCalledTimes(1);
});

test("it refuses what z.object refuses, with the same issues", () => {
  for (const input of [{}, { name: 1 }, { name: "a", count: 0.5 }, undefined, []]) {
    const issues = lazyObject(aShape).safeParse(input).error?.issues;
    expect(issues).toEqual(z.object(aShape()).safeParse(input).error?.issues);
    expect(issues).toBeDefined();
  }
});

test("one that is strict is made where it is found, not where it may be absent, and refuses what z.strictObject refuses", () => {
  const makeShape = vi.fn(aShape);
  const schema = lazyStrictObject(makeShape);
  const owner = z.strictObject({ one: z.optional(schema), other: z._default(schema, { name: "b" }) });
  expect(owner.parse({})).toEqual({ other: { name: "b" } });
  expect(makeShape).not.toHaveBeenCalled();
  for (const input of [FOUND, {}, undefined]) {
    const issues = schema.safeParse(input).error?.issues;
    expect(issues).toEqual(z.strictObject(aShape()).safeParse(input).error?.issues);
    expect(issues).toBeDefined();
  }
});

test("it can be described, narrowed, and be an option of a union", () => {
  const schema = lazyObject(aShape);
  expect(z.toJSONSchema(schema)).toEqual(z.toJSONSchema(z.object(aShape())));
  expect(z.pick(schema, { name: true }).parse(FOUND)).toEqual({ name: "a" });
  const union = z.discriminatedUnion("kind", [
    lazyObject(() => ({ kind: z.literal("one") })),
    lazyObject(() => ({ kind: z.literal("other"), count: z.int() })),
  ]);
  expect(union.parse({ kind: "other", ...FOUND })).toEqual({ kind: "other", count: 1 });
  expect(union.safeParse({ kind: "third" }).success).toBe(false);
});

/** The paths of the objects in a JSON schema of what is parsed that lose their unknown fields. */
const losingObjects = (json: object, path: string): readonly string[] => [
  ...("additionalProperties" in json && json.additionalProperties === false ? [path] : []),
  ...Object.entries(json).flatMap(([name, each]: [string, unknown]) =>
    typeof each === "object" && each !== null ? losingObjects(each, `${path}/${name}`) : [],
  ),
];

test("what is read, changed and stored as a whole keeps the unknown fields of each of its objects", () => {
  const replaced = { replaceableAccount, notifiedSchema, statementSchema, statementCaseSchema, deliverySchema };
  const schemas = Object.entries({ ...replaced, subscriptionSchema });
  expect(schemas.flatMap(([name, schema]) => losingObjects(z.toJSONSchema(schema), name))).toEqual([]);
});
