import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { projectRoot } from "../../../../infra/bundle/project-root.ts";
import { temporaryFolder } from "../../../builders/run/cleanups.ts";

test("a CDK that is not installed is a refusal with the command that installs it", () => {
  const program = `
    import { runCdk } from "${projectRoot}tools/deploy/run-cdk.ts";
    await runCdk([]).catch(({ name, message }) => console.log(name, message));`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: temporaryFolder(),
    env: { PATH: "" },
    encoding: "utf8",
  });
  expect(stdout).toBe("SettingsError The CDK cannot be started: npm ci installs it. Error: spawn cdk ENOENT\n");
});
