import { expect, test } from "vitest";
import { documentOf, generatedSections, sectionNames } from "../../../../tools/docs/sections.ts";
import { withSection, wrap } from "../../../../tools/markdown/markdown.ts";

test.each(sectionNames)('the section "%s" of docs/ is up to date', async (name) => {
  const { stored, generated } = await documentOf(name);
  expect(stored, `docs/${generatedSections[name].file} is stale: run \`npm run tables\` and commit it`).toBe(generated);
});

const document = "Before\n<!-- sizes: written by npm run tables -->\nold\n<!-- end of sizes -->\nAfter\n";

test("a section of a document is rendered from its current text, and the rest of the document does not change", async () => {
  const written = await withSection(document, "sizes", (current) => `${current.trim()} and new`);
  expect(written).toBe(document.replace("old", "old and new"));
});

test("a section of a document without its marks is refused with a message", async () => {
  await expect(withSection(document, "ages", () => "")).rejects.toThrow(
    "The marks of a section are missing: <!-- ages",
  );
});

test("a paragraph is wrapped at 100 columns, and a longer word stays whole", () => {
  const long = "x".repeat(120);
  expect(wrap(`  ${"word ".repeat(30)}\n  ${long} end`)).toBe(
    `${"word ".repeat(20).trim()}\n${"word ".repeat(10).trim()}\n${long}\nend`,
  );
});
