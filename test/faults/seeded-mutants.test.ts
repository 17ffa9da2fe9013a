import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { mutants, mutatedFiles } from "./mutants.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

test.each(mutants)("the code that the seeded mutant '$name' changes is in the tree", (mutant) => {
  expect(mutatedFiles(mutant, root).size).toBeGreaterThan(0);
});
