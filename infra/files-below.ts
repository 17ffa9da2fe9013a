import { readdirSync } from "node:fs";
import { join } from "node:path";

/** The files in a folder and in those below it, in a fixed order. */
export const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
