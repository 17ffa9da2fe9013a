import { expect, test } from "vitest";
import * as z from "#zod";
import { addSchema } from "../../../../tools/release/json-schema-surface.ts";
import { readFirstProblems } from "../../../../tools/release/read-first.ts";
import { finished, newDraft, type Surface } from "../../../../tools/release/surface-schema.ts";

const readBy = (schema: z.ZodMiniType): Surface => {
  const draft = newDraft();
  addSchema(
    { draft, direction: "sent", resolve: (ref) => ref },
    "ledger: order",
    z.toJSONSchema(schema, { io: "input" }),
  );
  return finished(draft);
};

const kinds = (...options: readonly z.ZodMiniObject[]) =>
  z.object({ event: z.union([z.object({ kind: z.literal("a"), at: z.string() }), ...options]) });
const base = {
  status: z.enum(["open", "ended"]),
  name: z.string().check(z.maxLength(10)),
  count: z.int().check(z.minimum(1)),
  note: z.optional(z.string()),
};

test.each<readonly [what: string, after: z.ZodMiniType, unread: readonly string[]]>([
  ["nothing changes", z.object(base), []],
  ["an optional field is added", z.object({ ...base, more: z.optional(z.enum(["a"])) }), []],
  ["a required field is added", z.object({ ...base, more: z.object({ deep: z.int() }) }), []],
  ["a value is removed", z.object({ ...base, status: z.enum(["open"]) }), []],
  ["an optional field becomes required", z.object({ ...base, note: z.string() }), []],
  ["a limit is lower", z.object({ ...base, name: z.string().check(z.maxLength(9)) }), []],
  [
    "a value is added",
    z.object({ ...base, status: z.enum(["open", "ended", "late"]) }),
    ['ledger: order.status = "late"'],
  ],
  [
    "a field gets another type",
    z.object({ ...base, note: z.optional(z.nullable(z.string())) }),
    ["ledger: order.note: null"],
  ],
  [
    "a field can be missing",
    z.object({ ...base, name: z.optional(base.name) }),
    ["ledger: order :: name is required, no longer"],
  ],
  [
    "a limit is higher",
    z.object({ ...base, name: z.string().check(z.maxLength(11)) }),
    ["ledger: order.name :: maxLength, no longer"],
  ],
  [
    "a least value is lower",
    z.object({ ...base, count: z.int().check(z.minimum(0)) }),
    ["ledger: order.count :: minimum, no longer"],
  ],
  ["a limit is dropped", z.object({ ...base, name: z.string() }), ["ledger: order.name :: maxLength, no longer"]],
])(
  "if %s, the last release reads all but what has to be read a release before it is written",
  (_what, after, unread) => {
    const [before, now] = [readBy(z.object(base)), readBy(after)];
    expect(readFirstProblems(before, now, unread)).toEqual([]);
    expect(readFirstProblems(before, now, [])).toEqual(
      unread.map(
        (each) =>
          `${each}: the last release cannot read it. Do not write it yet, and list it in tools/release/read-first.ts`,
      ),
    );
  },
);

test("another kind of event has to be read a release before it is written", () => {
  const another = z.object({ kind: z.literal("b"), by: z.string() });
  expect(readFirstProblems(readBy(kinds()), readBy(kinds(another)), ['ledger: order.event.kind = "b"'])).toEqual([]);
});

test("what the last release reads is written, and not listed any more", () => {
  const same = readBy(z.object(base));
  expect(readFirstProblems(same, same, ['ledger: order.status = "ended"'])).toEqual([
    'ledger: order.status = "ended": the last release reads it. Write it, and take it off tools/release/read-first.ts',
  ]);
});
