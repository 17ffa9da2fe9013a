import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { filesBelow } from "../files-below.ts";
import { projectRoot } from "./project-root.ts";

/** What is built from files of the project, and is built again only when one of them has changed. */
export type Build = {
  /** The name of its folder below .local. */
  readonly name: string;
  /** The files and folders of the project that it depends on. */
  readonly sources: readonly string[];
  /** What else it depends on. */
  readonly options?: string;
  readonly build: (folder: string) => void;
};

/** The folder of what was built, by this process or an earlier one. */
export const builtOnce = ({ name, sources, options = "", build }: Build): string => {
  const cache = join(projectRoot, ".local", name);
  const version = hashOf(sources, options);
  const folder = join(cache, version);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const earlier = readdirSync(cache).filter((other) => other !== version && !other.startsWith(UNFINISHED));
  const unfinished = mkdtempSync(join(cache, UNFINISHED));
  try {
    build(unfinished);
    finish(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  for (const other of earlier) rmSync(join(cache, other), { recursive: true, force: true });
  return folder;
};

const UNFINISHED = "unfinished-";

/** A folder that has its name is whole. Another process may have built the same. */
const finish = (built: string, folder: string): void => {
  try {
    renameSync(built, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
};

const hashOf = (sources: readonly string[], options: string): string => {
  // A copy of the project, in another folder, has the same.
  const hash = createHash("sha256").update(options.replaceAll(projectRoot, ""));
  for (const source of sources.map((name) => join(projectRoot, name))) {
    for (const file of statSync(source).isFile() ? [source] : filesBelow(source)) {
      hash.update(`\0${relative(projectRoot, file)}\0`).update(readFileSync(file));
    }
  }
  return hash.digest("hex").slice(0, 16);
};
