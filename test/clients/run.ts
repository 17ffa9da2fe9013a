import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "#zod";
import { projectRoot as root } from "../../infra/bundle/project-root.ts";
import { isInstalled } from "../builders/service/is-installed.ts";
import { installedPython } from "../deploy/python.ts";

/** Runs the tests of the clients in other languages with the tools of those. */

const folder = mkdtempSync(join(tmpdir(), "clients-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const run = (cwd: string, command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, args, { cwd, stdio: "inherit", env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" } }).status ===
  0;

/** The code blocks of the README, as modules that are type-checked with the rest. */
const writeSnippets = (readme: string): string[] =>
  [...readFileSync(readme, "utf8").matchAll(/```python\n([\s\S]*?)```/g)].map(([, snippet = ""], index) => {
    const file = join(folder, `snippet${index}.py`);
    writeFileSync(file, snippet);
    return file;
  });

const testPython = async (): Promise<boolean> => {
  const client = join(root, "clients/python");
  const [, packages = "[]"] = /^test = (\[.*\])$/m.exec(readFileSync(join(client, "pyproject.toml"), "utf8")) ?? [];
  const python = await installedPython(z.array(z.string()).parse(JSON.parse(packages)));
  const checked = ["src", "tests", "examples", "conformance.py", ...writeSnippets(join(client, "README.md"))];
  return [
    run(client, python, "-m", "mypy", "--cache-dir", join(folder, "mypy"), ...checked),
    run(client, python, "-m", "pytest", "--quiet", "-p", "no:cacheprovider"),
  ].every(Boolean);
};

/** PHP, PHPUnit, and what the tests need of Guzzle and Laravel. */
const PHP_PACKAGES = [
  ...["php-cli", "php-curl", "phpunit", "php-guzzlehttp-guzzle", "php-vlucas-phpdotenv"],
  ...["http", "queue", "bus", "config", "events"].map((component) => `php-illuminate-${component}`),
];

const testPhp = (): boolean => {
  if (!isInstalled("phpunit") && process.getuid?.() === 0) {
    // Without documentation, and without a flush of the disk for each file.
    const fast = ["-o", "Dpkg::Options::=--force-unsafe-io", "-o", "Dpkg::Options::=--path-exclude=/usr/share/doc/*"];
    const install = ["install", "-y", "-qq", "--no-install-recommends", ...fast, ...PHP_PACKAGES];
    run(root, "apt-get", "update", "-qq");
    run(root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", ...install);
  }
  const isTested = run(join(root, "clients/php"), "phpunit");
  if (!isTested) console.error(`The PHP client's tests need PHP 8.2: sudo apt-get install ${PHP_PACKAGES.join(" ")}`);
  return isTested;
};

/** A language whose tools this machine has not is left out. */
const testWith = (language: string, [command, ...args]: readonly [string, ...string[]]): boolean[] => {
  if (isInstalled(command)) return [run(join(root, "clients", language), command, ...args)];
  console.error(`clients/${language} is not tested: ${command} is not installed`);
  return [];
};

const results = [
  await testPython(),
  testPhp(),
  // They wait for retries most of the time.
  ...testWith("go", ["go", "test", "-parallel", "32", "./..."]),
  // With the packages of the conformance kit's adapter, in target/dependency: a further run of Maven would take seconds.
  ...testWith("java", ["mvn", "-q", "-B", "test", "dependency:copy-dependencies", "-DincludeScope=runtime"]),
];
// On a line of its own: Maven leaves escape sequences without one.
console.log(`\n${results.filter(Boolean).length} passed, ${results.filter((passed) => !passed).length} failed`);
process.exitCode = results.every(Boolean) ? 0 : 1;
