import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { builtConsole } from "../../../infra/bundle/console-files.ts";

const BYTES_MAX = 300 * 1024;
/** The pages that people see first: operators and readers, and owners. */
const FIRST_PAGES = ["today-", "overview-"];

/** The files that a file loads before it runs. */
const loadedBy = (folder: string, file: string): readonly string[] => {
  const text = readFileSync(join(folder, file), "utf8");
  if (file.endsWith(".html"))
    return [...text.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+)"/g)].map(([, name = ""]) => name);
  return [...text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)].map(([, name]) => `assets/${name}`);
};

const closure = (folder: string, file: string, found: Set<string>): Set<string> => {
  if (found.has(file)) return found;
  found.add(file);
  if (!file.endsWith(".css")) for (const name of loadedBy(folder, file)) closure(folder, name, found);
  return found;
};

test("the first page of the console has at most 300 KB of compressed scripts and styles", () => {
  const folder = builtConsole();
  const assets = readdirSync(join(folder, "assets"));
  const files = closure(folder, "index.html", new Set());
  for (const page of FIRST_PAGES) {
    const script = assets.find((name) => name.startsWith(page) && name.endsWith(".js"));
    expect(script, `no file of the page ${page}`).toBeDefined();
    closure(folder, `assets/${script}`, files);
  }
  // A page's styles are loaded with it; those of other pages are few.
  for (const name of assets) if (name.endsWith(".css")) files.add(`assets/${name}`);
  files.delete("index.html");
  const sizes = [...files].map((file) => gzipSync(readFileSync(join(folder, file))).length);
  expect(files.size).toBeGreaterThan(4);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(BYTES_MAX);
});
