import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/**
 * Installs Stryker in this folder, and mutates the folders of shared/ that move money. With --short it mutates one
 * function and runs one file of tests, which shows that it runs.
 */
const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../../", import.meta.url));

/** The report, and what Stryker remembers of earlier runs, stay those of the last long run. */
const SHORT = [
  ...["--mutate", "shared/orders/order-response.ts:6-12", "--reporters", "clear-text"],
  ...["--incrementalFile", ".local/mutation/short.json", "--force"],
];

const step = (message: string, command: string, args: readonly string[], cwd: string): void => {
  console.log(message);
  const { status } = spawnSync(command, args, { cwd, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
};

const args = process.argv.slice(2);
const isShort = args.includes("--short");
const options = args.filter((arg) => arg !== "--short");
if (isShort) process.env.MUTATION_TESTS = "test/unit/shared/orders/order-response.test.ts";

step("Installing Stryker in test/mutation ...", "npm", ["ci"], here);
step(
  isShort
    ? "Mutating one function, in a copy of this tree."
    : "Mutating the folders of shared/ that move money, in a copy of this tree, and running the quick tests for each mutant: about an hour " +
        "the first time. The report will be .local/mutation/report.html.",
  `${here}node_modules/.bin/stryker`,
  ["run", "test/mutation/stryker.config.mjs", ...options, ...(isShort ? SHORT : [])],
  root,
);
