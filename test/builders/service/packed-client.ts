import { execFile } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { buildClient } from "../../../tools/client/build.ts";
import { packFolder } from "../../../tools/usage/pack-folder.ts";

const run = promisify(execFile);

/** The client as it is published: its package file, and the folder that was packed. */
export type PackedClient = { readonly file: string; readonly contents: string };

/** To build and pack it takes seconds: the processes of a run do so once, for all of them. */
export const packedClient = async (): Promise<PackedClient> => {
  const { RUN_FOLDER } = process.env;
  if (RUN_FOLDER === undefined) throw new Error("This run has no folder: temporary-files.ts makes one");
  const folder = join(RUN_FOLDER, "packed-client");
  if (!existsSync(folder)) {
    const unfinished = mkdtempSync(`${folder}-`);
    await buildClient(join(unfinished, "package"));
    await packFolder(join(unfinished, "package"), unfinished);
    // Another process may have packed it by then.
    if (!existsSync(folder)) renameSync(unfinished, folder);
  }
  const [name = ""] = globSync("*.tgz", { cwd: folder });
  return { file: join(folder, name), contents: join(folder, "package") };
};

/** A new app in a folder of its own, outside this repository, with the packed client in its packages and these files. */
export const newApp = async (
  folder: string,
  { file }: PackedClient,
  files: Readonly<Record<string, string>>,
): Promise<string> => {
  const client = join(folder, "node_modules/@airtime-service/client");
  mkdirSync(client, { recursive: true });
  // As npm does, which takes longer; build.test.ts installs it with npm.
  await run("tar", ["-xzf", file, "-C", client, "--strip-components=1"]);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "app", private: true, type: "module" }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
};
