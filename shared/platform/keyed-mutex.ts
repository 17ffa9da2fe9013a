/** Does work on one key in sequence, in the order in which it was asked for; work on other keys goes on beside it. */
export type KeyedMutex = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

export const keyedMutex = (): KeyedMutex => {
  const latest = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const earlier = latest.get(key);
    const mine = (async () => {
      await earlier?.catch(() => undefined);
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
