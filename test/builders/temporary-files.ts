import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Workers and what they start inherit the folder of the run's temporary files, which is deleted after it: the CDK makes
 * one for each app and deletes none.
 */
export const setup = (): (() => void) => {
  const folder = mkdtempSync(join(tmpdir(), "tests-"));
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
};
