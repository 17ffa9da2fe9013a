import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { userInfo } from "node:os";
import { type EmulatorFiles, type LocalDynamoDb, startEmulator } from "./dynamodb.ts";
import { DYNAMODB_LOCAL_VERSION, storeArgs } from "./dynamodb-local.ts";
import { LOOPBACK } from "./loopback.ts";

const IMAGE = `amazon/dynamodb-local:${DYNAMODB_LOCAL_VERSION}`;
const PORT_INSIDE = 8000;
const FOLDER_INSIDE = "/tables";

export const dockerRuns = (): boolean => spawnSync("docker", ["version"], { stdio: "ignore" }).status === 0;

export const startDynamoDbContainer = async ({
  databaseFolder,
  files,
}: {
  readonly databaseFolder?: string | undefined;
  readonly files: EmulatorFiles;
}): Promise<LocalDynamoDb> => {
  const name = `airtime-dynamodb-${createHash("sha256").update(files.pidFile).digest("hex").slice(0, 12)}`;
  // A container outlives a killed client, and an earlier one holds the tables.
  const remove = (): void => void spawnSync("docker", ["rm", "--force", name], { stdio: "ignore" });
  remove();
  if (databaseFolder !== undefined) mkdirSync(databaseFolder, { recursive: true });
  const dynamodb = await startEmulator({
    name: "DynamoDB Local in Docker",
    program: "docker",
    args: (port) => containerArgs({ name, port, databaseFolder }),
    files,
  });
  const stop = async (): Promise<void> => {
    remove();
    await dynamodb.stop();
  };
  return { ...dynamodb, stop };
};

/** The container runs as this user, so that the files of its tables are this user's. */
export const containerArgs = ({
  name,
  port,
  databaseFolder,
}: {
  readonly name: string;
  readonly port: number;
  readonly databaseFolder?: string | undefined;
}): readonly string[] => {
  const { uid, gid } = userInfo();
  const volume = databaseFolder === undefined ? [] : ["--volume", `${databaseFolder}:${FOLDER_INSIDE}`];
  const container = ["--rm", "--name", name, "--publish", `${LOOPBACK}:${port}:${PORT_INSIDE}`, ...volume];
  const program = ["-jar", "DynamoDBLocal.jar", "-disableTelemetry", "-port", String(PORT_INSIDE)];
  const store = storeArgs(databaseFolder && FOLDER_INSIDE);
  return ["run", ...container, "--user", `${uid}:${gid}`, IMAGE, ...program, ...store];
};
