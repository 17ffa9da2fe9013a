import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync } from "node:fs";
import { describe, expect, test } from "vitest";

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

/** Its standard output is a full disk, where the machine has one. */
const run = (work: string) =>
  spawnSync(
    process.execPath,
    [
      "--input-type=module",
      "--eval",
      `import { outliveReaders } from "./tools/usage/ended-reader.ts"; outliveReaders(); ${work}`,
    ],
    { stdio: ["ignore", existsSync("/dev/full") ? openSync("/dev/full", "w") : "ignore", "pipe"], encoding: "utf8" },
  );

describe.runIf(existsSync("/dev/full"))("a command whose output does not fit on the disk", () => {
  const print = 'console.log("the result"); console.log("more");';

  test("says so once, and fails", () => {
    const { status, stderr } = run(print);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^The output could not be written \(ENOSPC.*\)\.\n$/);
  });

  test("keeps the exit code of its own failure", () => {
    const { status, stderr } = run(`process.exitCode = 2; ${print}`);
    expect([status, stderr]).toEqual([2, ""]);
  });
});

test.each(["EPIPE", "EIO"])("a reader or a terminal that is gone, %s, is no failure", (code) => {
  const { status, stderr } = run(
    `process.stdout.emit("error", Object.assign(new Error("gone"), { code: "${code}" }));`,
  );
  expect([status, stderr]).toEqual([0, ""]);
});
