import { Option } from "commander";
import { expect, test, vi } from "vitest";
import * as z from "#zod";
import { type Action, needsReason } from "../../../../shared/contract/actions/action.ts";
import { type ActionName, actionNames, actions } from "../../../../shared/contract/actions/actions.ts";
import { commandOf, typedInput } from "../../../../tools/admin/action-command.ts";
import { adminProgram } from "../../../../tools/admin/program.ts";

type Definition = {
  readonly name: string;
  readonly isReadOnly: boolean;
  readonly takesWhy: boolean;
  readonly asks: boolean;
  readonly required: readonly string[];
  /** What the schema says of an input that has nothing. */
  readonly missing: readonly PropertyKey[];
};
const definitions = vi.hoisted((): Definition[] => []);

vi.mock(import("../../../../tools/admin/command.ts"), async (importOriginal) => {
  const original = await importOriginal();
  return {
    ...original,
    addCommand: (group, spec) => {
      const words: string[] = spec.usage.split(" ").slice(0, 1);
      for (let at = group; at.parent !== null; at = at.parent) words.unshift(at.name());
      const takesWhy = (spec.options ?? []).some(({ flags }) => flags === original.why.flags);
      definitions.push({
        name: words.join(" "),
        isReadOnly: spec.readOnly === true,
        takesWhy,
        asks: spec.asks === true,
        required: (spec.options ?? [])
          .filter(({ required }) => required)
          .map(({ flags }) => new Option(flags).attributeName()),
        missing: spec.input.safeParse({}).error?.issues.map(({ path }) => path[0] ?? "") ?? [],
      });
      original.addCommand(group, spec);
    },
  };
});
await adminProgram({ isComplete: true });
const commandNames = definitions.map(({ name }) => name);

test("every command is either readOnly or takes --why, except a note, which is one, and exports and imports that write an audit entry without a reason", () => {
  expect(definitions.length).toBeGreaterThan(40);
  const undeclared = definitions.filter(({ isReadOnly, takesWhy }) => isReadOnly === takesWhy);
  expect(undeclared.map(({ name }) => name)).toEqual([
    "transactions note",
    "consents export",
    "reconciliation import",
    "reconciliation export",
  ]);
});

test("every command asks first whose action needs a reason in the console, and one that carries such an action out", () => {
  const asking = definitions.filter(({ asks }) => asks).map(({ name }) => name);
  const needing = actionNames.filter((name) => needsReason(actions[name]) && commandNames.includes(name));
  expect(new Set(asking)).toEqual(new Set([...needing, "proposals approve"]));
});

test("an option that the help marks as required is required by the command's schema", () => {
  const marked = definitions.filter(({ required }) => required.length > 0);
  expect(marked.length).toBeGreaterThan(20);
  for (const { missing, required } of marked) expect(missing).toEqual(expect.arrayContaining([...required]));
});

test("no two commands have the same name", () => {
  expect(new Set(commandNames).size).toBe(commandNames.length);
});

const commandFacts = (name: ActionName): Action["command"] => actions[name].command;

test("an action has a command of its name unless its entry says that there is none", () => {
  const without = actionNames.filter((name) => !commandNames.includes(name));
  expect(without).toEqual(actionNames.filter((name) => commandFacts(name) === "none"));
});

const stated = actionNames.filter((name) => commandOf(name) !== undefined);

test.each(stated)("the command %s takes each field that its action requires", (name) => {
  const shape: Action["input"]["shape"] = actions[name].input.shape;
  const required = Object.keys(shape).filter((field) => !z.safeParse(shape[field] ?? z.never(), undefined).success);
  const taken = ["why", ...Object.keys(commandOf(name)?.takes ?? {})];
  expect(required.filter((field) => !taken.includes(field))).toEqual([]);
  // Throws for a field that the input does not have.
  typedInput(name, commandOf(name) ?? {});
});

test.each(stated.filter((name) => commandOf(name)?.table !== undefined))(
  "the columns of the command %s are fields of the output's records",
  (name) => {
    const { rows, columns } = commandOf(name)?.table ?? { rows: "", columns: [] };
    const output = z.toJSONSchema(actions[name].output, { unrepresentable: "any", io: "input" });
    const { items } = z
      .object({ items: z.looseObject({ type: z.optional(z.string()) }) })
      .parse(output.properties?.[rows]);
    if (items.type === "string") return expect(columns).toHaveLength(1);
    for (const column of columns) expect(JSON.stringify(items)).toContain(`"${column.split(": ")[0]}":`);
  },
);
