import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isShort } from "../extent.ts";

/**
 * A function of this size has a whole core; a smaller one has its share. Source: AWS, "Configure Lambda function
 * memory".
 */
export const WHOLE_CORE_MB = 1_769;
/** The period after which Lambda gives the share again, as measured by https://arxiv.org/html/2506.01283v2. */
export const PERIOD_US = 20_000;

const CGROUPS = "/sys/fs/cgroup";

/**
 * The limits that Lambda gives a function of one size: its share of the CPU time of all threads, and its memory. Within
 * its share it comes before all other work on the machine.
 */
export type CpuShare = {
  /** Runs the command with these limits from its first instruction on. */
  readonly limited: (command: readonly string[]) => readonly [string, ...string[]];
  readonly remove: () => void;
};

let opened = 0;

/** Needs root, and the controllers `cpu` and `memory` of either version of Linux's control groups. */
export const openCpuShare = (memoryMb: number): CpuShare => {
  opened += 1;
  const name = `bench-${process.pid}-${opened}`;
  const quotaUs = Math.round((PERIOD_US * memoryMb) / WHOLE_CORE_MB);
  const bytes = memoryMb * 1_024 * 1_024;
  const groups: readonly Group[] = existsSync(join(CGROUPS, "cgroup.controllers"))
    ? [
        {
          folder: join(CGROUPS, name),
          limits: { "cpu.max": `${quotaUs} ${PERIOD_US}`, "cpu.weight": "10000", "memory.max": `${bytes}` },
        },
      ]
    : [
        {
          folder: join(CGROUPS, "cpu", name),
          limits: {
            "cpu.cfs_period_us": `${PERIOD_US}`,
            "cpu.cfs_quota_us": `${quotaUs}`,
            "cpu.shares": "262144",
          },
        },
        { folder: join(CGROUPS, "memory", name), limits: { "memory.limit_in_bytes": `${bytes}` } },
      ];
  const folders = groups.map(({ folder }) => folder);
  for (const { folder, limits } of groups) {
    try {
      mkdirSync(folder);
      for (const [file, value] of Object.entries(limits)) writeFileSync(join(folder, file), value);
    } catch (error) {
      if (isShort) return unlimited;
      throw new Error("The part memory needs root, and Linux's control groups `cpu` and `memory`", { cause: error });
    }
  }
  const enter = folders.map((folder) => `echo $$ > ${join(folder, "cgroup.procs")}`).join(" && ");
  return {
    limited: (command) => ["sh", "-c", `${enter} && exec "$@"`, "sh", ...command],
    remove: () => {
      for (const folder of folders) rmdirSync(folder);
    },
  };
};

/** A whole core, and all memory. The short form has no more of any machine. */
export const unlimited: CpuShare = {
  limited: ([program = "", ...args]) => [program, ...args],
  remove: () => {},
};

/** A control group's folder, and what its files limit. */
type Group = { readonly folder: string; readonly limits: Readonly<Record<string, string>> };
