import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { projectRoot } from "../../../../infra/bundle/project-root.ts";

/** Goal: the command lists its commands, names a wrong one, and loads what an earlier command has compiled. */
const airtime = (args: readonly string[], environment: NodeJS.ProcessEnv = {}) => {
  const env = { ...process.env, ...environment };
  return spawnSync(process.execPath, ["tools/airtime/main.ts", ...args], { cwd: projectRoot, env, encoding: "utf8" });
};

test.each([
  [[], 0, "stdout", "deploys a stage"],
  [["--help"], 0, "stdout", "airtime admin --help lists the operator's commands."],
  [["publish"], 2, "stderr", 'There is no command "publish". The commands are init, start, admin, synth,'],
  ...(["diff", "deploy", "destroy"] as const).map(
    (command) => [[command], 2, "stderr", `Name the stage: npm run ${command} -- --stage NAME.`] as const,
  ),
  [["synth", "--stage", "nowhere"], 2, "stderr", 'There is no stage "nowhere" in stages.ts.'],
] as const)("airtime %j ends with exit code %i and says on %s: %s", (args, exitCode, stream, text) => {
  const { status, ...output } = airtime(args);
  expect(output[stream]).toContain(text);
  expect(status).toBe(exitCode);
});

test.each([
  ["init", "airtime init [--yes] [--upstream-url VALUE] [--account VALUE] [--region VALUE] [--alarm-email VALUE]"],
  ["synth", "npm run synth -- [--stage NAME] [OPTIONS OF CDK]"],
  ["diff", "npm run diff -- --stage NAME [--profile NAME] [OPTIONS OF CDK]"],
  ["deploy", "npm run deploy -- --stage NAME [--administrator] [--profile NAME] [OPTIONS OF CDK]"],
  ["templates", "npm run templates -- --stage NAME --output FOLDER"],
  ["destroy", "npm run destroy -- --stage NAME [--profile NAME] [OPTIONS OF CDK]"],
  ["acceptance", "npm run acceptance -- --stage NAME --region REGION [--profile NAME] [--json] [--clean-up]"],
  ["costs", "npm run costs -- [--json]"],
])("airtime %s --help says how it is called, and does nothing else", (name, usage) => {
  const { status, stdout, stderr } = airtime([name, "--help"]);
  expect(stderr).toBe("");
  expect(stdout).toContain(`\n${usage}\n`);
  expect(status).toBe(0);
});

test("the compiled modules are kept in the project's own folder, where only its owner writes", () => {
  const { stderr } = airtime([], { NODE_COMPILE_CACHE: undefined, NODE_DEBUG_NATIVE: "COMPILE_CACHE" });
  expect(stderr).toContain(`-> ${join(projectRoot, ".local", "compile-cache")}`);
});

const printLoaded = `import { registerHooks } from "node:module";
  registerHooks({ load: (url, context, next) => { console.error(url); return next(url, context); } });`;
const { stderr: loaded } = airtime(["admin", "accounts", "list"], {
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(printLoaded)}`,
  SERVICE_FILE: "/none.json",
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
