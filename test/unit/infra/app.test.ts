import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { CfnQueue } from "aws-cdk-lib/aws-sqs";
import { afterAll, describe, expect, test } from "vitest";
import { projectRoot } from "../../../infra/bundle/bundle.ts";
import { addStage } from "../../../infra/constructs/stage.ts";
import { unbundledApp } from "../../../infra/constructs/unbundled-app.ts";
import { settingsOf } from "../../../infra/stages.ts";

const scratch = mkdtempSync(join(tmpdir(), "synthesis-"));
afterAll(() => rmSync(scratch, { recursive: true }));

/** The machine's environment without anything that could lead to an AWS account. */
const noAccount = {
  HOME: scratch,
  PATH: [join(projectRoot, "node_modules", ".bin"), process.env.PATH].join(delimiter),
  AWS_EC2_METADATA_DISABLED: "true",
};
type Run = { readonly code: number; readonly stderr: string };
const run = (...args: readonly string[]): Promise<Run> => runWith({}, ...args);
const runWith = async (environment: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Run> => {
  try {
    const { stderr } = await promisify(execFile)(process.execPath, ["tools/deploy/cdk.ts", ...args], {
      cwd: projectRoot,
      env: { ...noAccount, ...environment },
    });
    return { code: 0, stderr };
  } catch (error) {
    const { code, stderr } = { code: -1, stderr: "", ...(error instanceof Error ? error : {}) };
    return { code, stderr };
  }
};

/** Templates and what is to be uploaded, file by file. */
const deployable = (folder: string): Map<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(template|assets)\.json$|index\.mjs$/.test(name))
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );

describe("npm run synth", () => {
  test("needs no account, and makes the same bytes each time", { timeout: 180_000 }, async () => {
    const folders = [join(scratch, "one"), join(scratch, "two")];
    for (const folder of folders) expect(await run("synth", "--output", folder)).toMatchObject({ code: 0 });
    const [one = new Map(), two = new Map()] = folders.map(deployable);
    expect([...one.keys()].filter((name) => name.endsWith("index.mjs"))).toHaveLength(12);
    expect([...one.keys()]).toContain("Sandbox-Service.template.json");
    expect(two).toEqual(one);
  });
});

describe("cdk-nag", () => {
  test.each(["prod", "sandbox"])("cdk-nag has no finding in %s", (stage) => {
    const app = unbundledApp();
    addStage(app, stage, settingsOf(stage));
    expect(() => app.synth()).not.toThrow();
  });

  test("cdk-nag reports a queue without dead letters", () => {
    const app = unbundledApp();
    const { service } = addStage(app, "sandbox", settingsOf("sandbox"));
    new CfnQueue(service, "Forgotten");
    expect(() => app.synth()).toThrow("AwsSolutions-SQS3");
  });
});

describe("a wrong command of npm run synth, deploy, diff or destroy", () => {
  test.each([
    [["synth", "--stage", "nowhere"], 'There is no stage "nowhere" in infra/stages.ts. Known: sandbox, prod.'],
    [["deploy"], "Name the stage: npm run deploy -- --stage NAME."],
    [["diff"], "Name the stage: npm run diff -- --stage NAME."],
    [["deploy", "--stage"], "--stage needs the name of a stage in infra/stages.ts."],
    [["deploy", "--stage", "nowhere"], 'There is no stage "nowhere" in infra/stages.ts. Known: sandbox, prod.'],
    [["deploy", "--stage=prod"], "There are no AWS credentials. Sign in (aws sso login) or set AWS_PROFILE."],
    [["destroy", "--stage", "prod"], "There are no AWS credentials. Sign in (aws sso login) or set AWS_PROFILE."],
  ])("npm run %j fails with one sentence", async (args, sentence) => {
    expect(await run(...args)).toEqual({ code: 1, stderr: `${sentence}\n` });
  });

  test("a deployment with credentials but without a region fails with one sentence", async () => {
    const keys = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };
    const sentence = "There is no AWS region. Set AWS_REGION, or a region in your profile.";
    expect(await runWith(keys, "deploy", "--stage", "prod")).toEqual({ code: 1, stderr: `${sentence}\n` });
  });
});
