import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { projectRoot } from "../../infra/bundle/project-root.ts";

/** A copy of the project in a folder of its own, with its packages and caches. */
export type Checkout = {
  readonly folder: string;
  /** Lays settings of a stage over those of stages.ts, in place of what was laid over them before. */
  readonly setSettings: (stage: string, settings: object) => void;
  readonly remove: () => void;
};

/** What this tree has besides its files. */
const NOT_COPIED = new Set(["node_modules", ".git", ".local", "cdk.out"]);

/** Copies this tree, with what is not committed. */
export const checkOutThisTree = (): Checkout => {
  const folder = mkdtempSync(join(tmpdir(), "checkout-"));
  cpSync(projectRoot, folder, { recursive: true, filter: (path) => !NOT_COPIED.has(basename(path)) });
  symlinkSync(join(projectRoot, "node_modules"), join(folder, "node_modules"));
  // What was built and unpacked once, such as the console's pages and the browser.
  mkdirSync(join(projectRoot, ".local"), { recursive: true });
  symlinkSync(join(projectRoot, ".local"), join(folder, ".local"));
  const file = join(folder, "stages.ts");
  const committed = readFileSync(file, "utf8");
  return {
    folder,
    setSettings: (stage, settings) => {
      writeFileSync(file, `${committed}\nObject.assign(stages.${stage} ?? {}, ${JSON.stringify(settings)});\n`);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
