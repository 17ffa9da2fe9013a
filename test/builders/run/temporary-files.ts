import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Workers and what they start inherit the folder of the run's temporary files, which is deleted after it: the CDK makes
 * one for each app and deletes none. Templates (templates.ts), the packed client (packed-client.ts) and what functions may do
 * (evaluated-calls.ts) are written there once for a run; runs on the same tree may be given one file for the last.
 */
export const setup = (): (() => void) => {
  const folder = mkdtempSync(join(tmpdir(), "tests-"));
  process.env.TMPDIR = folder;
  process.env.ROLES_FILE ??= join(folder, "roles.json");
  process.env.RUN_FOLDER = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
};
