import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
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

test("npm run synth writes the templates and code of the sandbox, without an AWS account", async () => {
  expect(await run("synth", "--output", scratch)).toMatchObject({ code: 0 });
  const written = readdirSync(scratch, { recursive: true, encoding: "utf8" });
  expect(written.filter((name) => name.endsWith("index.mjs"))).toHaveLength(functionNamesOf({}).length);
  expect(written).toContain("Sandbox-Service.template.json");
});

test("a command that is refused exits with 1 and one sentence on standard error", async () => {
  const sentence = "There are no AWS credentials. Sign in (aws sso login), set AWS_PROFILE, or add --profile.";
  const environment = { AWS_DEFAULT_REGION: "eu-west-1" };
  expect(await runWith(environment, "deploy", "--stage", "sandbox")).toEqual({ code: 1, stderr: `${sentence}\n` });
});
