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

test("standard output holds the scorecard only: what the kit's own writes to the service's tables log is not printed", () => {
  const logModule = new URL("../../../../shared/platform/log.ts", import.meta.url).href;
  const atExit = `import { log } from ${JSON.stringify(logModule)};
    process.on("exit", () => log.warn("ledger.write_indeterminate", { error: "TimeoutError" }));`;
  const path = `data:text/javascript,${encodeURIComponent(atExit)}`;
  const args = ["--import", path, "tools/conformance/main.ts", "--client", "none", "--json"];
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    env: { ...process.env, TMPDIR: "/none" },
    encoding: "utf8",
  });
  expect(stderr).toContain("The kit could not run the client: Error: ENOENT");
  expect(stdout).toBe("");
});
