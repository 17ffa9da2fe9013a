import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as z from "zod";
import { projectRoot } from "../../infra/bundle/bundle.ts";
import type { Stages } from "../../infra/stages.ts";

const execute = promisify(execFile);

/** A copy of the project. */
export type Checkout = {
  readonly folder: string;
  /** Writes the settings of these stages into infra/stages.ts, as its user does. */
  readonly setStages: (stages: Stages) => void;
  readonly remove: () => void;
};

/** Whether this clone has a commit; a shallow one has only the newest. */
export const hasCommit = async (commit: string): Promise<boolean> =>
  execute("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: projectRoot }).then(
    () => true,
    () => false,
  );

/** What the tree has beside its files. */
const NOT_COPIED = new Set(["node_modules", ".git", ".local"]);

/** Copies this tree, with what is not committed, or a commit. */
export const checkOut = async (commit?: string): Promise<Checkout> => {
  const folder = mkdtempSync(join(tmpdir(), "checkout-"));
  if (commit === undefined) {
    cpSync(projectRoot, folder, { recursive: true, filter: (path) => !NOT_COPIED.has(path.slice(projectRoot.length)) });
  } else {
    const archive = join(folder, "commit.tar");
    await execute("git", ["archive", "--output", archive, commit], { cwd: projectRoot });
    await execute("tar", ["-x", "-f", archive, "-C", folder]);
    rmSync(archive);
  }
  if (installs(folder) === installs(projectRoot)) {
    symlinkSync(join(projectRoot, "node_modules"), join(folder, "node_modules"));
  } else {
    await execute("npm", ["ci", "--no-audit", "--no-fund"], { cwd: folder });
  }
  const settings = join(folder, "infra/stages.ts");
  const committed = readFileSync(settings, "utf8");
  return {
    folder,
    setStages: (stages) =>
      writeFileSync(
        settings,
        committed.replace(STAGES, (found) => found + entriesOf(stages)),
      ),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};

/** Where the stages begin. */
const STAGES = /^export const stages: .* = \{\n/m;

const entriesOf = (stages: Stages): string =>
  Object.entries(stages)
    .map(([name, settings]) => `  ${name}: ${JSON.stringify(settings)},\n`)
    .join("");

const lock = z.object({ packages: z.record(z.string(), z.unknown()) });

/** What `npm ci` would install in a folder. */
const installs = (folder: string): string => {
  const { packages } = lock.parse(JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")));
  // The project itself names what it uses directly, which changes nothing of what is installed.
  const { "": _project, ...installed } = packages;
  return JSON.stringify(installed);
};
