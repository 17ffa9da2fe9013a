import { readFileSync, rmSync } from "node:fs";
import type { DemoAccount } from "./demo-account.ts";
import { writeJsonFile } from "./json-file.ts";
import { errorText, SettingsError } from "./settings.ts";

/** What SERVICE_FILE holds: all that a test or a tool needs in order to use the running service. */
export type ServiceDetails = {
  readonly base_url: string;
  readonly upstream: { readonly base_url: string; readonly webhook_url: string; readonly webhook_secret: string };
  readonly accounts: readonly DemoAccount[];
};

/** Removes a file left behind by a kill -9, which would say that we are ready already. */
export const removeStaleServiceFile = (path: string): void => sayingWhich(path, () => rmSync(path, { force: true }));

/** Writes the file in one step; its presence says that the service is ready. Returns what removes it again. */
export const writeServiceFile = (path: string, details: ServiceDetails): (() => void) => {
  const written = sayingWhich(path, () => {
    writeJsonFile(path, details);
    return readFileSync(path, "utf8");
  });
  return () => {
    try {
      // By now it may be another service's.
      if (readFileSync(path, "utf8") === written) rmSync(path);
    } catch {
      // Somebody removed it already.
    }
  };
};

const sayingWhich = <Result>(path: string, work: () => Result): Result => {
  try {
    return work();
  } catch (error) {
    throw new SettingsError(`SERVICE_FILE ${path} cannot be used: ${errorText(error)}.`, { cause: error });
  }
};
