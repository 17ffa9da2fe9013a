import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { sleep } from "../../../shared/platform/time.ts";
import { cleanups } from "../run/cleanups.ts";

/** A program, with all processes that it starts. */
export type ProcessGroup = {
  readonly child: ChildProcess;
  /** What it has printed so far, in the order of both streams. */
  readonly output: () => string;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves when it has printed the text, and throws if it ends without. Only the test's own limit ends the wait. */
  readonly untilPrinted: (text: string) => Promise<void>;
  /** Null if a signal ended it. */
  readonly exitCode: Promise<number | null>;
  /** Signals the whole group, as a terminal does at Ctrl-C, also what is left of it after the program has exited. */
  readonly signal: (name: NodeJS.Signals) => void;
};

/**
 * Starts a program in a process group of its own. The signal ends it before the next test of the importing file begins,
 * also after a failure or a time-out: nothing of a failed test may reach the next one.
 */
export const startGroup = (
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env: NodeJS.ProcessEnv; readonly endedBy?: NodeJS.Signals },
): ProcessGroup => {
  const { endedBy = "SIGKILL", ...place } = options;
  const child = spawn(command, args, { ...place, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const printed = { output: "", stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text) => {
      printed[name] += text;
      printed.output += text;
    });
  }
  const exitCode = once(child, "close").then(([code]) => (typeof code === "number" ? code : null));
  const signal = (name: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // No process of the group is left.
    }
  };
  cleanups.push(async () => {
    signal(endedBy);
    await exitCode;
  });
  return {
    child,
    untilPrinted: async (text) => {
      while (!printed.output.includes(text)) {
        if (!child.stdout.readable && !child.stderr.readable)
          throw new Error(`Not printed: ${text}\n${printed.output}`);
        await sleep(20);
      }
    },
    output: () => printed.output,
    stdout: () => printed.stdout,
    stderr: () => printed.stderr,
    exitCode,
    signal,
  };
};
