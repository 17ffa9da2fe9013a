import { expect, test, vi } from "vitest";
import { adminProgram } from "../../../../tools/admin/program.ts";

type Definition = { readonly name: string; readonly isReadOnly: boolean; readonly takesWhy: boolean };
const definitions = vi.hoisted((): Definition[] => []);

vi.mock(import("../../../../tools/admin/command.ts"), async (importOriginal) => {
  const original = await importOriginal();
  return {
    ...original,
    addCommand: (group, spec) => {
      const [verb = ""] = spec.usage.split(" ");
      const name = group.parent === null ? verb : `${group.name()} ${verb}`;
      const takesWhy = (spec.options ?? []).some(({ flags }) => flags === original.why.flags);
      definitions.push({ name, isReadOnly: spec.readOnly === true, takesWhy });
      original.addCommand(group, spec);
    },
  };
});

test("every command is either readOnly or takes --why, except webhook test and consents export, which write an audit entry without a reason", () => {
  adminProgram();
  expect(definitions.length).toBeGreaterThan(40);
  const undeclared = definitions.filter(({ isReadOnly, takesWhy }) => isReadOnly === takesWhy);
  expect(undeclared.map(({ name }) => name)).toEqual(["webhook test", "consents export"]);
});
