import { sleep } from "./time.ts";
import { JOIN_MS_MAX } from "./time-budgets.ts";

/**
 * Runs work on the same key in sequence, first come, first served, and work on other keys in parallel. It only saves
 * attempts that would conflict: after `JOIN_MS_MAX` the next work starts although the previous one has not ended.
 */
export const keyedMutex = () => {
  const latest = new Map<string, Promise<unknown>>();
  return async <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
    const previous = latest.get(key);
    const mine = (async () => {
      if (previous !== undefined) await Promise.race([previous.catch(() => undefined), sleep(JOIN_MS_MAX)]);
      return work();
    })();
    latest.set(key, mine);
    try {
      return await mine;
    } finally {
      if (latest.get(key) === mine) latest.delete(key);
    }
  };
};
