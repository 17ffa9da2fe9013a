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
import { SettingsError } from "../../../infra/settings-error.ts";
import { settingsOf, stages } from "../../../infra/stages.ts";

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

const dear = { nin: { basic: 1, advanced: 2, retrieve: 3 }, bvn: { basic: 1, advanced: 2, retrieve: 3 } };

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
  test.each(["prod", "sandbox"])("has nothing to say about %s", (stage) => {
    const app = unbundledApp();
    addStage(app, stage, settingsOf(stage));
    expect(() => app.synth()).not.toThrow();
  });

  test("would say something about a queue without dead letters", () => {
    const app = unbundledApp();
    const { service } = addStage(app, "sandbox", settingsOf("sandbox"));
    new CfnQueue(service, "Forgotten");
    expect(() => app.synth()).toThrow("AwsSolutions-SQS3");
  });
});

describe("what is set wrongly ends in one sentence, before anything is built", () => {
  const sentenceFor = (changes: object): string => {
    try {
      settingsOf("prod", { prod: { ...stages.prod, ...changes } });
    } catch (error) {
      if (error instanceof SettingsError) return error.message;
    }
    return "";
  };

  test.each([
    [
      { identityPrices: { ...dear, nin: { basic: 150, advanced: 250, retrieve: 250 } } },
      "A retrieval must cost more than a",
    ],
    [{ egress: { kind: "nat-gateway", zones: 0 } }, "An egress needs at least 1 zone"],
    [{ egress: { kind: "nat-gateway", zones: 4 } }, "An egress has at most 3 zones"],
    [{ egress: { kind: "nat-gateway", zones: 2, allocationIds: ["eipalloc-0a"] } }, "one elastic IP for each zone"],
    [{ upstreamWebhookIps: ["203.0.113.256"] }, '"203.0.113.256" is not an IP address or CIDR range'],
    [{ upstreamSignature: { header: "X Signature", encoding: "hex" } }, "A header's name has letters, digits and"],
    [{ upstreamSignature: { header: "X-Signature", encoding: "base32" } }, "The encoding must be hex or base64"],
    [{ upstreamBaseUrl: "http://upstream.example.com/v1" }, "The upstream's URL must begin with https://"],
    [{ upstreamDates: "year-first" }, "upstreamDates: "],
    [{ alarmEmail: "nobody" }, "alarmEmail: "],
    [{ alarmEmail: undefined }, "alarmEmail: A stage that sells needs the address of those who must receive"],
    [{ maxConcurrency: { delivery: 1 } }, "maxConcurrency.delivery: AWS accepts a queue's concurrency from 2 on"],
    [{ maxConcurrency: { outcomes: 1_001 } }, "maxConcurrency.outcomes: AWS accepts a queue's concurrency up to 1000"],
    [{ reservedConcurrency: { purchase: 1 } }, "reservedConcurrency.purchase: Reserved concurrency is a limit too"],
    [{ webhookIps: ["203.0.113.1"] }, "webhookIps"],
  ])("%j", (changes, says) => {
    const sentence = sentenceFor(changes);
    expect(sentence).toMatch(/^Stage "prod" in infra\/stages\.ts is not valid: [^\n]+\.$/);
    expect(sentence).toContain(says);
  });

  test("the settings as they are have nothing wrong", () => {
    for (const stage of Object.keys(stages)) expect(() => settingsOf(stage)).not.toThrow();
  });

  test.each([
    [["synth", "--stage", "nowhere"], 'There is no stage "nowhere" in infra/stages.ts. Known: sandbox, prod.'],
    [["deploy"], "Name the stage: npm run deploy -- --stage NAME."],
    [["diff"], "Name the stage: npm run diff -- --stage NAME."],
    [["deploy", "--stage"], "--stage needs the name of a stage in infra/stages.ts."],
    [["deploy", "--stage", "nowhere"], 'There is no stage "nowhere" in infra/stages.ts. Known: sandbox, prod.'],
    [["deploy", "--stage=prod"], "There are no AWS credentials. Sign in (aws sso login) or set AWS_PROFILE."],
    [["destroy", "--stage", "prod"], "There are no AWS credentials. Sign in (aws sso login) or set AWS_PROFILE."],
  ])("%j", async (args, sentence) => {
    expect(await run(...args)).toEqual({ code: 1, stderr: `${sentence}\n` });
  });

  test("with credentials, but no region", async () => {
    const keys = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };
    const sentence = "There is no AWS region. Set AWS_REGION, or a region in your profile.";
    expect(await runWith(keys, "deploy", "--stage", "prod")).toEqual({ code: 1, stderr: `${sentence}\n` });
  });
});
