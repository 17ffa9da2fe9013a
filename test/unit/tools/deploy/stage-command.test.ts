import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { SettingsError } from "../../../../infra/settings-error.ts";
import type { Stages } from "../../../../infra/stage-settings.ts";
import { stages } from "../../../../stages.ts";
import { stageTarget } from "../../../../tools/admin/stage-target.ts";
import { runStageCommand } from "../../../../tools/deploy/stage-command.ts";
import { FAKE_ACCOUNT, MFA_CONFIG, startFakeAws } from "../../../builders/aws/fake-aws.ts";

/** Goal: what is wrong about a stage or its credentials ends in one sentence, before the CDK runs or AWS is changed. */
let stacksAnswer = "does not exist";
const aws = await startFakeAws(({ Action, StackName }) =>
  Action === "DescribeStacks"
    ? { error: "ValidationError", message: `Stack with id ${StackName} ${stacksAnswer}` }
    : undefined,
);
afterAll(() => aws.stop());

const keys = { AWS_ACCESS_KEY_ID: "AKIAENV", AWS_SECRET_ACCESS_KEY: "env" };
beforeEach(() => aws.enter(keys));

const { prod } = stages;
if (prod === undefined) throw new Error("There is no stage prod");
const egress = { kind: "nat-gateway" as const, zones: ["eu-west-1a", "eu-west-1b"] };
const upstreamProfile = { reference: "documented" } as const;
const here = { account: FAKE_ACCOUNT, region: "eu-west-1", egress, upstreamProfile };
const known = { ...stages, prod: { ...prod, ...here } };

/** Runs a command of npm, which must be refused before the CDK runs; resolves with the message. */
const refusalOf = async (args: readonly string[], inStages: Stages = known): Promise<string> => {
  const cdk = async (): Promise<number> => {
    throw new Error("The CDK ran");
  };
  return messageOf(runStageCommand(args, { known: inStages, cdk }));
};
const messageOf = async (run: Promise<unknown>): Promise<string> => {
  const error: unknown = await run.catch((reason: unknown) => reason);
  if (error instanceof SettingsError) return error.message;
  throw new Error("The command was not refused", { cause: error });
};
/** All requests but the question who the caller is. */
const otherRequests = () => aws.requests.filter(({ Action }) => Action !== "GetCallerIdentity");

const elsewhere = { ...stages, prod: { ...prod, ...here, account: "999900001111" } };
const wrongAccount =
  /^Stage "prod" belongs to AWS account 999900001111 .*, but these credentials are of 111122223333: /;

test.each([["diff"], ["deploy"], ["destroy"]])("%s is refused with credentials of another account", async (command) => {
  expect(await refusalOf([command, "--stage", "prod"], elsewhere)).toMatch(wrongAccount);
  expect(otherRequests()).toEqual([]);
});

test("the operator's command line is refused in another account or region, or with the placeholder", async () => {
  const operate = (inStages: Stages) => messageOf(stageTarget("prod", { known: inStages }));
  expect(await operate(elsewhere)).toMatch(wrongAccount);
  expect(otherRequests()).toEqual([]);
  expect(await operate(stages)).toContain('Stage "prod" has the placeholder');
  aws.enter({ ...keys, AWS_DEFAULT_REGION: "us-east-1" });
  expect(await operate(known)).toContain("but yours is us-east-1");
});

test("deploy --administrator deploys what people may do, and nothing else; other commands refuse the option", async () => {
  const ran: (readonly string[])[] = [];
  const cdk = async (args: readonly string[]): Promise<number> => ran.push(args) - 1;
  aws.enter({ ...keys, AWS_REGION: "eu-west-1" });
  expect(await runStageCommand(["deploy", "--stage", "prod", "--administrator"], { known, cdk })).toBe(0);
  expect(ran).toEqual([["deploy", "Prod-Administrator", "--exclusively", "--context", "stage=prod"]]);
  expect(otherRequests().map(({ Action, StackName }) => [Action, StackName])).toEqual([
    ["DescribeStacks", "Prod-Administrator"],
  ]);
  expect(await refusalOf(["destroy", "--stage", "prod", "--administrator"])).toBe(
    "--administrator is an option of deploy only.",
  );
});

test("a deployment that AWS refuses once the CDK ran fails with exit code 1, not as refused: something may have changed", async () => {
  const printed: unknown[] = [];
  vi.spyOn(console, "error").mockImplementation((text) => void printed.push(text));
  const cdk = async (): Promise<number> => {
    stacksAnswer = "may not be read";
    return 0;
  };
  aws.enter({ ...keys, AWS_REGION: "eu-west-1" });
  try {
    expect(await runStageCommand(["deploy", "--stage", "prod"], { known, cdk })).toBe(1);
  } finally {
    stacksAnswer = "does not exist";
  }
  expect(printed.at(-1)).toMatch(/^AWS CloudFormation refuses\. .* Prod-Data may not be read$/);
});

test("a command says what it does before the CDK runs, which prints nothing at first", async () => {
  const printed: unknown[] = [];
  vi.spyOn(console, "error").mockImplementation((text) => void printed.push(text));
  const cdk = async (): Promise<number> => printed.push("the CDK") - 2;
  expect(await runStageCommand(["synth"], { known, cdk })).toBe(0);
  expect(printed).toEqual(["Making the templates of stage sandbox, which takes up to a minute ...", "the CDK"]);
});

test.each([
  [["synth", "--stage", "nowhere"], 'There is no stage "nowhere" in stages.ts. Known: sandbox, prod.'],
  [["publish"], 'There is no command "publish". The commands are synth, diff, deploy, destroy.'],
  [["deploy"], "Name the stage: npm run deploy -- --stage NAME."],
  [
    ["destroy", "--stage", "prod", "Prod-Service"],
    "destroy deletes all stacks of a stage, not Prod-Service alone. Delete one with the AWS CLI: aws cloudformation delete-stack --stack-name Prod-Service",
  ],
  [["diff"], "Name the stage: npm run diff -- --stage NAME."],
  [["deploy", "--stage", "prod", "--profile"], "--profile needs the name of a profile in ~/.aws/config."],
  [["deploy", "--stage"], "--stage needs the name of a stage in stages.ts."],
  [["deploy", "--stage=sandbox"], "There is no AWS region. Set AWS_REGION, or a region in your profile."],
])("the arguments %j are refused", async (args, sentence) => {
  aws.enter();
  expect(await refusalOf(args)).toBe(sentence);
  expect(aws.requests).toEqual([]);
});

test("deploy is refused, with exit code 2 and a sentence, by a profile with an MFA device where no terminal is to type its code", async () => {
  aws.enter();
  aws.writeConfig(MFA_CONFIG);
  // A process that leads its own session has no terminal.
  const args = ["tools/airtime/main.ts", "deploy", "--stage", "sandbox", "--profile", "admin"];
  const child = spawn(process.execPath, args, {
    detached: true,
    env: { ...process.env, AWS_REGION: "eu-west-1" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "close");
  expect(await text(child.stderr)).toBe(
    `The MFA device arn:aws:iam::${FAKE_ACCOUNT}:mfa/ada has a code to type in, and there is no terminal. Use credentials without mfa_serial here.\n`,
  );
  expect(await ended).toEqual([2, null]);
  expect(aws.requests).toEqual([]);
});

test("deploy is refused for a stage whose settings are not valid before AWS is asked anything", async () => {
  const domain: object = { domain: { name: "api.example.com" } };
  const message = await refusalOf(["deploy", "--stage", "prod"], { prod: { ...known.prod, ...domain } });
  expect(message).toMatch(/^Stage "prod" in stages\.ts is not valid: domain\.certificateArn: must be [^\n]+\.$/);
  expect(aws.requests).toEqual([]);
});

test("the profile of the command line reaches the CDK as the environment's, and not as an option", async () => {
  aws.enter(keys);
  aws.writeConfig(
    '[profile tool]\ncredential_process = echo \'{"Version":1,"AccessKeyId":"A","SecretAccessKey":"s"}\'\n',
  );
  const runs: unknown[] = [];
  const cdk = async (args: readonly string[]): Promise<number> => {
    runs.push([args, process.env.AWS_PROFILE, process.env.AWS_ACCESS_KEY_ID, process.env.AWS_REGION]);
    return 3;
  };
  expect(await runStageCommand(["diff", "--stage=prod", "--profile", "tool", "--fail"], { known, cdk })).toBe(3);
  expect(runs).toEqual([[["diff", "--context", "stage=prod", "--fail"], "tool", undefined, "eu-west-1"]]);
});
