// biome-ignore lint/correctness/noUnresolvedImports: a module of Node's that Biome does not know yet
import { DatabaseSync } from "node:sqlite";
import { SettingsError } from "../../infra/settings-error.ts";

/** A runner that is shutting down releases its locks within this time. */
const LOCK_MS_MAX = 3_000;

/**
 * Locks a file, which is made if there is none, and returns what releases it. The kernel does so even after a kill -9.
 * `refusal`: what is thrown while another process has it.
 */
export const lockFile = (path: string, refusal: string): (() => void) => {
  const database = new DatabaseSync(path, { timeout: LOCK_MS_MAX });
  try {
    database.exec("BEGIN EXCLUSIVE");
    return () => database.close();
  } catch (error) {
    database.close();
    throw new SettingsError(refusal, { cause: error });
  }
};
