import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it. Node's own recursive mode never returns where the system refuses a folder as absent, as it does
 * below /proc (nodejs/node: the same error makes it try the parent again, for ever).
 */
export const makeFolder = (path: string): void => {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process made it meanwhile.
    if (!existsSync(path)) throw error;
  }
};
