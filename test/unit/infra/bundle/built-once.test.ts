import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Build, builtOnce } from "../../../../infra/bundle/built-once.ts";
import { projectRoot } from "../../../../infra/bundle/project-root.ts";

const NAME = `built-once-test-${process.pid}`;
const cache = join(projectRoot, ".local", NAME);
const SOURCES = `.local/${NAME}-sources`;
const source = join(projectRoot, SOURCES, "source.ts");

let builds = 0;
const build = (changes: Partial<Build> = {}): string =>
  builtOnce({
    name: NAME,
    sources: [SOURCES],
    build: (folder) => {
      builds += 1;
      writeFileSync(join(folder, "built"), readFileSync(source));
    },
    ...changes,
  });

beforeEach(() => {
  builds = 0;
  mkdirSync(join(projectRoot, SOURCES), { recursive: true });
  writeFileSync(source, "first");
});
afterEach(() => {
  for (const folder of [cache, join(projectRoot, SOURCES)]) rmSync(folder, { recursive: true, force: true });
});

test("what has unchanged sources and options is built once; after a change it is built again, and the earlier one deleted", () => {
  const first = build();
  expect([build(), builds]).toEqual([first, 1]);
  writeFileSync(source, "second");
  const second = build();
  expect([readFileSync(join(second, "built"), "utf8"), builds]).toEqual(["second", 2]);
  expect(build({ options: "other" })).not.toBe(second);
  expect([builds, readdirSync(cache)]).toEqual([3, [expect.any(String)]]);
});

test("a copy of the project in another folder has the same version", () => {
  expect(build({ options: `${projectRoot}infra` })).toBe(build({ options: "infra" }));
});

test("a build that fails leaves nothing that another process takes for whole", () => {
  const failing = () => {
    throw new Error("No");
  };
  expect(() => build({ build: failing })).toThrow("No");
  expect(readdirSync(cache)).toEqual([]);
  build();
  expect(builds).toBe(1);
});

test("of two that build the same at once, both get the one that ended first, and nothing else is left", () => {
  const slower = build({
    build: (folder) => {
      writeFileSync(join(folder, "built"), "ended later");
      build();
    },
  });
  expect(readFileSync(join(slower, "built"), "utf8")).toBe("first");
  expect([builds, readdirSync(cache)]).toEqual([1, [expect.any(String)]]);
});
