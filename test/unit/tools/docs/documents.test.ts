import { describe, expect, test } from "vitest";
import { withSection } from "../../../../tools/docs/markdown.ts";
import { documentOf, sectionNames, sections } from "../../../../tools/docs/sections.ts";

test.each(sectionNames)("docs/ has the section of %s as the code makes it", { timeout: 60_000 }, async (name) => {
  const { is, shouldBe } = await documentOf(name);
  expect(is, `docs/${sections[name].file} is stale: run \`npm run tables\` and commit it`).toBe(shouldBe);
});

describe("a section", () => {
  const document = "Before\n<!-- sizes: written by npm run tables -->\nold\n<!-- end of sizes -->\nAfter\n";

  test("is made from what is there, and nothing else changes", async () => {
    const written = await withSection(document, "sizes", (before) => `${before.trim()} and new`);
    expect(written).toBe(document.replace("old", "old and new"));
  });

  test("without its marks fails with a sentence", async () => {
    await expect(withSection(document, "ages", () => "")).rejects.toThrow(
      "The marks of a section are missing: <!-- ages",
    );
  });
});
