import { sleep } from "./time.ts";

/** Work of an invocation that Lambda froze or ended may never end: nobody waits longer for the work before. */
const TURN_MS_MAX = 3_000;

/**
 * Does work on one key in sequence, in the order in which it was asked for; work on other keys goes on beside it. The sequence spares
 * attempts that would collide. It guarantees nothing.
 */
export type KeyedMutex = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

export const keyedMutex = (): KeyedMutex => {
  const latest = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const earlier = latest.get(key);
    const mine = (async () => {
      if (earlier !== undefined) await Promise.race([earlier.catch(() => undefined), sleep(TURN_MS_MAX)]);
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
