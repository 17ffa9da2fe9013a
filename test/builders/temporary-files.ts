import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Workers and what they start inherit the folder of the run's temporary files, which is deleted after it: the CDK makes
 * one for each app and deletes none. What functions may do is written there once for a run (evaluated-calls.ts).
 */
export const setup = (): (() => void) => {
  const folder = mkdtempSync(join(tmpdir(), "tests-"));
  process.env.TMPDIR = folder;
  process.env.ROLES_FILE = join(folder, "roles.json");
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
};
