import { execFileSync } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "#zod";
import { temporaryFolder } from "../../builders/run/cleanups.ts";

/** Goal: the steps that only GitHub runs work. Method: each runs as its workflow has it; `gh` records its arguments. */
const text = z.optional(z.string());
const Workflow = z.object({
  jobs: z.record(
    z.string(),
    z.object({ environment: text, steps: z._default(z.array(z.object({ if: text, run: text })), []) }),
  ),
});

/** The only step of a workflow with this text. */
const step = (workflow: string, text: string): string => {
  const { jobs } = Workflow.parse(parse(readFileSync(`.github/workflows/${workflow}`, "utf8")));
  const found = Object.values(jobs).flatMap(({ steps }) =>
    steps.flatMap(({ run }) => (run?.includes(text) ? [run] : [])),
  );
  const [only = ""] = found;
  expect(found).toHaveLength(1);
  return only;
};

let folder = "";
beforeEach(() => {
  folder = temporaryFolder();
});

/** The Node of a workflow is that of .nvmrc, which runs no TypeScript. */
const oldNode = `#!/bin/sh\ncase "$1" in *.ts) echo "Unknown file extension $1" >&2; exit 1;; esac\nexec "$REAL_NODE" "$@"\n`;

const recordingGh = `#!/bin/sh\nfor each; do printf '%s\\0' "$each"; done >>"$GH_CALLS"; echo >>"$GH_CALLS"\ncase "$*" in *--jq*) printf '%s' "$GH_LISTED";; esac\n`;

/** Runs a step as GitHub does, and returns the arguments of each call of `gh`. A list of comments has `listed`. */
const runStep = (run: string, env: Readonly<Record<string, string>> = {}, listed = ""): string[][] => {
  const calls = join(folder, "calls");
  writeFileSync(calls, "");
  const gh = join(folder, "gh");
  writeFileSync(gh, recordingGh, { mode: 0o755 });
  writeFileSync(join(folder, "node"), oldNode, { mode: 0o755 });
  writeFileSync(join(folder, "step.sh"), run);
  for (const name of ["package.json", "tools", "node_modules"]) symlinkSync(resolve(name), join(folder, name));
  execFileSync("bash", ["-e", "step.sh"], {
    cwd: folder,
    env: {
      ...process.env,
      ...{ PATH: `${folder}:${process.env.PATH}`, REAL_NODE: process.execPath, GH_CALLS: calls, GH_LISTED: listed },
      GITHUB_REPOSITORY: "shop/airtime",
      ...env,
    },
  });
  const lines = readFileSync(calls, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => line.split("\0").slice(0, -1));
};

test("a release tags the tested commit with the version of package.json", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const tag = ["--field", `ref=refs/tags/v${version}`, "--field", "sha=0123abc", "--silent"];
  expect(runStep(step("release.yml", "refs/tags"), { GITHUB_SHA: "0123abc" })).toEqual([
    ["api", "repos/shop/airtime/git/refs", ...tag],
  ]);
});

test.each([
  ["deploy-stage.yml", "inputs.only-newest"],
  ["../../tools/init/deploy.yml", undefined],
])(
  "the sandbox gets the newest commit of its branch, and no older one when an earlier run ends late or is run again: %s",
  (workflow, condition) => {
    const guard = step(workflow, "GITHUB_REF_NAME");
    const env = { GITHUB_SHA: "0123abc", GITHUB_REF_NAME: "main" };
    expect(runStep(guard, env, "0123abc")).toEqual([["api", "repos/shop/airtime/commits/main", "--jq", ".sha"]]);
    folder = temporaryFolder();
    expect(() => runStep(guard, env, "4567def")).toThrow("Command failed");
    const { jobs } = Workflow.parse(parse(readFileSync(`.github/workflows/${workflow}`, "utf8")));
    const guarded = Object.values(jobs).filter(({ steps }) => steps[0]?.run === guard);
    expect(guarded.map(({ environment, steps }) => [environment, steps[0]?.if])).toEqual([
      [condition === undefined ? "sandbox" : ["$", "{{ inputs.stage }}"].join(""), condition],
    ]);
  },
);

test("the bill of materials of a check has each package that is deployed, and no other", () => {
  runStep(step("check.yml", "airtime.cdx.json"));
  const { components } = z
    .object({ components: z.array(z.object({ name: z.string(), version: z.string() })) })
    .parse(JSON.parse(readFileSync(join(folder, "airtime.cdx.json"), "utf8")));
  const { packages } = z
    .object({
      packages: z.record(
        z.string(),
        z.object({ name: z.optional(z.string()), version: z.string(), dev: z.optional(z.literal(true)) }),
      ),
    })
    .parse(JSON.parse(readFileSync("package-lock.json", "utf8")));
  const deployed = Object.entries(packages).filter(([path, { dev }]) => path !== "" && !dev);
  const named = deployed.map(([path, { version }]) => `${path.replace(/^.*node_modules\//, "")} ${version}`);
  expect(components.map(({ name, version }) => `${name} ${version}`).toSorted()).toEqual(named.toSorted());
  expect(named.length).toBeGreaterThan(70);
});

test.each([
  ["a first diff is a new comment", "", "POST", "repos/shop/airtime/issues/7/comments"],
  ["a later diff replaces the stage's comment", "42", "PATCH", "repos/shop/airtime/issues/comments/42"],
])("%s", (_, listed, method, target) => {
  writeFileSync(join(folder, "diff.txt"), `[+] AWS::Lambda::Function Purchase\n${"x".repeat(70_000)}`);
  const env = { STAGE: "sandbox", COMMIT: "0123abc", PULL_REQUEST: "7" };
  const [list, ...written] = runStep(step("diff.yml", "comments="), env, listed);
  expect(list?.slice(0, 3)).toEqual(["api", "--paginate", "repos/shop/airtime/issues/7/comments"]);
  expect(list?.at(-1)).toContain('startswith("<!-- cdk diff of sandbox -->")');
  const call = ["api", "--method", method, target];
  expect(written).toEqual([[...call, "--field", "body=@comment.md", "--silent"]]);
  const comment = readFileSync(join(folder, "comment.md"), "utf8");
  expect(comment).toMatch(/^<!-- cdk diff of sandbox -->\n`npm run diff -- --stage sandbox` at 0123abc:\n/);
  expect(comment).toContain("[+] AWS::Lambda::Function Purchase");
  expect(comment.length).toBeLessThan(65_536);
});
