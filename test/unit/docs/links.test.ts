import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { anchorOf } from "../../../tools/site/site-markdown.ts";
import { projectFiles } from "../../builders/run/project-files.ts";

const root = new URL("../../../", import.meta.url);

const headings = (document: URL): string[] =>
  readFileSync(document, "utf8")
    .split("\n")
    .flatMap((line) => /^#{1,6} (.+)$/.exec(line)?.[1] ?? []);

test.each(projectFiles("**/*.md"))("every link of %s leads to a file, and to a heading in it", (file) => {
  const broken = [
    ...readFileSync(new URL(file, root), "utf8").matchAll(/\]\((?!https?:)([^)\s#]*)#?([^)\s]*)\)/g),
  ].filter(([, path, anchor]) => {
    const target = new URL(path || file.replace(/.*\//, ""), new URL(file, root));
    if (!existsSync(target)) return true;
    return anchor !== "" && !headings(target).map(anchorOf).includes(String(anchor));
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});

test("every row of a table is one line, because a line break ends the table", () => {
  const broken = projectFiles("**/*.md").flatMap((file) => {
    const withoutCode = readFileSync(new URL(file, root), "utf8").replaceAll(/^```.*?^```/gms, "");
    return (withoutCode.match(/^\|.*[^|\s]\s*$/gm) ?? []).map((row) => `${file}: ${row.slice(0, 60)}`);
  });
  expect(broken).toEqual([]);
});

test("every file that a document names exists: by its path, and a test also by its name alone", () => {
  const tests = new Set(projectFiles("**/*.test.ts").map((file) => file.replace(/.*\//, "")));
  const missing = projectFiles("**/*.md").flatMap((document) =>
    [
      ...readFileSync(new URL(document, root), "utf8").matchAll(
        /`((?:\.?[a-z][\w.-]*\/)*[\w.-]+\.(?:tsx?|mjs|ya?ml|md))`/g,
      ),
    ]
      .map(([, name = ""]) => name)
      .filter((name) =>
        name.includes("/") ? !existsSync(new URL(name, root)) : /\.test\.ts$/.test(name) && !tests.has(name),
      )
      .map((name) => `${document}: ${name}`),
  );
  expect(missing).toEqual([]);
});

test("every name that a document finds in a file is in that file", () => {
  const missing = projectFiles("**/*.md").flatMap((document) =>
    [
      ...readFileSync(new URL(document, root), "utf8").matchAll(
        /((?:`\w+`(?:, | and )?)+) (?:in|of) `([\w./-]+\.tsx?)`/g,
      ),
    ]
      .flatMap(([, names = "", file = ""]) =>
        [...names.matchAll(/\w+/g)].filter(([name]) => name !== "and").map(([name]) => ({ name, file })),
      )
      .filter(({ name, file }) => file.includes("/") && !readFileSync(new URL(file, root), "utf8").includes(name))
      .map(({ name, file }) => `${document}: ${name} in ${file}`),
  );
  expect(missing).toEqual([]);
});

test("the terms of the glossary are in alphabetical order", () => {
  const lines = readFileSync(new URL("docs/glossary.md", root), "utf8").split("\n");
  const terms = lines.flatMap((line) => /^\| (?!term |-)([^|]+) \|/.exec(line)?.[1]?.toLowerCase() ?? []);
  expect(terms.length).toBeGreaterThan(50);
  expect(terms).toEqual(terms.toSorted());
});

test("every heading of a document that the code quotes exists", () => {
  const missing = projectFiles("**/*.{ts,yml,yaml}", ".github/**/*.yml").flatMap((file) =>
    [...readFileSync(new URL(file, root), "utf8").matchAll(/(docs\/[\w-]+\.md), "([^"]+)"/g)]
      .filter(([, path, heading]) => !headings(new URL(String(path), root)).includes(String(heading)))
      .map(([quote]) => `${file}: ${quote}`),
  );
  expect(missing).toEqual([]);
});
