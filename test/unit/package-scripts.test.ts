import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as z from "#zod";

/**
 * Goal: each script of package.json is started by a check, at least in a short form, so that none stops working unseen.
 */
const CI = ".ci/run";
const SHORT_FORMS = "test/scripts/short-forms.script.ts";
const SHORT_TESTS = "test/scripts/tests.script.ts";
const CONFORMANCE = "test/scripts/conformance.script.ts";
const startedBy: Readonly<Record<string, readonly [file: string, command: string]>> = {
  start: [SHORT_FORMS, 'startNpm(["start"'],
  admin: [SHORT_FORMS, 'run("admin"'],
  test: [CI, "npm test"],
  check: ["package.json", "npm run check"],
  format: [SHORT_FORMS, '"format", file)'],
  openapi: [SHORT_FORMS, '"openapi")'],
  client: ["docs/tutorial.md", "npm run client"],
  package: ["test/deploy/sandbox/company.ts", '"npm", "run", "--silent", "package"'],
  tables: [SHORT_FORMS, '"tables")'],
  site: [SHORT_FORMS, 'run("site"'],
  release: [SHORT_FORMS, 'run("release"'],
  costs: [SHORT_FORMS, 'run("costs")'],
  scale: [SHORT_FORMS, 'run("scale")'],
  trace: [SHORT_FORMS, 'run("trace"'],
  statements: [SHORT_FORMS, 'run("statements"'],
  screenshots: [SHORT_FORMS, 'run("screenshots"'],
  bench: [SHORT_FORMS, 'run("bench"'],
  synth: ["test/deploy/sandbox/as-deployed.ts", '"npm", "run", "synth"'],
  diff: ["test/deploy/sandbox/as-deployed.ts", '"npm", "run", "diff"'],
  deploy: ["test/deploy/deployed-stage.ts", '"npm", "run", "deploy"'],
  destroy: ["test/deploy/sandbox/destroy.ts", '"npm", "run", "destroy"'],
  templates: ["test/deploy/sandbox/package.ts", '"npm", "run", "--silent", "templates"'],
  acceptance: ["test/deploy/acceptance.deploy.ts", '"npm", "run", "--silent", "acceptance"'],
  conformance: [CONFORMANCE, 'run("conformance"'],
  "test:faults": [SHORT_TESTS, 'run("test:faults"'],
  "test:mutants": [SHORT_TESTS, 'run("test:mutants"'],
  "test:deploy": [CI, "npm run --silent test:deploy"],
  "test:dynamodb-local": [SHORT_TESTS, 'run("test:dynamodb-local"'],
  "test:load": [SHORT_TESTS, 'run("test:load"'],
  "test:mutation": [SHORT_TESTS, 'run("test:mutation"'],
  "test:runtimes": [SHORT_TESTS, 'run("test:runtimes"'],
  "test:clients": [CONFORMANCE, 'run("test:clients"'],
  "test:scripts": [CI, "npm run --silent test:scripts"],
};

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync("package.json", "utf8")));

test("every script of package.json is in the table of the checks that start them, and no other", () => {
  expect(new Set(Object.keys(startedBy))).toEqual(new Set(Object.keys(scripts)));
});

test.each(Object.entries(startedBy))("npm run %s is started by a check", (_script, [file, command]) => {
  expect(readFileSync(file, "utf8"), `${file} does not start it`).toContain(command);
});

const labFolders = readdirSync("lab", { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== "node_modules")
  .map(({ name }) => name);

test.each(labFolders)("lab/%s has a command, which has a smoke form and a row in lab/README.md", (folder) => {
  const commands = Object.keys(scripts).filter((name) => scripts[name]?.includes(`lab/${folder}/`));
  expect(commands).not.toEqual([]);
  const rows = readFileSync("lab/README.md", "utf8").split("\n");
  for (const name of commands) {
    expect([SHORT_FORMS, SHORT_TESTS]).toContain(startedBy[name]?.[0]);
    expect(rows.filter((row) => row.startsWith(`| \`npm run ${name}\` | \`${folder}\` |`))).toHaveLength(1);
  }
});
