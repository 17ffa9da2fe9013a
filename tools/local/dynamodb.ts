import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { SettingsError } from "../../infra/settings-error.ts";
import { sleep } from "../../shared/platform/time.ts";
import { localClient } from "./local-aws.ts";

const HOST = "127.0.0.1";
const READY_MS_MAX = 20_000;
const END_MS_MAX = 500;

export type LocalDynamoDb = {
  readonly endpoint: string;
  /** Undefined for one that we did not start. */
  readonly pid?: number;
  /** Resolves when the process has ended although nobody stopped it. */
  readonly broke: Promise<void>;
  readonly stop: () => Promise<void>;
};

/** One that runs already, such as DynamoDB Local. */
export const dynamoDbElsewhere = (endpoint: string): LocalDynamoDb => ({
  endpoint,
  broke: new Promise(() => {}),
  stop: async () => {},
});

/** Starts dynoxide with its tables in `databaseFile`, or in memory without one. */
export const startDynoxide = ({
  databaseFile,
  ...files
}: Files & { readonly databaseFile?: string }): Promise<LocalDynamoDb> => {
  const store = databaseFile === undefined ? [] : ["--db-path", databaseFile];
  return startEmulator({
    name: "dynoxide",
    program: dynoxideBinary(),
    args: (port) => ["--host", HOST, "--port", String(port), ...store],
    files,
  });
};

type Files = { readonly pidFile: string; readonly logFile: string };

/** Starts a program that answers as DynamoDB does, at a free port of this machine. It ends with this process. */
export const startEmulator = async ({
  name,
  program,
  args,
  files,
}: {
  readonly name: string;
  readonly program: string;
  readonly args: (port: number) => readonly string[];
  readonly files: Files;
}): Promise<LocalDynamoDb> => {
  const port = await freePort();
  const child = spawnTied(program, args(port), files.logFile);
  const ended = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("exit", () => resolve());
  });
  if (child.pid !== undefined) writeFileSync(files.pidFile, String(child.pid));
  void ended.then(() => child.stdio[3]?.destroy());

  let stopping = false;
  const broke = new Promise<void>((resolve) => void ended.then(() => stopping || resolve()));
  const stop = async (): Promise<void> => {
    stopping = true;
    child.kill("SIGTERM");
    await Promise.race([ended, sleep(END_MS_MAX)]);
    child.kill("SIGKILL");
    await ended;
    rmSync(files.pidFile, { force: true });
  };
  const endpoint = `http://${HOST}:${port}`;
  if (!(await Promise.race([answers(endpoint), ended.then(() => false)]))) {
    await stop();
    throw new Error(`The local DynamoDB (${name}) did not start; ${files.logFile} may say why`);
  }
  return { endpoint, ...(child.pid !== undefined && { pid: child.pid }), broke, stop };
};

/**
 * Ends a dynoxide that an earlier runner left behind, so that two never write one file. Only a process that really is dynoxide on
 * this very file is ended: the pid may long belong to somebody else.
 */
export const endLeftOverDynoxide = async (files: {
  readonly databaseFile: string;
  readonly pidFile: string;
}): Promise<void> => {
  const pid = Number(textOf(files.pidFile));
  if (!Number.isInteger(pid) || pid <= 1) return;
  const isOurs = (): boolean => {
    const [program = "", ...args] = (textOf(`/proc/${pid}/cmdline`) ?? "").split("\0");
    return program.endsWith("/dynoxide") && args.includes(files.databaseFile);
  };
  for (let round = 0; isOurs() && round < 100; round += 1) {
    process.kill(pid, "SIGKILL");
    await sleep(20);
  }
  rmSync(files.pidFile, { force: true });
};

/**
 * Starts a program that dies with us, even if we are killed: a helper waits for the end of a pipe that only we hold, and then kills
 * the program. In a group of its own, for Ctrl-C at a terminal is sent to the whole group and would end it before its users.
 */
const spawnTied = (program: string, args: readonly string[], logFile: string): ChildProcess => {
  const script = '(read -r _; kill -9 $$) <&3 2>/dev/null & exec "$@" 3<&-';
  const log = openSync(logFile, "w");
  const child = spawn("/bin/sh", ["-c", script, "sh", program, ...args], {
    detached: true,
    stdio: ["ignore", log, log, "pipe"],
  });
  closeSync(log);
  return child;
};

export const dynoxideBinary = (): string => {
  const platform = `${process.platform}-${process.arch}`;
  try {
    const manifest = createRequire(import.meta.url).resolve(`@dynoxide/${platform}/package.json`);
    return join(dirname(manifest), "dynoxide");
  } catch (error) {
    throw new SettingsError(
      `There is no local DynamoDB for ${platform} here: start DynamoDB Local and set DYNAMODB_ENDPOINT to its URL.`,
      { cause: error },
    );
  }
};

const answers = async (endpoint: string): Promise<boolean> => {
  const client = new DynamoDBClient({ ...localClient(endpoint), maxAttempts: 1 });
  const endMs = Date.now() + READY_MS_MAX;
  try {
    while (Date.now() < endMs) {
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

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, HOST, () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });

const textOf = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
};
