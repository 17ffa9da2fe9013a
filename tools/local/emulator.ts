import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { SettingsError } from "../../infra/settings-error.ts";
import { MINUTE_MS } from "../../shared/contract/values/durations.ts";
import { sleep } from "../../shared/platform/time.ts";
import { localClient } from "./local-aws.ts";
import { freePort, LOOPBACK } from "./loopback.ts";

const READY_MS_MAX = MINUTE_MS;
const STOP_MS_MAX = 500;

export type LocalDynamoDb = {
  /** What it is, for messages. */
  readonly name: string;
  readonly endpoint: string;
  /** Undefined if it was not started here. */
  readonly pid?: number;
  /** Resolves if the process exits without having been stopped. */
  readonly exited: Promise<void>;
  readonly stop: () => Promise<void>;
};

/** One that already runs. */
export const externalDynamoDb = (endpoint: string): LocalDynamoDb => ({
  name: "DYNAMODB_ENDPOINT",
  endpoint,
  exited: new Promise(() => {}),
  stop: async () => {},
});

export type EmulatorFiles = { readonly pidFile: string; readonly logFile: string };

type EmulatorProgram = {
  readonly name: string;
  readonly program: string;
  readonly args: (port: number) => readonly string[];
  readonly files: EmulatorFiles;
};

/** Between its choice and the start, another process may take a free port. */
const PORTS_TRIED_MAX = 3;

/** Starts a program that serves DynamoDB's API at a free port of this machine. It ends with this process. */
export const startEmulator = async (emulator: EmulatorProgram): Promise<LocalDynamoDb> => {
  for (let tried = 0; tried < PORTS_TRIED_MAX; tried += 1) {
    const started = await startAt(await freePort(), emulator);
    if (started !== undefined) return started;
  }
  throw notStarted(emulator);
};

const notStarted = ({ name, files }: EmulatorProgram): SettingsError =>
  new SettingsError(`The local DynamoDB (${name}) did not start: see ${files.logFile}`);

/** Undefined if the program ends at once. Throws if it does not answer in time, which another port would not change. */
const startAt = async (port: number, emulator: EmulatorProgram): Promise<LocalDynamoDb | undefined> => {
  const { name, program, args, files } = emulator;
  const child = spawnDependent(program, args(port), files.logFile);
  const exit = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("exit", () => resolve());
  });
  if (child.pid !== undefined) writeFileSync(files.pidFile, String(child.pid));
  void exit.then(() => child.stdio[3]?.destroy());

  let isStopping = false;
  const exited = new Promise<void>((resolve) => void exit.then(() => isStopping || resolve()));
  const stop = async (): Promise<void> => {
    isStopping = true;
    child.kill("SIGTERM");
    await Promise.race([exit, sleep(STOP_MS_MAX)]);
    child.kill("SIGKILL");
    await exit;
    rmSync(files.pidFile, { force: true });
  };
  const endpoint = `http://${LOOPBACK}:${port}`;
  const ended = new AbortController();
  void exit.then(() => ended.abort());
  const outcome = await Promise.race([isReady(endpoint, ended.signal), exit.then(() => "ended" as const)]);
  if (outcome !== true) {
    await stop();
    if (outcome === "ended") return undefined;
    throw notStarted(emulator);
  }
  return { name, endpoint, ...(child.pid !== undefined && { pid: child.pid }), exited, stop };
};

/**
 * Ends an emulator that an earlier runner left behind, so two never write the same tables. Its command line must name
 * the path of the tables, because the pid may belong to another process since.
 */
export const endOrphan = async ({ store, pidFile }: { readonly store: string; readonly pidFile: string }) => {
  const pid = Number(readText(pidFile));
  if (!Number.isInteger(pid) || pid <= 1) return;
  for (let tries = 0; commandLineOf(pid).includes(store) && tries < 100; tries += 1) {
    process.kill(pid, "SIGKILL");
    await sleep(20);
  }
  rmSync(pidFile, { force: true });
};

/**
 * Starts a program that ends with this process, even after a kill -9: a helper reads from a pipe that only this process
 * holds open, and kills the program at its end. It has its own process group, because Ctrl-C signals a whole group and
 * would end it first.
 */
const spawnDependent = (program: string, args: readonly string[], logFile: string): ChildProcess => {
  const script = '(read -r _; kill -9 $$) <&3 2>/dev/null & exec "$@" 3<&-';
  const log = openSync(logFile, "w");
  const child = spawn("/bin/sh", ["-c", script, "sh", program, ...args], {
    detached: true,
    stdio: ["ignore", log, log, "pipe"],
  });
  closeSync(log);
  return child;
};

const isReady = async (endpoint: string, ended: AbortSignal): Promise<boolean> => {
  const client = new DynamoDBClient({ ...localClient(endpoint), maxAttempts: 1 });
  const deadlineMs = Date.now() + READY_MS_MAX;
  try {
    while (Date.now() < deadlineMs && !ended.aborted) {
      try {
        await client.send(new ListTablesCommand({}), { abortSignal: AbortSignal.timeout(1_000) });
        return true;
      } catch {
        await sleep(20);
      }
    }
    return false;
  } finally {
    client.destroy();
  }
};

/** Arguments with spaces between them; empty if there is no such process. */
const commandLineOf = (pid: number): string =>
  readText(`/proc/${pid}/cmdline`)?.replaceAll("\0", " ") ??
  spawnSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" }).stdout ??
  "";

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
};
