import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * The most memory that a process has had in RAM, in KB, of Linux's /proc. A process's own `resourceUsage().maxRSS` is at
 * least what its parent had when it started it.
 */
export const peakMemoryKb = (processId: ChildProcess["pid"] | "self"): number => {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${processId}/status`, "utf8")) ?? [];
  if (kilobytes === undefined) throw new Error(`Linux does not say what memory the process ${processId} has had`);
  return Number(kilobytes);
};
