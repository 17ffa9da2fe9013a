import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectRoot } from "../../infra/bundle/project-root.ts";

/** Packs a package's folder, and returns the path of the package file. */
export const packFolder = async (folder: string, destination: string): Promise<string> => {
  mkdirSync(destination, { recursive: true });
  const args = ["pack", folder, "--pack-destination", destination, "--silent"];
  const { stdout } = await promisify(execFile)("npm", args, { cwd: projectRoot });
  return join(destination, stdout.trim());
};
