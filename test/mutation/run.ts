import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { folders } from "./folders.ts";

/**
 * Installs Stryker in this folder, and mutates the named folders, or each. With --short it mutates one function and runs
 * one file of tests, which shows that it runs.
 */
const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../../", import.meta.url));

const step = (message: string, command: string, args: readonly string[], cwd: string, env = process.env): void => {
  console.log(message);
  const { status } = spawnSync(command, args, { cwd, stdio: "inherit", env });
  if (status !== 0) process.exit(status ?? 1);
};

const args = process.argv.slice(2);
const named = args.filter((arg) => Object.hasOwn(folders, arg));
const options = args.filter((arg) => !named.includes(arg) && arg !== "--short");
const all = named.length > 0 ? named : Object.keys(folders);

step("Installing Stryker in test/mutation ...", "npm", ["ci"], here);
for (const folder of args.includes("--short") ? ["short"] : all) {
  step(
    `Mutating ${folder}, in a copy of this tree. The report will be .local/mutation/${folder}.html.`,
    `${here}node_modules/.bin/stryker`,
    ["run", "test/mutation/stryker.config.mjs", ...options],
    root,
    { ...process.env, MUTATION_FOLDER: folder },
  );
}
