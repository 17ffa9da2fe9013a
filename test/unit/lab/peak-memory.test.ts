import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { peakMemoryKb } from "../../../lab/peak-memory.ts";

const MB = 1_024 * 1_024;

test.runIf(process.platform === "linux")("the peak memory of a process is not that of its parent", () => {
  const ofParent = Buffer.alloc(200 * MB, 1);
  const module = new URL("../../../lab/peak-memory.ts", import.meta.url).href;
  const program = `import { peakMemoryKb } from "${module}"; console.log(peakMemoryKb("self"));`;
  const peakKb = Number(execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" }));
  expect(peakKb).toBeGreaterThan(20_000);
  expect(peakKb).toBeLessThan(150_000);
  expect(peakMemoryKb(process.pid) * 1_024).toBeGreaterThan(ofParent.length);
});
