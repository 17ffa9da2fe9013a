import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

const LOG = new URL("../../../../shared/platform/log.ts", import.meta.url).href;
/** Logs at the end, as the kit's own writes to the service's tables do. */
const LOGS_AT_EXIT = `import { log } from ${JSON.stringify(LOG)};
  process.on("exit", () => log.warn("ledger.write_indeterminate", { error: "TimeoutError" }));`;

test("a run that fails by the kit's own fault ends with exit code 2, because 1 says that the client does not conform, and prints nothing where the scorecard would be", () => {
  const path = `data:text/javascript,${encodeURIComponent(LOGS_AT_EXIT)}`;
  const args = ["--import", path, "tools/conformance/main.ts", "--client", "none", "--json"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    env: { ...process.env, TMPDIR: "/none" },
    encoding: "utf8",
  });
  expect(stderr).toContain("The kit could not run the client: Error: ENOENT");
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
});
