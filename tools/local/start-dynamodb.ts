import { SettingsError } from "../../infra/settings-error.ts";
import { fetchDynamoDbLocal, javaProblem, startDynamoDbLocal } from "./dynamodb-local.ts";
import { findDynoxide, startDynoxide } from "./dynoxide.ts";
import type { EmulatorFiles, LocalDynamoDb } from "./emulator.ts";

/** Where the tables are kept: dynoxide's file and DynamoDB Local's folder. Without it they are kept in memory. */
export type DynamoDbStore = { readonly databaseFile: string; readonly databaseFolder: string };

/**
 * Starts dynoxide where it runs, and DynamoDB Local with Java elsewhere. Throws a `SettingsError` that says what to
 * install.
 */
export const startDynamoDb = async ({
  store,
  files,
  onProgress = () => {},
}: {
  readonly store?: DynamoDbStore | undefined;
  readonly files: EmulatorFiles;
  readonly onProgress?: ((sentence: string) => void) | undefined;
}): Promise<LocalDynamoDb> => {
  if (findDynoxide() !== undefined) {
    onProgress("Starting DynamoDB (dynoxide)");
    return startDynoxide({ ...files, databaseFile: store?.databaseFile });
  }
  const problem = javaProblem();
  if (problem !== undefined) throw new SettingsError(nothingToStart(process.platform, process.arch, problem));
  const jars = fetchDynamoDbLocal(onProgress);
  onProgress("Starting DynamoDB (DynamoDB Local)");
  return startDynamoDbLocal({ jars, databaseFolder: store?.databaseFolder, files });
};

const easiest: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  linux: "install Java and Maven (on Debian and Ubuntu: apt-get install openjdk-17-jre-headless maven)",
  darwin: "install Java and Maven (brew install maven)",
  win32: "run it in the Windows Subsystem for Linux",
};

/** `problem`: why DynamoDB Local does not run with Java. */
export const nothingToStart = (platform: NodeJS.Platform, arch: string, problem: string): string =>
  `There is no DynamoDB to start: no dynoxide for ${platform}-${arch}; DynamoDB Local: ${problem}. ` +
  `Easiest here: ${easiest[platform] ?? "install Java and Maven"}. Or set DYNAMODB_ENDPOINT to one that runs already.`;
