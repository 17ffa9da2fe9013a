import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

test("a run that fails by the kit's own fault ends with exit code 2: 1 says that the client does not conform", () => {
  const { status, stderr } = spawnSync(process.execPath, ["tools/conformance/main.ts", "--client", "none"], {
    env: { ...process.env, TMPDIR: "/none" },
    encoding: "utf8",
  });
  expect(stderr).toContain("The kit could not run the client: Error: ENOENT");
  expect(status).toBe(2);
});
