import { expect, test } from "vitest";
import * as z from "#zod";

test.each<readonly [schema: z.ZodMiniType, value: unknown, message: string]>([
  [z.string(), undefined, "Is required"],
  [z.enum(["live", "test"]), undefined, "Is required"],
  [z.string(), 5, "Must be a string"],
  [z.number(), Number.NaN, "Must be a number"],
  [z.int(), 1.5, "Must be a whole number"],
  [z.int(), "x", "Must be a whole number"],
  [z.boolean(), "yes", "Must be true or false"],
  [z.array(z.string()), {}, "Must be a list"],
  [z.record(z.string(), z.string()), [], "Must be an object"],
  [z.literal(true), false, "Must be true"],
  [z.enum(["live", "test"]), "other", "Must be live or test"],
  [z.literal([7, 14, 30]), 8, "Must be one of 7, 14, 30"],
  [z.discriminatedUnion("kind", [z.object({ kind: z.literal("none") })]), { kind: "all" }, "Must be none"],
  [z.string().check(z.minLength(1)), "", "Must not be empty"],
  [z.string().check(z.minLength(3)), "ab", "Must have at least 3 characters"],
  [z.array(z.string()).check(z.maxLength(1)), ["a", "b"], "Must have at most 1 entries"],
  [z.number().check(z.minimum(5)), 4, "Must be at least 5"],
  [z.number().check(z.maximum(5)), 6, "Must be at most 5"],
  [z.number().check(z.positive()), 0, "Must be above 0"],
  [z.number().check(z.negative()), 0, "Must be below 0"],
  [z.email(), "ada", "Must be an e-mail address"],
  [z.strictObject({}), { colour: 1, size: 2 }, 'Has the unknown fields "colour", "size"'],
  [z.union([z.string(), z.number()]), true, "Is not valid"],
])("%j says what is right: %j is answered by %j", (schema, value, message) => {
  expect(schema.safeParse(value).error?.issues[0]?.message).toBe(message);
});

test("no message has the value, which may be the number of a person or a secret", () => {
  for (const schema of [z.int(), z.email(), z.iso.date(), z.url(), z.enum(["a"]), z.string().check(z.maxLength(3))])
    expect(schema.safeParse("08031234567").error?.issues[0]?.message).not.toContain("0803");
});
