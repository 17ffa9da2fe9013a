import { vi } from "vitest";
import { WAIT_MS_MAX } from "./until.ts";

/** Repeats the expectations until they hold. Resolves with their result. */
export const eventually = <Result>(expectations: () => Result | Promise<Result>, everyMs = 50): Promise<Result> =>
  vi.waitFor(expectations, { timeout: WAIT_MS_MAX, interval: everyMs });
