#!/usr/bin/env node
import module from "node:module";
import { join } from "node:path";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { EXIT_REFUSED } from "../../infra/exit-codes.ts";
import { runCommand } from "../../infra/run-command.ts";
import { asksForHelp } from "../usage/arguments.ts";
import { outliveReaders } from "../usage/ended-reader.ts";
import { reachLoopbackDirectly } from "../usage/loopback-proxy.ts";
import { examples, usage } from "../usage/usage.ts";

/** The command `airtime`. Each of its commands is a module that reads the arguments behind the command's name. */
const commands = {
  init: ["makes a repository's files in this folder", () => import("../init/main.ts")],
  start: ["runs the whole service on this machine, with a simulated upstream", () => import("../local/start.ts")],
  admin: ["operates the service on this machine, or a stage", () => import("../admin/main.ts")],
  synth: ["checks a stage's settings and makes its templates", () => import("../deploy/main.ts")],
  diff: ["compares a stage with what is deployed", () => import("../deploy/main.ts")],
  deploy: ["deploys a stage", () => import("../deploy/main.ts")],
  templates: ["makes a stage's templates for tools other than the CDK", () => import("../templates/main.ts")],
  destroy: ["deletes a stage", () => import("../deploy/main.ts")],
  acceptance: ["tries the service in an AWS account, and deletes it again", () => import("../acceptance/main.ts")],
  costs: ["prints what the service costs on AWS", () => import("../costs/print.ts")],
} as const;

/** What `cdk` runs: the app of cdk.json, and the simulator of `acceptance`. */
const apps = {
  app: () => import("../../infra/app.ts"),
  "simulator-app": () => import("../acceptance/simulator/app.ts"),
} as const;

/** These read their own name too. */
const CDK_COMMANDS: readonly string[] = ["synth", "diff", "deploy", "destroy"];

const isKeyOf = <Table extends object>(table: Table, name: string | undefined): name is keyof Table & string =>
  name !== undefined && Object.hasOwn(table, name);

const help = (): string =>
  [
    "airtime COMMAND [options]",
    "",
    ...Object.entries(commands).map(([name, [summary]]) => `  ${name.padEnd(12)}${summary}`),
    "",
    "airtime COMMAND --help says how a command is called; airtime admin --help lists the operator's commands.",
    "airtime --version prints the version. docs/deployment.md explains the commands.",
    "",
    "Exit codes: 0 done; 1 failed; 2 refused, nothing changed; 130 interrupted.",
  ].join("\n");

const refuse = (sentence: string): void => {
  console.error(sentence);
  process.exitCode = EXIT_REFUSED;
};

// With the modules that an earlier command compiled, a command takes half the CPU time. Not in the folder for temporary
// files, where others could put code. Older Node, which is refused below, cannot.
module.enableCompileCache?.(join(projectRoot, ".local", "compile-cache"));

outliveReaders();
reachLoopbackDirectly();
const [, , name, ...args] = process.argv;
if (!process.features.typescript) {
  refuse(
    `airtime needs Node 24 or newer, and this is ${process.version}. npm run and npx use the one in node_modules, where npm installed it.`,
  );
} else if (isKeyOf(apps, name)) {
  await apps[name]();
} else if ((name === "--version" && args.length === 0) || args.join() === "--version") {
  console.log((await import("../usage/version.ts")).version);
} else if (isKeyOf(usage, name) && asksForHelp(args)) {
  console.log(`airtime ${name} ${commands[name][0]}.\n\n${usage[name]}\n\nExample:\n  ${examples[name]}`);
} else if (isKeyOf(commands, name)) {
  if (!CDK_COMMANDS.includes(name)) process.argv.splice(2, 1);
  await runCommand(async () => {
    await commands[name][1]();
    return undefined;
  });
} else if (name === undefined || name === "help" || asksForHelp([name])) {
  console.log(help());
} else {
  refuse(`There is no command "${name}". The commands are ${Object.keys(commands).join(", ")}.`);
}
