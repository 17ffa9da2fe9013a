import { mkdtempSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { SettingsError } from "../../infra/settings-error.ts";
import { lockFile } from "./lock.ts";
import { makeFolder } from "./make-folder.ts";
import { withSetting } from "./settings.ts";

/** Marks the directory as the runner's. It is locked while one runs. */
const LOCK_FILE = "runner.lock";

const plainFiles = {
  databasePid: "dynamodb.pid",
  databaseLog: "dynamodb.log",
  ledgerStream: "ledger-stream.json",
  statisticsStream: "statistics-stream.json",
  auditStream: "audit-stream.json",
  secrets: "secrets.json",
  demoAccount: "demo-account.json",
  sampleBooks: "sample-books.json",
  upstream: "upstream.json",
  emails: "emails.txt",
  identityProvider: "identity-provider.json",
} as const;
/** Everything that the runner writes into the directory. */
const files = { ...plainFiles, database: "tables.db", queues: "queues" } as const;
/** DynamoDB Local makes its file in a folder. */
const DATABASE_FOLDER = "dynamodb-local";
const sqliteFiles = [
  files.database,
  join(DATABASE_FOLDER, "shared-local-instance.db"),
  join(files.queues, "fauxqs.db"),
].flatMap((name) => ["", "-wal", "-shm", "-journal"].map((suffix) => `${name}${suffix}`));

export type DataDir = ReturnType<typeof openDataDir>;

/** Opens and locks the directory of all durable data. Without a path it is a temporary one, removed at the end. */
export const openDataDir = (chosen: string | undefined) => {
  const path = chosen === undefined ? mkdtempSync(join(tmpdir(), "local-runner-")) : resolve(chosen);
  const entries = listOrCreate(path);
  if (entries.length > 0 && !entries.includes(LOCK_FILE)) {
    throw new SettingsError(`${path} holds files of another program: choose another DATA_DIR.`);
  }
  const unlock = lock(path);
  return {
    path,
    file: (name: keyof typeof files): string => join(path, files[name]),
    databaseStore: { databaseFile: join(path, files.database), databaseFolder: join(path, DATABASE_FOLDER) },
    /** Deletes the runner's own files and nothing else. */
    clear: (): void => {
      for (const name of [...sqliteFiles, ...Object.values(plainFiles)]) rmSync(join(path, name), { force: true });
      for (const name of [DATABASE_FOLDER, files.queues]) removeIfEmpty(join(path, name));
    },
    close: (): void => {
      unlock();
      if (chosen === undefined) rmSync(path, { recursive: true, force: true });
    },
  };
};

const listOrCreate = (path: string): string[] =>
  withSetting(`DATA_DIR ${path}`, () => {
    makeFolder(path);
    return readdirSync(path);
  });

const lock = (path: string): (() => void) =>
  withSetting(`DATA_DIR ${path}`, () =>
    lockFile(
      join(path, LOCK_FILE),
      `Another npm start uses ${path}: stop it, or choose another DATA_DIR, SERVICE_FILE and PORT.`,
    ),
  );

const removeIfEmpty = (path: string): void => {
  try {
    rmdirSync(path);
  } catch {
    // It is absent, or holds a file that is not the runner's.
  }
};
