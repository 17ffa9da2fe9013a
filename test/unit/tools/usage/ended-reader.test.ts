import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync } from "node:fs";
import { expect, test } from "vitest";

test("a command whose reader has ended prints on to nobody, and finishes its work", async () => {
  const program = `
    import { outliveReaders } from "./tools/usage/ended-reader.ts";
    outliveReaders();
    process.stdin.once("data", async () => {
      for (let line = 0; line < 3; line++) {
        process.stdout.write("line");
        await new Promise(setImmediate);
      }
      process.exit(3);
    });`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program]);
  child.stdout.destroy();
  await once(child.stdout, "close");
  child.stdin.write("the reader has ended");
  expect(await once(child, "exit")).toEqual([3, null]);
});

test.runIf(existsSync("/dev/full"))("a command whose output does not fit on the disk says so, and fails", async () => {
  const program = `
    import { outliveReaders } from "./tools/usage/ended-reader.ts";
    outliveReaders();
    console.log("the result");`;
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^The output could not be written \(ENOSPC/);
});
