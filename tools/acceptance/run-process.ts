import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { AcceptanceError } from "./outcome.ts";

type CommandOptions = {
  readonly signal: AbortSignal;
  readonly environment?: Readonly<Record<string, string>>;
  /** Standard input. */
  readonly input?: string;
};
export type ProcessResult = { readonly code: number; readonly stdout: string; readonly stderr: string };

const tools = join(process.cwd(), "node_modules", ".bin");

/** The program of this process, `airtime`: it is run again for the commands that operators run. */
export const PROGRAM = process.argv[1] ?? "";

/**
 * Runs a command in the same folder, in a process group of its own: Ctrl-C must not end it before the clean-up is planned.
 */
export const runProcess = async (
  command: string,
  args: readonly string[],
  { signal, environment = {}, input = "" }: CommandOptions,
): Promise<ProcessResult> => {
  signal.throwIfAborted();
  const child = spawn(command, args, {
    detached: true,
    env: { ...process.env, PATH: [tools, process.env.PATH].join(delimiter), ...environment },
  });
  const stop = (): void => {
    // The group, because cdk runs the app in a process below it.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
  };
  signal.addEventListener("abort", stop, { once: true });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  try {
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    signal.throwIfAborted();
    return { code: typeof code === "number" ? code : -1, stdout, stderr };
  } finally {
    signal.removeEventListener("abort", stop);
  }
};

/** Runs a command and throws the end of what it printed if it fails. */
export const runOrFail = async (...args: Parameters<typeof runProcess>): Promise<string> => {
  const { code, stdout, stderr } = await runProcess(...args);
  if (code === 0) return stdout;
  const [command, options] = args;
  throw new AcceptanceError(
    `${[command, ...options].slice(0, 5).join(" ")} ended with ${code}: ${lastLines(stdout + stderr)}`,
  );
};

const LINES = 15;
const lastLines = (output: string): string => output.trim().split("\n").slice(-LINES).join("\n");
