import { readFileSync, rmSync } from "node:fs";
import * as z from "#zod";
import { SettingsError } from "../../infra/settings-error.ts";
import type { DemoAccount } from "./demo-account.ts";
import { writeJsonFile } from "./json-file.ts";
import { errorText } from "./settings.ts";

/** The content of SERVICE_FILE: what a test or a tool needs to use the running service. */
export type ServiceDetails = {
  readonly base_url: string;
  readonly upstream: { readonly base_url: string; readonly webhook_url: string; readonly webhook_secret: string };
  readonly accounts: readonly DemoAccount[];
  /** Where the console is, and where people sign in to it. */
  readonly console: { readonly url: string; readonly issuer: string };
};

/** What the admin commands need: the functions' environment and the endpoints of the AWS emulators. */
export const adminDetails = z.object({
  base_url: z.url(),
  environment: z.record(z.string(), z.string()),
  endpoints: z.object({ dynamodb: z.url(), sqs: z.url(), secretsManager: z.url() }),
});
export type AdminDetails = z.output<typeof adminDetails>;

/** `service.admin.json` for `service.json`. */
export const adminFileOf = (serviceFile: string): string => `${serviceFile.replace(/\.json$/, "")}.admin.json`;

/** Removes the files of a killed run: their presence means that the service is ready. */
export const removeStaleServiceFiles = (path: string): void =>
  withFileError(path, () => {
    for (const stale of [path, adminFileOf(path)]) rmSync(stale, { force: true });
  });

/**
 * Writes the files. SERVICE_FILE is written last: its presence means that the service is ready. Returns what removes
 * them.
 */
export const writeServiceFiles = (path: string, details: ServiceDetails, admin: AdminDetails): (() => void) => {
  const removals = [writeRemovable(adminFileOf(path), admin), writeRemovable(path, details)];
  return () => {
    for (const remove of removals.toReversed()) remove();
  };
};

const writeRemovable = (path: string, value: unknown): (() => void) => {
  const text = withFileError(path, () => {
    writeJsonFile(path, value);
    return readFileSync(path, "utf8");
  });
  return () => {
    try {
      // Another service may have replaced it.
      if (readFileSync(path, "utf8") === text) rmSync(path);
    } catch {
      // It is already removed.
    }
  };
};

const withFileError = <Result>(path: string, work: () => Result): Result => {
  try {
    return work();
  } catch (error) {
    throw new SettingsError(`SERVICE_FILE ${path} cannot be used: ${errorText(error)}.`, { cause: error });
  }
};
