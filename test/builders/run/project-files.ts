import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { projectRoot } from "../../../infra/bundle/project-root.ts";

const ignored = readFileSync(join(projectRoot, ".gitignore"), "utf8")
  .split("\n")
  .map((line) => basename(line));

/** The project's files with these patterns, relative to its root. Git is not asked: a machine may have the files only. */
export const projectFiles = (...patterns: readonly string[]): readonly string[] =>
  globSync([...patterns], { cwd: projectRoot, exclude: (path) => ignored.includes(basename(path)) }).toSorted();
