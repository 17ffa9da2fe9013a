import { afterAll, afterEach, vi } from "vitest";
import { cleanUp } from "./cleanups.ts";

// A module that several files share registers its hooks for the first of them only.
afterEach(cleanUp);

// What a file changes in its process ends with it, because the files after it run in the same process.
const environment = { ...process.env };
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
});
