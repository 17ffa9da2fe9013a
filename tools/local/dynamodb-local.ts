import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SettingsError } from "../../infra/settings-error.ts";
import { type EmulatorFiles, type LocalDynamoDb, startEmulator } from "./emulator.ts";

/** DynamoDB Local, Amazon's own emulator: a Java program, which Maven fetches once. */
const DYNAMODB_LOCAL_VERSION = "2.6.0";
const JAVA_MIN = 17;
/** SHA-256 over the names and contents of all libraries, so that an altered one does not run. */
const LIBRARIES_SHA256 = "40d645defec4cd2fe7ea17fa17b755ec539ad9714b5b4682464207fe481a4730";
const MAIN = "com.amazonaws.services.dynamodbv2.local.main.ServerRunner";

const folder = fileURLToPath(new URL(`../../.local/dynamodb-local-${DYNAMODB_LOCAL_VERSION}`, import.meta.url));
const libraries = join(folder, "lib");

/** Why this machine cannot run DynamoDB Local with Java; undefined if it can. */
export const javaProblem = (): string | undefined => {
  const { status, stderr } = spawnSync("java", ["-version"], { encoding: "utf8" });
  if (status !== 0) return `it needs Java ${JAVA_MIN} or newer, and there is no java on this machine`;
  const version = Number(/version "(\d+)/.exec(stderr)?.[1]);
  if (version < JAVA_MIN) return `it needs Java ${JAVA_MIN} or newer, and java is of version ${version}`;
  if (existsSync(libraries) || spawnSync("mvn", ["-v"]).status === 0) return undefined;
  return "Maven fetches it, and there is no mvn on this machine";
};

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId>
  <artifactId>dynamodb-local</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>com.amazonaws</groupId>
      <artifactId>DynamoDBLocal</artifactId>
      <version>${DYNAMODB_LOCAL_VERSION}</version>
    </dependency>
  </dependencies>
</project>
`;

/** Fetches the libraries unless they are there, and returns their folder. Throws a `SettingsError`. */
export const fetchDynamoDbLocal = (onProgress: (sentence: string) => void): string => {
  if (existsSync(libraries)) return libraries;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "pom.xml"), pom);
  onProgress(`Fetching DynamoDB Local ${DYNAMODB_LOCAL_VERSION} with Maven, once`);
  const partial = join(folder, "partial");
  rmSync(partial, { recursive: true, force: true });
  // A repository of its own, so that nothing is left in the home folder.
  const repository = join(folder, "repository");
  const args = ["-q", "-B", "-C", "dependency:copy-dependencies", `-DoutputDirectory=${partial}`];
  // Maven also writes warnings when it succeeds, for example about a download that it repeats.
  const maven = spawnSync("mvn", [...args, `-Dmaven.repo.local=${repository}`], { cwd: folder, encoding: "utf8" });
  if (maven.status !== 0) {
    throw new SettingsError(`Maven could not fetch DynamoDB Local. Its output:\n${maven.stdout}${maven.stderr}`);
  }
  const sha256 = sha256OfFiles(partial);
  if (sha256 !== LIBRARIES_SHA256) {
    throw new SettingsError(`${partial} is not DynamoDB Local ${DYNAMODB_LOCAL_VERSION}: its SHA-256 is ${sha256}.`);
  }
  renameSync(partial, libraries);
  rmSync(repository, { recursive: true, force: true });
  return libraries;
};

const sha256OfFiles = (path: string): string => {
  const hash = createHash("sha256");
  for (const name of readdirSync(path).toSorted()) hash.update(`${name}\0`).update(readFileSync(join(path, name)));
  return hash.digest("hex");
};

export const startDynamoDbLocal = ({
  jars,
  databaseFolder,
  files,
}: {
  readonly jars: string;
  readonly databaseFolder?: string | undefined;
  readonly files: EmulatorFiles;
}): Promise<LocalDynamoDb> => {
  if (databaseFolder !== undefined) mkdirSync(databaseFolder, { recursive: true });
  const store = databaseFolder === undefined ? ["-inMemory"] : ["-sharedDb", "-dbPath", databaseFolder];
  const java = [`-Djava.library.path=${jars}`, "-cp", join(jars, "*"), MAIN, "-disableTelemetry"];
  return startEmulator({
    name: "DynamoDB Local",
    program: "java",
    args: (port) => [...java, ...store, "-port", String(port)],
    files,
  });
};
