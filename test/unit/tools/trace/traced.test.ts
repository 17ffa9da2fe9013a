import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { functionEntry } from "../../../../infra/bundle/bundle-options.ts";
import { bundleOf } from "../../../../infra/bundle/bundles.ts";
import { mappedBundle, traced } from "../../../../tools/trace/traced.ts";
import { temporaryFolder } from "../../../builders/run/cleanups.ts";

const { code, map } = await mappedBundle("purchase");

test("the bundle that is traced has the bytes of the one that is deployed, which names no map", () => {
  expect(code).toBe(bundleOf("purchase"));
  expect(code).not.toContain("sourceMappingURL");
  expect(JSON.parse(map)).toHaveProperty("mappings");
});

test("a stack trace of a deployed bundle is traced to lines of this repository", async () => {
  const file = join(temporaryFolder(), "index.mjs");
  writeFileSync(file, code);
  // Without its environment the function throws while it is loaded.
  const script = `import(${JSON.stringify(file)}).catch(({ stack }) => console.log(stack))`;
  const { stdout } = await promisify(execFile)(process.execPath, ["-e", script], { env: { PATH: process.env.PATH } });
  expect(stdout).toContain("index.mjs:");
  const trace = await traced("purchase", stdout);
  expect(trace).not.toContain("index.mjs:");
  const [, line = "0"] = /functions\/purchase\/handler\.ts:(\d+):\d+/.exec(trace) ?? [];
  const source = readFileSync(functionEntry("purchase"), "utf8").split("\n");
  expect(source[Number(line) - 1]).toMatch(/environment|env/i);
});

test("text without a position in a bundle stays as it is", async () => {
  const line = '{"level":"error","event":"request.failed","error":"TypeError","at":"at node:net:1:2"}';
  expect(await traced("purchase", line)).toBe(line);
});
