import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Installs Stryker in this folder, and mutates the folders of shared/ that move money. */
const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../../", import.meta.url));

const step = (message: string, command: string, args: readonly string[], cwd: string): void => {
  console.log(message);
  const { status } = spawnSync(command, args, { cwd, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
};

step("Installing Stryker in test/mutation ...", "npm", ["ci"], here);
step(
  "Mutating the folders of shared/ that move money, in a copy of this tree, and running the quick tests for each mutant: about an hour " +
    "the first time. The report will be .local/mutation/report.html.",
  `${here}node_modules/.bin/stryker`,
  ["run", "test/mutation/stryker.config.mjs", ...process.argv.slice(2)],
  root,
);
