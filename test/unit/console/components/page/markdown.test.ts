import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { blocksOf, sectionsOf, slugOf, spansOf } from "../../../../../console/components/page/markdown.ts";

const sections = sectionsOf(readFileSync("docs/runbook.md", "utf8"));
const blocks = sections.flatMap(({ text }) => blocksOf(text));

test("the runbook's sections have the names that its links give them", () => {
  const named = sections.flatMap(({ text }) => [...text.matchAll(/\(#([^)]+)\)/g)].map(([, slug]) => slug));
  const slugs = sections.map(({ slug }) => slug);
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((slug) => !slugs.includes(slug ?? ""))).toEqual([]);
});

test("each section of the runbook that a check names exists", () => {
  const checks = readFileSync("shared/actions/doctor-checks.ts", "utf8");
  const named = [...checks.matchAll(/"([^"]+)" in docs\/runbook\.md/g)].map(([, title = ""]) => slugOf(title));
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((slug) => !sections.some((section) => section.slug === slug))).toEqual([]);
});

test("no block of the runbook is read as another kind", () => {
  const texts = blocks.flatMap((block) => ("text" in block && block.kind !== "code" ? block.text : []));
  expect(texts.filter((text) => /^(\||```|#|- )/.test(text))).toEqual([]);
  const tables = blocks.flatMap((block) => (block.kind === "table" ? block : []));
  expect(tables.length).toBeGreaterThan(5);
  for (const { head, rows } of tables) expect(new Set([head, ...rows].map(({ length }) => length)).size).toBe(1);
});

test("no mark of Markdown is left in the texts of the runbook", () => {
  const texts = blocks.flatMap((block): readonly string[] => {
    if (block.kind === "code") return [];
    if (block.kind === "table") return [block.head, ...block.rows].flat();
    return "items" in block ? block.items : [block.text];
  });
  const plain = texts.flatMap(spansOf).flatMap(({ kind, text }) => (kind === "text" ? text : []));
  expect(plain.length).toBeGreaterThan(500);
  expect(plain.filter((text) => /[`*]|\]\(/.test(text))).toEqual([]);
});

test("a text is read in blocks and spans", () => {
  expect(blocksOf("One\ntwo.\n\n```sh\na\n\nb\n```\n\n- x\n  y\n- z\n\n1. first\n2. second\n")).toEqual([
    { kind: "paragraph", text: "One two." },
    { kind: "code", text: "a\n\nb" },
    { kind: "list", items: ["x y", "z"] },
    { kind: "steps", items: ["first", "second"] },
  ]);
  expect(spansOf("See `doctor`, **`a` b** and [Stop](#stop).")).toEqual([
    { kind: "text", text: "See " },
    { kind: "code", text: "doctor" },
    { kind: "text", text: ", " },
    { kind: "bold", text: "`a` b" },
    { kind: "text", text: " and " },
    { kind: "link", text: "Stop", to: "#stop" },
    { kind: "text", text: "." },
  ]);
});
