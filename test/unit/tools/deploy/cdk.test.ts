import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { projectRoot } from "../../../../infra/bundle/project-root.ts";

const home = mkdtempSync(join(tmpdir(), "no-account-"));
afterAll(() => rmSync(home, { recursive: true }));

test("a command that is refused exits with 1 and one sentence on standard error", async () => {
  const env = {
    HOME: home,
    PATH: process.env.PATH,
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_DEFAULT_REGION: "eu-west-1",
  };
  const run = promisify(execFile)(process.execPath, ["tools/deploy/cdk.ts", "deploy", "--stage", "sandbox"], {
    cwd: projectRoot,
    env,
  });
  const stderr = "There are no AWS credentials. Sign in (aws sso login), set AWS_PROFILE, or add --profile.\n";
  await expect(run).rejects.toMatchObject({ code: 1, stderr });
});
