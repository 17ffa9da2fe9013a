import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and its parents. Node's recursive `mkdirSync` loops for ever below /proc, where the system answers
 * ENOENT although the parent exists.
 */
export const makeFolder = (path: string): void => {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it first.
    if (!existsSync(path)) throw error;
  }
};
