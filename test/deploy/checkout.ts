import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import * as z from "zod";
import { projectRoot } from "../../infra/bundle/bundle.ts";

const execute = promisify(execFile);

/** A copy of the project in a folder of its own, with packages. */
export type Checkout = {
  readonly folder: string;
  /** Lays settings of a stage over those of infra/stages.ts, in place of what was laid over them before. */
  readonly setSettings: (stage: string, settings: object) => void;
  readonly remove: () => void;
};

/** Copies a commit. */
export const checkOutCommit = (commit: string): Promise<Checkout> =>
  checkOut(async (folder) => {
    const archive = join(folder, "commit.tar");
    await execute("git", ["archive", "--output", archive, commit], { cwd: projectRoot });
    await execute("tar", ["-x", "-f", archive, "-C", folder]);
    rmSync(archive);
  });

/** What this tree has besides its files. */
const NOT_COPIED = new Set(["node_modules", ".git", ".local", "cdk.out"]);

/** Copies this tree, with what is not committed. */
export const checkOutThisTree = (): Promise<Checkout> =>
  checkOut(async (folder) => {
    const filter = (path: string) => !NOT_COPIED.has(basename(path));
    cpSync(projectRoot, folder, { recursive: true, filter });
  });

const checkOut = async (copyTo: (folder: string) => Promise<void>): Promise<Checkout> => {
  const folder = mkdtempSync(join(tmpdir(), "checkout-"));
  await copyTo(folder);
  if (hasPackagesOf(folder)) symlinkSync(join(projectRoot, "node_modules"), join(folder, "node_modules"));
  else await execute("npm", ["ci", "--no-audit", "--no-fund"], { cwd: folder });
  const file = join(folder, "infra/stages.ts");
  const committed = readFileSync(file, "utf8");
  return {
    folder,
    setSettings: (stage, settings) => {
      writeFileSync(file, `${committed}\nObject.assign(stages.${stage} ?? {}, ${JSON.stringify(settings)});\n`);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};

const lock = z.object({ packages: z.record(z.string(), z.object({ version: z.string().optional() })) });

const versionsIn = (folder: string): readonly (readonly [path: string, version: string | undefined])[] => {
  const { packages } = lock.parse(JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")));
  // The first entry is the project itself.
  return Object.entries(packages).map(([path, { version }]) => [path, path === "" ? undefined : version]);
};

/** Whether this tree's lock has all packages of another one, in the same versions. */
const hasPackagesOf = (folder: string): boolean => {
  const here = new Map(versionsIn(projectRoot));
  return versionsIn(folder).every(([path, version]) => here.has(path) && here.get(path) === version);
};
