import { readFileSync, rmSync } from "node:fs";
import * as z from "zod";
import { SettingsError } from "../../infra/settings-error.ts";
import type { DemoAccount } from "./demo-account.ts";
import { writeJsonFile } from "./json-file.ts";
import { errorText } from "./settings.ts";

/** What SERVICE_FILE holds: all that a test or a tool needs in order to use the running service. */
export type ServiceDetails = {
  readonly base_url: string;
  readonly upstream: { readonly base_url: string; readonly webhook_url: string; readonly webhook_secret: string };
  readonly accounts: readonly DemoAccount[];
};

/** What the operator's command line needs: the functions' environment, and where the local parts of AWS are. */
export const adminDetails = z.object({
  base_url: z.url(),
  environment: z.record(z.string(), z.string()),
  endpoints: z.object({ dynamodb: z.url(), sqs: z.url(), secretsManager: z.url() }),
});
export type AdminDetails = z.output<typeof adminDetails>;

/** `service.json` has `service.admin.json` beside it. */
export const adminFileOf = (serviceFile: string): string => `${serviceFile.replace(/\.json$/, "")}.admin.json`;

/** Removes files left behind by a kill -9, which would say that we are ready already. */
export const removeStaleServiceFile = (path: string): void =>
  sayingWhich(path, () => {
    for (const stale of [path, adminFileOf(path)]) rmSync(stale, { force: true });
  });

/** Writes the files, each in one step; the first's presence says that the service is ready. Returns what removes them again. */
export const writeServiceFiles = (path: string, details: ServiceDetails, admin: AdminDetails): (() => void) => {
  const removals = [written(adminFileOf(path), admin), written(path, details)];
  return () => {
    for (const remove of removals.toReversed()) remove();
  };
};

const written = (path: string, value: unknown): (() => void) => {
  const text = sayingWhich(path, () => {
    writeJsonFile(path, value);
    return readFileSync(path, "utf8");
  });
  return () => {
    try {
      // By now it may be another service's.
      if (readFileSync(path, "utf8") === text) rmSync(path);
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
