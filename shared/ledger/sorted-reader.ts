type Keyed = { readonly sequence: string };

/** Reads what is sorted by `sequence`, one key after the other: several such streams are compared without holding any. */
export const sortedReader = async <Item extends Keyed>(items: AsyncIterable<Item> | Iterable<Item>) => {
  const iterator = (async function* () {
    yield* items;
  })();
  let next = await iterator.next();
  return {
    /** The next key; undefined at the end. */
    key: (): string | undefined => (next.done ? undefined : next.value.sequence),
    /** What has this key, if it is the next one. */
    take: async (sequence: string): Promise<readonly Item[]> => {
      const taken: Item[] = [];
      for (; !next.done && next.value.sequence === sequence; next = await iterator.next()) taken.push(next.value);
      return taken;
    },
  };
};

/** The lowest of these keys; undefined if there is none. */
export const lowestOf = (keys: readonly (string | undefined)[]): string | undefined =>
  keys.filter((key) => key !== undefined).toSorted()[0];
