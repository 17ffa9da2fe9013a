import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { SettingsError } from "../../infra/settings-error.ts";
import { type EmulatorFiles, type LocalDynamoDb, startEmulator } from "./emulator.ts";
import { LOOPBACK } from "./loopback.ts";

/** Starts dynoxide, with its tables in `databaseFile` if it is given, else in memory. */
export const startDynoxide = ({
  databaseFile,
  ...files
}: EmulatorFiles & { readonly databaseFile?: string | undefined }): Promise<LocalDynamoDb> => {
  const store = databaseFile === undefined ? [] : ["--db-path", databaseFile];
  return startEmulator({
    name: "dynoxide",
    program: dynoxideBinary(),
    args: (port) => ["--host", LOOPBACK, "--port", String(port), ...store],
    files,
  });
};

/** The program in this platform's package; undefined if its registry has none. */
export const findDynoxide = (): string | undefined => {
  try {
    const manifest = createRequire(import.meta.url).resolve(
      `@dynoxide/${process.platform}-${process.arch}/package.json`,
    );
    return join(dirname(manifest), "dynoxide");
  } catch {
    return undefined;
  }
};

export const dynoxideBinary = (): string => {
  const program = findDynoxide();
  if (program === undefined) throw new SettingsError(`There is no dynoxide for ${process.platform}-${process.arch}.`);
  return program;
};
