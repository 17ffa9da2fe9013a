import { spawnSync } from "node:child_process";
import { test } from "vitest";

/** Whether this machine has a command that no package of npm brings. */
export const isInstalled = (command: string): boolean => spawnSync("which", [command]).status === 0;

/** A test that a machine without the command skips, and says so. `.ci/run` installs the commands if it may. */
export const testWith = (command: string): ((title: string, run: () => Promise<void>) => void) => {
  const isHere = isInstalled(command);
  return (title, run) => test.skipIf(!isHere)(isHere ? title : `${title} (skipped: no ${command})`, run);
};
