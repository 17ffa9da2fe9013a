/** Keeps what a process has read: of more than `max` keys, the one that was set first is left out. */
export const boundedMap = <Key, Value>(max: number) => {
  const kept = new Map<Key, Value>();
  return {
    get: (key: Key): Value | undefined => kept.get(key),
    set: (key: Key, value: Value): void => {
      kept.delete(key);
      kept.set(key, value);
      const first = kept.keys().next();
      if (kept.size > max && !first.done) kept.delete(first.value);
    },
  };
};
