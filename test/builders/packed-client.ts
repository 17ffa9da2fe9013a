import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { buildClient } from "../../tools/client/build.ts";
import { packFolder } from "../../tools/usage/pack-folder.ts";

const run = promisify(execFile);

/** Builds and packs the client, and returns the path of its package file. */
export const packedClient = async (folder: string): Promise<string> => {
  await buildClient(join(folder, "package"));
  return packFolder(join(folder, "package"), folder);
};

/** A new app in a folder of its own, outside this repository, with the packed client installed and these files. */
export const newApp = async (
  folder: string,
  packageFile: string,
  files: Readonly<Record<string, string>>,
): Promise<string> => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "app", private: true, type: "module" }));
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", packageFile], { cwd: folder });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
};
