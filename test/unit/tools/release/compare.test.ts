import { expect, test } from "vitest";
import * as z from "#zod";
import { compareSurfaces, compareVersions, leastVersion } from "../../../../tools/release/compare.ts";
import { addSchema } from "../../../../tools/release/json-schema-surface.ts";
import { comparedVersions, versionProblem } from "../../../../tools/release/releases.ts";
import { finished, newDraft, type Surface } from "../../../../tools/release/surface-schema.ts";

const surfaceOf = (direction: "sent" | "read", schema: z.ZodMiniType): Surface => {
  const draft = newDraft();
  const io = direction === "sent" ? "input" : "output";
  addSchema({ draft, direction, resolve: (ref) => ref }, "POST /x body", z.toJSONSchema(schema, { io }));
  return finished(draft);
};
const base = { name: z.string().check(z.maxLength(10)), kind: z.enum(["a", "b"]), note: z.optional(z.string()) };

test.each<readonly [what: string, after: z.ZodMiniType, sent: string, read: string]>([
  ["nothing changes", z.object(base), "none", "none"],
  ["a description changes", z.object(base).register(z.globalRegistry, { description: "new words" }), "none", "none"],
  [
    "an optional field is added",
    z.object({ ...base, more: z.optional(z.int().check(z.maximum(5))) }),
    "minor",
    "minor",
  ],
  ["a required field is added", z.object({ ...base, more: z.int() }), "major", "minor"],
  [
    "an optional object with a required field is added",
    z.object({ ...base, more: z.optional(z.object({ deep: z.string() })) }),
    "minor",
    "minor",
  ],
  ["a field is removed", z.object({ name: base.name, kind: base.kind }), "major", "major"],
  ["a value is added", z.object({ ...base, kind: z.enum(["a", "b", "c"]) }), "minor", "minor"],
  ["a value is removed", z.object({ ...base, kind: z.enum(["a"]) }), "major", "major"],
  ["null is possible", z.object({ ...base, name: z.nullable(z.string().check(z.maxLength(10))) }), "minor", "major"],
  ["a required field becomes optional", z.object({ ...base, name: z.optional(base.name) }), "minor", "major"],
  ["an optional field becomes required", z.object({ ...base, note: z.string() }), "major", "minor"],
  ["a limit becomes another one", z.object({ ...base, name: z.string().check(z.maxLength(9)) }), "major", "none"],
  ["a limit is added", z.object({ ...base, note: z.optional(z.string().check(z.maxLength(9))) }), "major", "none"],
  ["a limit is dropped", z.object({ ...base, name: z.string() }), "minor", "none"],
  ["a number becomes a text", z.object({ ...base, note: z.optional(z.int()) }), "major", "major"],
])("if %s, the level is that of who sends it and of who reads it", (_what, after, sent, read) => {
  const before = z.object(base);
  expect(compareSurfaces(surfaceOf("sent", before), surfaceOf("sent", after)).level).toBe(sent);
  expect(compareSurfaces(surfaceOf("read", before), surfaceOf("read", after)).level).toBe(read);
});

test("another default of a setting is a break", () => {
  const settingOf = (days: number) => surfaceOf("sent", z.object({ days: z._default(z.int(), days) }));
  expect(compareSurfaces(settingOf(30), settingOf(31)).breaking).toEqual([
    "changed: POST /x body.days default was 30, is 31",
  ]);
});

test.each([
  [': ("a" | "b") | null;', ': ("a" | "b" | "c") | null;', "minor"],
  ['type Kind = "a" | "b";', 'type Kind = "c" | "a" | "b";', "minor"],
  [': "a" | "b";', ': "a" | "c";', "major"],
  [': "a" | "b";', ': ("a" | "b") | null;', "major"],
  [': ("a" | "b")[];', ': ("a" | "b" | "c");', "major"],
] as const)("if a type of the client, %s, becomes %s, the level is %s", (before, after, level) => {
  const withType = (type: string): Surface => ({ offers: { "client Order.kind": type }, demands: {} });
  expect(compareSurfaces(withType(before), withType(after)).level).toBe(level);
});

test("a demand on something of a similar name is no demand on what is old", () => {
  const before = { offers: { "admin keys create": "" }, demands: {} };
  const after = {
    offers: { "admin keys create": "", "admin keys create-many": "" },
    demands: { "admin keys create-many :: --mode is required": "" },
  };
  expect(compareSurfaces(before, after).level).toBe("minor");
});

test.each([
  ["none", "1.4.2"],
  ["minor", "1.5.0"],
  ["major", "2.0.0"],
] as const)("after 1.4.2 and a change of the level %s the least version is %s", (level, version) => {
  expect(leastVersion("1.4.2", level)).toBe(version);
});

test("versions are compared by number", () => {
  expect(["1.10.0", "2.0.0", "1.9.3", "1.9.12"].toSorted(compareVersions)).toEqual([
    "1.9.3",
    "1.9.12",
    "1.10.0",
    "2.0.0",
  ]);
});

test("a version that is too low for what changed is refused with the reasons", () => {
  const last = { version: "1.2.0", surface: { offers: { "GET /x": "" }, demands: {} } };
  const grown = { offers: { "GET /x": "", "GET /y": "" }, demands: {} };
  expect(versionProblem("1.2.1", last.surface, last)).toBe(undefined);
  expect(versionProblem("1.2.1", grown, last)).toBe(
    "The version must be 1.3.0 at least, because since 1.2.0:\nadded: GET /y",
  );
  expect(versionProblem("1.3.0", grown, last)).toBe(undefined);
  expect(versionProblem("1.3.0", { offers: {}, demands: {} }, last)).toContain("2.0.0 at least");
});

test("a version is compared with the release before it, and with its own record once it is released", () => {
  const released = ["1.1.0", "1.0.1", "1.0.0"];
  expect(comparedVersions("1.2.0", released)).toEqual(["1.1.0"]);
  expect(comparedVersions("1.1.0", released)).toEqual(["1.1.0", "1.0.1"]);
  expect(comparedVersions("1.0.0", released)).toEqual(["1.0.0"]);
  expect(comparedVersions("1.0.0", [])).toEqual([]);
});
