import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "#zod";
import { sells, settingsOf } from "../../../infra/stage-settings.ts";
import { stages } from "../../../stages.ts";

/** Goal: the workflows run what exists, with the least rights, and a selling stage is deployed after approval only. */
const FOLDER = ".github/workflows";

const permissions = z.record(z.string(), z.enum(["read", "write"]));
const step = z.object({
  if: z.optional(z.string()),
  uses: z.optional(z.string()),
  run: z.optional(z.string()),
  with: z._default(z.record(z.string(), z.unknown()), {}),
});
const job = z.object({
  if: z.optional(z.string()),
  needs: z.optional(z.string()),
  uses: z.optional(z.string()),
  environment: z.optional(z.string()),
  permissions: z.optional(permissions),
  "timeout-minutes": z.optional(z.number()),
  concurrency: z.optional(z.object({ group: z.string(), "cancel-in-progress": z.boolean() })),
  with: z._default(z.record(z.string(), z.union([z.string(), z.boolean()])), {}),
  strategy: z.optional(z.object({ matrix: z.object({ include: z.array(z.record(z.string(), z.string())) }) })),
  steps: z._default(z.array(step), []),
});
const workflow = z.object({
  on: z.record(z.string(), z.unknown()),
  permissions,
  concurrency: z.optional(z.object({ group: z.string(), "cancel-in-progress": z.boolean() })),
  jobs: z.record(z.string(), job),
});

const files = readdirSync(FOLDER).map((name) => ({ name, text: readFileSync(join(FOLDER, name), "utf8") }));
const workflows = new Map(files.map(({ name, text }) => [name, workflow.parse(parse(text))]));
const workflowNamed = (name: string): z.output<typeof workflow> => {
  const found = workflows.get(name);
  if (found === undefined) throw new Error(`There is no workflow ${name}`);
  return found;
};
const jobs = [...workflows].flatMap(([file, { jobs: own }]) =>
  Object.entries(own).map(([name, found]) => ({ file, name, job: found })),
);
const steps = jobs.flatMap(({ job: { steps: own } }) => own);

test("every npm script, program and workflow that a workflow names exists", () => {
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readFileSync("package.json", "utf8")));
  const named = steps.flatMap(({ run = "" }) =>
    [...run.matchAll(/npm run (?:--silent )?(\S+)/g)].map(([, name]) => name),
  );
  expect(new Set(named)).toEqual(new Set(["diff", "deploy", "site", "release"]));
  expect(named.filter((name) => scripts[name ?? ""] === undefined)).toEqual([]);
  const local = [...steps.map(({ run }) => run), ...jobs.map(({ job: { uses } }) => uses)].filter((path) =>
    path?.startsWith("."),
  );
  expect(local).toHaveLength(5);
  for (const path of local) expect(existsSync(path ?? "")).toBe(true);
});

test("every action is pinned by a commit, with its version beside it", () => {
  const uses = files
    .flatMap(({ text }) => [...text.matchAll(/uses: (\S+)(.*)/g)])
    .filter(([, name]) => name?.[0] !== ".");
  expect(uses.length).toBeGreaterThan(5);
  for (const [, name, comment] of uses) {
    expect(name).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
    expect(comment).toMatch(/^ # v\d+\.\d+\.\d+$/);
  }
});

test("no workflow has a secret: AWS is reached by OIDC, and GitHub with the run's own token", () => {
  for (const { text } of files) {
    expect(text).not.toMatch(/secrets\b/);
    expect(text).not.toMatch(/aws-access-key-id|AWS_ACCESS_KEY_ID|AWS_SECRET_ACCESS_KEY|aws-secret-access-key/);
  }
  const signIns = steps.filter(({ uses }) => uses?.startsWith("aws-actions/configure-aws-credentials@"));
  expect(signIns).toHaveLength(2);
  for (const { with: inputs } of signIns) expect(Object.keys(inputs)).toContain("role-to-assume");
});

test("each job has the rights that it needs and no others, and the checkout leaves no credentials behind", () => {
  const rights = jobs.map(({ file, name, job: { permissions: own } }) => {
    const all = own ?? workflowNamed(file).permissions;
    return [
      `${file} ${name}`,
      Object.entries(all)
        .map(([right, level]) => `${right}:${level}`)
        .join(" "),
    ];
  });
  const deploying = "contents:read id-token:write";
  expect(Object.fromEntries(rights)).toEqual({
    "check.yml audit": "contents:read",
    "check.yml check": "contents:read",
    "deploy.yml check": "contents:read",
    "deploy.yml sandbox": deploying,
    "deploy.yml prod": deploying,
    "deploy-stage.yml deploy": deploying,
    "diff.yml diff": "contents:read id-token:write pull-requests:write",
    "release.yml check": "contents:read",
    "release.yml release": "contents:write id-token:write attestations:write",
  });
  for (const { uses, with: inputs } of steps) {
    if (uses?.startsWith("actions/checkout@")) expect(inputs["persist-credentials"]).toBe(false);
  }
});

test("a pull request cannot run with rights of the base branch, and one of a fork does not reach AWS", () => {
  const events = [...workflows].map(([name, { on }]) => [name, Object.keys(on)]);
  expect(Object.fromEntries(events)).toEqual({
    "check.yml": ["pull_request", "workflow_call"],
    "deploy-stage.yml": ["workflow_call"],
    "deploy.yml": ["push"],
    "diff.yml": ["pull_request"],
    "release.yml": ["workflow_dispatch"],
  });
  expect(workflowNamed("deploy.yml").on.push).toEqual({ branches: ["main"] });
  const { diff } = workflowNamed("diff.yml").jobs;
  expect(diff?.if).toContain("github.event.pull_request.head.repo.full_name == github.repository");
  // A stage without a role is skipped, and so the job succeeds.
  for (const { if: condition } of diff?.steps ?? []) expect(condition).toBe("env.ROLE != ''");
});

test("each stage is deployed in the GitHub environment of its name, after the tests, and prod after the sandbox", () => {
  const { check, ...deployments } = workflowNamed("deploy.yml").jobs;
  expect(check?.uses).toBe("./.github/workflows/check.yml");
  expect(Object.keys(deployments)).toEqual(Object.keys(stages));
  for (const [stage, { uses, with: inputs, if: condition }] of Object.entries(deployments)) {
    const variable = stage.toUpperCase();
    expect(uses).toBe("./.github/workflows/deploy-stage.yml");
    expect(condition).toBe(`vars.${variable}_DEPLOY_ROLE != ''`);
    expect(inputs).toEqual({
      stage,
      role: `\${{ vars.${variable}_DEPLOY_ROLE }}`,
      region: `\${{ vars.${variable}_REGION }}`,
      // A person who approves decides which commit a stage gets that sells.
      ...(!sells(settingsOf(stage, stages)) && { "only-newest": true }),
    });
  }
  expect([deployments.sandbox?.needs, deployments.prod?.needs]).toEqual(["check", "sandbox"]);
  const { deploy } = workflowNamed("deploy-stage.yml").jobs;
  const stageInput = ["$", "{{ inputs.stage }}"].join("");
  expect(deploy?.environment).toBe(stageInput);
  expect(deploy?.concurrency).toEqual({ group: `deploy-${stageInput}`, "cancel-in-progress": false });
});

test("a release is tagged last, of main, after the tests and an approval, and has what its checksums name", () => {
  const { check, release } = workflowNamed("release.yml").jobs;
  expect(check).toMatchObject({ uses: "./.github/workflows/check.yml", if: "github.ref == 'refs/heads/main'" });
  expect(release).toMatchObject({ needs: "check", environment: "release" });
  const own = release?.steps ?? [];
  expect(own.findIndex(({ run }) => run === "npm run --silent release")).toBe(3);
  expect(own.at(-1)?.run).toContain("refs/tags/$tag");
  const files = [".local/release/files/SHA256SUMS", ".local/release/files"];
  expect(own.flatMap(({ with: inputs }) => [inputs["subject-checksums"], inputs.path]).filter(Boolean)).toEqual(files);
  const main = readFileSync("tools/release/main.ts", "utf8");
  expect(main).toContain('".local/release/files"');
});

test("a new advisory about a package stops no deployment, but is seen in a pull request", () => {
  const auditing = jobs.filter(({ job }) => job.steps.some(({ run }) => run?.startsWith("npm audit --omit=dev")));
  expect(auditing.map(({ file, job }) => [file, job.if])).toEqual([
    ["check.yml", "github.event_name == 'pull_request'"],
  ]);
});

test("a pull request is compared with every stage", () => {
  const { diff } = workflowNamed("diff.yml").jobs;
  const included = diff?.strategy?.matrix.include ?? [];
  expect(included).toEqual(
    Object.keys(stages).map((stage) => ({
      stage,
      role: `\${{ vars.${stage.toUpperCase()}_DIFF_ROLE }}`,
      region: `\${{ vars.${stage.toUpperCase()}_REGION }}`,
    })),
  );
});

test("every job that runs steps ends after a time, and a newer push replaces the checks of a pull request", () => {
  const running = jobs.filter(({ job: { steps: own } }) => own.length > 0);
  expect(running).toHaveLength(5);
  for (const { job: found } of running) expect(found["timeout-minutes"]).toBeLessThanOrEqual(120);
  for (const name of ["check.yml", "diff.yml"]) {
    expect(workflowNamed(name).concurrency).toMatchObject({ "cancel-in-progress": true });
  }
});

test("the session of a deployment lasts as long as its job, and as long as the role allows", () => {
  const { deploy } = workflowNamed("deploy-stage.yml").jobs;
  const signIn = deploy?.steps.find(({ uses }) => uses?.startsWith("aws-actions/"));
  const { Resources } = z
    .object({
      Resources: z.object({ DeployRole: z.object({ Properties: z.object({ MaxSessionDuration: z.number() }) }) }),
    })
    .parse(parse(readFileSync("infra/policies/pipeline.yaml", "utf8")));
  const { MaxSessionDuration } = Resources.DeployRole.Properties;
  expect(signIn?.with["role-duration-seconds"]).toBe(MaxSessionDuration);
  expect((deploy?.["timeout-minutes"] ?? 0) * 60).toBeLessThanOrEqual(MaxSessionDuration);
});
