import type { Secret } from "./secrets.ts";
import { type Clock, isRecent, sleep, systemClock } from "./time.ts";
import { JOIN_MS_MAX } from "./time-budgets.ts";

/**
 * Shortest interval between fetches that wrong values cause: a flood of wrong values must not flood Secrets Manager.
 */
const REFRESH_INTERVAL_MS = 5_000;

/** A secret that the upstream presents. Its previous version is accepted too, so a rotation rejects no request. */
export type RotatingSecret = {
  readonly current: () => Promise<string | undefined>;
  /** Whether the test holds for the current or the previous version. A rotation takes effect within 5 seconds. */
  readonly matches: (test: (version: string) => boolean) => Promise<boolean>;
};

export const rotatingSecret = (current: Secret, previous: Secret, clock: Clock = systemClock): RotatingSecret => {
  let refresh: { readonly startedMs: number; readonly done: Promise<unknown> } | undefined;

  const matchesCached = async (test: (version: string) => boolean): Promise<boolean> => {
    for (const { value } of [current, previous]) {
      const version = await value();
      if (version !== undefined && test(version)) return true;
    }
    return false;
  };

  const refetchOnce = async (): Promise<void> => {
    const nowMs = clock();
    if (refresh === undefined || !isRecent(refresh.startedMs, REFRESH_INTERVAL_MS, nowMs)) {
      // A failed fetch keeps the cached version.
      refresh = { startedMs: nowMs, done: Promise.allSettled([current.refetch(), previous.refetch()]) };
      await refresh.done;
    } else {
      await Promise.race([refresh.done, sleep(JOIN_MS_MAX)]);
    }
  };

  return {
    current: current.value,
    matches: async (test) => {
      if (await matchesCached(test)) return true;
      await refetchOnce();
      return matchesCached(test);
    },
  };
};
