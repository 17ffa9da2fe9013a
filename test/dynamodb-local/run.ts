import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DYNAMODB_LOCAL } from "../builders/test-dynamodb.ts";

/** Runs the integration tests on Amazon's own emulator, as a second opinion; it comes from Maven's repository, once. */
const VERSION = "2.6.0";
const JAVA_MIN = 17;

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = join(root, ".local", `dynamodb-local-${VERSION}`);
const libraries = join(folder, "lib");

const refuse = (sentence: string): never => {
  console.error(sentence);
  process.exit(2);
};

const requireJava = (): void => {
  const { status, stderr } = spawnSync("java", ["-version"], { encoding: "utf8" });
  if (status !== 0) refuse(`DynamoDB Local needs Java ${JAVA_MIN} or newer, and there is no java on this machine.`);
  const version = Number(/version "(\d+)/.exec(stderr)?.[1]);
  if (version < JAVA_MIN) refuse(`DynamoDB Local needs Java ${JAVA_MIN} or newer, and java is of version ${version}.`);
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
      <version>${VERSION}</version>
    </dependency>
  </dependencies>
</project>
`;

const fetchLibraries = (): void => {
  if (existsSync(libraries)) return;
  if (spawnSync("mvn", ["-v"]).status !== 0) {
    refuse(
      `DynamoDB Local is fetched by Maven, and there is no mvn on this machine; or put its jars into ${libraries}.`,
    );
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "pom.xml"), pom);
  console.log(`Fetching DynamoDB Local ${VERSION} into ${folder}`);
  const partial = join(folder, "partial");
  rmSync(partial, { recursive: true, force: true });
  // A repository of its own, so that nothing is left in the home folder.
  const repository = join(folder, "repository");
  const args = ["-q", "-B", "dependency:copy-dependencies", `-DoutputDirectory=${partial}`];
  args.push(`-Dmaven.repo.local=${repository}`);
  if (spawnSync("mvn", args, { cwd: folder, stdio: "inherit" }).status !== 0) {
    refuse("Maven could not fetch DynamoDB Local; its own lines above say why.");
  }
  renameSync(partial, libraries);
  rmSync(repository, { recursive: true, force: true });
};

requireJava();
fetchLibraries();
const vitest = join(root, "node_modules", ".bin", "vitest");
const config = join("test", "dynamodb-local", "vitest.config.ts");
const { status } = spawnSync(vitest, ["run", "--config", config, ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, [DYNAMODB_LOCAL]: libraries },
});
process.exitCode = status ?? 1;
