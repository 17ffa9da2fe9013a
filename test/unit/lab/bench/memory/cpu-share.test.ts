import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { expect, test } from "vitest";
import { openCpuShare } from "../../../../../lab/bench/memory/cpu-share.ts";

const groupsNamed = (name: string): readonly string[] =>
  globSync([`/sys/fs/cgroup/${name}`, `/sys/fs/cgroup/*/${name}`]).toSorted();

/** Needs root, and control groups that may be made. */
const mayLimit = (): boolean => {
  try {
    openCpuShare(128).remove();
    return true;
  } catch {
    return false;
  }
};

test.skipIf(!mayLimit())(
  "a run that is interrupted ends its limited processes and leaves no control group",
  async () => {
    const share = new URL("../../../../../lab/bench/memory/cpu-share.ts", import.meta.url);
    // A run ends so on Ctrl-C; its instance has not been stopped.
    const run = `import { openCpuShare } from ${JSON.stringify(share.href)};
    import { spawn } from "node:child_process";
    const [program, ...args] = openCpuShare(128).limited(["sh", "-c", "echo limited; exec sleep 600"]);
    spawn(program, args, { stdio: ["ignore", "inherit", "ignore"] });
    process.once("SIGINT", () => process.exit(130));`;
    const child = spawn(process.execPath, ["--input-type=module-typescript", "--eval", run], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    const name = `bench-${child.pid}-1`;
    expect(groupsNamed(name)).not.toEqual([]);
    child.kill("SIGINT");
    await once(child, "exit");
    expect(groupsNamed(name)).toEqual([]);
  },
);
