import { WAIT_MS_MAX } from "./until.ts";

/**
 * The limits of tests and hooks. They end what hangs; no test depends on the speed of its machine: the longest takes two
 * minutes alone.
 */
export const limits = {
  testTimeout: 1_800_000,
  hookTimeout: 1_800_000,
  teardownTimeout: 60_000,
  expect: { poll: { timeout: WAIT_MS_MAX } },
} as const;
