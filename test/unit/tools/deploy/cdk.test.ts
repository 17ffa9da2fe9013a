import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { projectRoot } from "../../../../infra/bundle/bundle.ts";
import { functionNamesOf } from "../../../../infra/functions.ts";

const scratch = mkdtempSync(join(tmpdir(), "synthesis-"));
afterAll(() => rmSync(scratch, { recursive: true }));

/** An environment in which no SDK finds an AWS account. */
const withoutAccount = {
  HOME: scratch,
  PATH: [join(projectRoot, "node_modules", ".bin"), process.env.PATH].join(delimiter),
  AWS_EC2_METADATA_DISABLED: "true",
};

type Run = { readonly code: number; readonly stderr: string };
/** Runs the command behind npm run synth, diff, deploy and destroy. */
const run = (...args: readonly string[]): Promise<Run> => runWith({}, ...args);
const runWith = async (environment: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Run> => {
  try {
    const { stderr } = await promisify(execFile)(process.execPath, ["tools/deploy/cdk.ts", ...args], {
      cwd: projectRoot,
      env: { ...withoutAccount, ...environment },
    });
    return { code: 0, stderr };
  } catch (error) {
    const { code, stderr } = { code: -1, stderr: "", ...(error instanceof Error ? error : {}) };
    return { code, stderr };
  }
};

/** The templates, asset manifests and bundles in a folder, by name. */
const outputsIn = (folder: string): Map<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(template|assets)\.json$|index\.mjs$/.test(name))
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );

test("two runs of npm run synth write the same templates and code, without an AWS account", async () => {
  const folders = [join(scratch, "one"), join(scratch, "two")];
  for (const folder of folders) expect(await run("synth", "--output", folder)).toMatchObject({ code: 0 });
  const [one = new Map(), two = new Map()] = folders.map(outputsIn);
  expect([...one.keys()].filter((name) => name.endsWith("index.mjs"))).toHaveLength(functionNamesOf({}).length);
  expect([...one.keys()]).toContain("Sandbox-Service.template.json");
  expect(two).toEqual(one);
});

test.each([
  [["synth", "--stage", "nowhere"], 'There is no stage "nowhere" in infra/stages.ts. Known: sandbox, prod.'],
  [["publish"], 'There is no command "publish". The commands are synth, diff, deploy, destroy.'],
  [["deploy"], "Name the stage: npm run deploy -- --stage NAME."],
  [["diff"], "Name the stage: npm run diff -- --stage NAME."],
  [["deploy", "--stage"], "--stage needs the name of a stage in infra/stages.ts."],
  [["deploy", "--stage", "nowhere"], 'There is no stage "nowhere" in infra/stages.ts. Known: sandbox, prod.'],
  [["deploy", "--stage=sandbox"], "There is no AWS region. Set AWS_REGION, or a region in your profile."],
  [
    ["destroy", "--stage", "prod"],
    'Stage "prod" has the placeholder 000000000000 as its account. Set its account and region in infra/stages.ts first.',
  ],
])(
  "tools/deploy/cdk.ts with the arguments %j exits with 1 and one sentence on standard error",
  async (args, sentence) => {
    expect(await run(...args)).toEqual({ code: 1, stderr: `${sentence}\n` });
  },
);

test("npm run deploy with a region and without credentials exits with 1 and one sentence on standard error", async () => {
  const sentence = "There are no AWS credentials. Sign in (aws sso login), set AWS_PROFILE, or add --profile.";
  const environment = { AWS_DEFAULT_REGION: "eu-west-1" };
  expect(await runWith(environment, "deploy", "--stage", "sandbox")).toEqual({ code: 1, stderr: `${sentence}\n` });
});
