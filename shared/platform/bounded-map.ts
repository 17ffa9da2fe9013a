export type BoundedMap<Key, Value> = {
  readonly get: (key: Key) => Value | undefined;
  readonly set: (key: Key, value: Value) => void;
};

/** Keeps what a process has read: of more than `max` keys, the one that was set first is left out. */
export const boundedMap = <Key, Value>(max: number): BoundedMap<Key, Value> => {
  const kept = new Map<Key, Value>();
  return {
    get: (key) => kept.get(key),
    set: (key, value) => {
      kept.delete(key);
      kept.set(key, value);
      const first = kept.keys().next();
      if (kept.size > max && !first.done) kept.delete(first.value);
    },
  };
};
