import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { bundleOptionsOf } from "../../../../infra/bundle/bundle-options.ts";
import { consoleFiles } from "../../../../infra/bundle/console-files.ts";

const files = consoleFiles();
const textOf = (path: string): string => gunzipSync(Buffer.from(files[path]?.gzip ?? "", "base64")).toString();
const paths = Object.keys(files);

test("the built console has one page, whose scripts and styles are files with a hash in their names", () => {
  const named = [...textOf("index.html").matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map(([, path]) => path);
  expect(named.length).toBeGreaterThanOrEqual(3);
  expect(named.filter((path) => !paths.includes(path ?? ""))).toEqual([]);
  expect(paths.filter((path) => path.endsWith(".html"))).toEqual(["index.html"]);
  for (const path of paths.filter((each) => /\.(js|css)$/.test(each))) {
    expect(path).toMatch(/^assets\/[\w.-]+-[\w-]{8}\.(js|css)$/);
  }
});

test("every page needs one file of its own, and at most 250 KB with those of index.html, as they are sent", () => {
  const first = ["index.html", ...textOf("index.html").matchAll(/\/console\/(assets\/[^"]+)"/g)].map((found) =>
    typeof found === "string" ? found : (found[1] ?? ""),
  );
  const own = paths.filter((path) => path.endsWith(".js") && !first.includes(path));
  expect(own.length).toBeGreaterThan(20);
  const bytesOf = (path: string): number => Buffer.from(files[path]?.gzip ?? "", "base64").length;
  for (const path of own) {
    const text = textOf(path);
    const imported = [...text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)].map(([, name]) => `assets/${name}`);
    expect(imported.filter((name) => !first.includes(name))).toEqual([]);
    // The runbook shows one of its sections, which are files too.
    const sections = [...text.matchAll(/import\(.\.\/([\w.-]+)/g)].map(([, name]) => bytesOf(`assets/${name}`));
    if (path.startsWith("assets/runbook-")) expect(sections.length).toBeGreaterThan(20);
    const bytes = [...first, path].map(bytesOf).reduce((sum, size) => sum + size, Math.max(0, ...sections));
    expect(bytes).toBeLessThanOrEqual(250 * 1024);
  }
});

test("every style of Mantine that the scripts name is in the page's styles", () => {
  const classesIn = (ending: string) =>
    new Set(
      paths.filter((path) => path.endsWith(ending)).flatMap((path) => textOf(path).match(/\bm_[0-9a-f]{6,8}\b/g) ?? []),
    );
  const styled = classesIn(".css");
  expect([...classesIn(".js")].filter((name) => !styled.has(name))).toEqual([]);
});

test("the page contains no script or style itself, which its content security policy would refuse", () => {
  expect(textOf("index.html")).not.toMatch(/<style|<script(?![^>]* src=)| style=| on\w+=/);
});

test("every file is a text of a type that serve-console serves", () => {
  expect(paths.filter((path) => !/\.(html|js|css|svg)$/.test(path))).toEqual([]);
});

test("the scripts contain the production build of React, although tests run in another mode", () => {
  const scripts = paths.filter((path) => path.endsWith(".js")).map(textOf);
  expect(scripts.join("")).toContain("Minified React error");
});

test("only the bundle of serve-console contains the pages", () => {
  expect(bundleOptionsOf("serve-console").define).toHaveProperty("CONSOLE_FILES");
  expect(bundleOptionsOf("purchase").define).not.toHaveProperty("CONSOLE_FILES");
});
