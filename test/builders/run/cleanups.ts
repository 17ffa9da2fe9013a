import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";

/** What to stop and to delete after the current test, the last one first. */
export const cleanups: (() => Promise<unknown> | unknown)[] = [];
export const cleanUp = async (): Promise<void> => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
};
afterEach(cleanUp);

/** A new folder that is deleted after the current test. */
export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "test-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};
