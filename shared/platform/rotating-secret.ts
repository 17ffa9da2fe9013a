import type { Secret } from "./secrets.ts";
import { type Clock, sleep, systemClock } from "./time.ts";
import { JOIN_MS_MAX } from "./time-budgets.ts";

/** How often a value that fits neither version may cause new requests: a flood of wrong values must not become one of requests. */
const REFRESH_INTERVAL_MS = 5_000;

/** A secret that others present to us. Its previous version is accepted too, so that a rotation refuses nobody. */
export type RotatingSecret = {
  readonly current: () => Promise<string | undefined>;
  /** Whether the test holds for the current or the previous version. A rotation is seen within 5 seconds. */
  readonly matches: (test: (version: string) => boolean) => Promise<boolean>;
};

export const rotatingSecret = (current: Secret, previous: Secret, clock: Clock = systemClock): RotatingSecret => {
  let refresh: { readonly begunMs: number; readonly done: Promise<unknown> } | undefined;

  const isKnown = async (test: (version: string) => boolean): Promise<boolean> => {
    for (const { value } of [current, previous]) {
      const version = await value();
      if (version !== undefined && test(version)) return true;
    }
    return false;
  };

  const refreshed = async (): Promise<void> => {
    if (refresh === undefined || clock() - refresh.begunMs >= REFRESH_INTERVAL_MS) {
      // A failed request leaves the known version as it is.
      refresh = { begunMs: clock(), done: Promise.allSettled([current.refetch(), previous.refetch()]) };
      await refresh.done;
    } else {
      await Promise.race([refresh.done, sleep(JOIN_MS_MAX)]);
    }
  };

  return {
    current: current.value,
    matches: async (test) => {
      if (await isKnown(test)) return true;
      await refreshed();
      return isKnown(test);
    },
  };
};
