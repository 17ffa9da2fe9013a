import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { projectRoot } from "../../../../infra/bundle/project-root.ts";
import { examples, usage } from "../../../../tools/usage/usage.ts";
import { version } from "../../../../tools/usage/version.ts";

/** Goal: the command lists its commands, names a wrong one, and loads what an earlier command has compiled. */
const airtime = (args: readonly string[], environment: NodeJS.ProcessEnv = {}) => {
  const env = { ...process.env, ...environment };
  return spawnSync(process.execPath, ["tools/airtime/main.ts", ...args], { cwd: projectRoot, env, encoding: "utf8" });
};

test.each([
  [[], 0, "stdout", "airtime admin --help lists the operator's commands."],
  [["publish"], 2, "stderr", 'There is no command "publish". The commands are init, start, admin, synth,'],
  [["deploy"], 2, "stderr", "Name the stage: npm run deploy -- --stage NAME."],
  [["deploy", "--help"], 0, "stdout", `airtime deploy deploys a stage.\n\n${usage.deploy}\n`],
  [["deploy", "-h"], 0, "stdout", `Example:\n  ${examples.deploy}\n`],
  [["help"], 0, "stdout", "airtime admin --help lists the operator's commands."],
  [["--version"], 0, "stdout", `${version}\n`],
  [["admin", "--version"], 0, "stdout", `${version}\n`],
] as const)("airtime %j ends with exit code %i and says on %s: %s", (args, exitCode, stream, text) => {
  const { status, ...output } = airtime(args);
  expect(output[stream]).toContain(text);
  expect(status).toBe(exitCode);
});

// One without a usage would run although its help was asked for.
test("every command has a usage, but for start and admin, which have a help of their own", () => {
  const [, listed = ""] = airtime(["--help"]).stdout.split("\n\n");
  const names = listed.match(/^ {2}[a-z]+/gm)?.map((name) => name.trim());
  expect(names).toEqual(expect.arrayContaining(["start", "admin"]));
  expect(names?.filter((name) => !["start", "admin"].includes(name))).toEqual(Object.keys(usage));
});

test("the compiled modules are kept in the project's own folder, where only its owner writes", () => {
  const { stderr } = airtime([], { NODE_COMPILE_CACHE: undefined, NODE_DEBUG_NATIVE: "COMPILE_CACHE" });
  expect(stderr).toContain(`-> ${join(projectRoot, ".local", "compile-cache")}`);
});

const printLoaded = `import { registerHooks } from "node:module";
  registerHooks({ load: (url, context, next) => { console.error(url); return next(url, context); } });`;
const { stderr: loaded, status } = airtime(["admin", "accounts", "list"], {
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(printLoaded)}`,
  SERVICE_FILE: "/none.json",
});

test("airtime admin passes its arguments on, and ends with the exit code of the command", () => {
  expect(loaded).toContain("No service is running here");
  expect(status).toBe(2);
});

test.each([
  "/shared/actions/runs.ts",
  "/tools/admin/commands/keys.ts",
  "/tools/admin/stage-target.ts",
  ...["/aws-cdk-lib/", "/client-cloudformation/", "/client-lambda/", "/client-s3/", "/client-sts/", "/csv-parse/"],
])("a command about accounts, on this machine, spares the time to load %s", (path) => {
  expect(loaded).toContain("/tools/admin/commands/accounts.ts\n");
  expect(loaded).not.toContain(path);
});
