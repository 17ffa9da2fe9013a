/** A list in parts of this length at most. */
export function* batchesOf<Item>(items: readonly Item[], length: number): Generator<readonly Item[], void, void> {
  for (let start = 0; start < items.length; start += length) yield items.slice(start, start + length);
}
