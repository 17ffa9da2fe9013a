import { rmSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "#zod";
import type { DemoAccount } from "./demo-account.ts";
import { writeJsonFile } from "./json-file.ts";
import { lockFile } from "./lock.ts";
import { makeFolder } from "./make-folder.ts";
import { withSetting } from "./settings.ts";

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
export const adminFileOf = (serviceFile: string): string => siblingOf(serviceFile, "admin.json");

const siblingOf = (serviceFile: string, ending: string): string => `${serviceFile.replace(/\.json$/, "")}.${ending}`;

/** Reserves SERVICE_FILE for this process and returns what releases it: another service would overwrite it. */
export const lockServiceFile = (path: string): (() => void) =>
  withFileError(path, () => {
    makeFolder(dirname(path));
    const refusal = `Another npm start uses ${path}: stop it, or choose another SERVICE_FILE.`;
    return lockFile(siblingOf(path, "lock"), refusal);
  });

/** Also at the start, after a killed run: their presence means that the service is ready. */
export const removeServiceFiles = (path: string): void =>
  withFileError(path, () => {
    for (const file of [path, adminFileOf(path)]) rmSync(file, { force: true });
  });

/** Writes the files. SERVICE_FILE is written last: its presence means that the service is ready. */
export const writeServiceFiles = (path: string, details: ServiceDetails, admin: AdminDetails): void =>
  withFileError(path, () => {
    writeJsonFile(adminFileOf(path), admin);
    writeJsonFile(path, details);
  });

const withFileError = <Result>(path: string, work: () => Result): Result => withSetting(`SERVICE_FILE ${path}`, work);
