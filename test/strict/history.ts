import type { Item } from "./items.ts";
import type { Write } from "./writes.ts";

/** The table itself, as reads without `ConsistentRead` see it; the other views are its indexes. */
export const TABLE_VIEW = "";

/** An item as one view still shows it. */
export type FormerImage = { readonly key: Item; readonly image: Item | undefined };

/** What each item was before its latest writes, for as long as some view may still show that. */
export type History = {
  /** A write took effect on an item that was `before`; `delaysMs` says when each view shows the write. */
  readonly add: (write: Write, before: Item | undefined, delaysMs: ReadonlyMap<string, number>) => void;
  /** Undefined where the view shows the item as it is. */
  readonly former: (write: Pick<Write, "table" | "id">, view: string) => FormerImage | undefined;
  /** The items of a table that a view shows as they were, by their ids. */
  readonly behind: (table: string, view: string) => ReadonlyMap<string, FormerImage>;
};

type PastWrite = FormerImage & { readonly shownAtMs: ReadonlyMap<string, number> };

/** Items of a table after which those whose writes all views show are forgotten. */
const SWEEP_EVERY = 500;

export const newHistory = (now: () => number): History => {
  const tables = new Map<string, Map<string, PastWrite[]>>();
  const tableOf = (name: string): Map<string, PastWrite[]> => {
    const items = tables.get(name) ?? new Map<string, PastWrite[]>();
    tables.set(name, items);
    return items;
  };
  const isShown = ({ shownAtMs }: PastWrite, view: string): boolean => (shownAtMs.get(view) ?? 0) <= now();
  const isOver = ({ shownAtMs }: PastWrite): boolean => Math.max(0, ...shownAtMs.values()) <= now();
  /** What was before the first write that the view does not show yet. */
  const formerIn = (writes: readonly PastWrite[], view: string) => writes.find((write) => !isShown(write, view));

  return {
    add: ({ table, id, key }, before, delaysMs) => {
      const items = tableOf(table);
      if (items.size >= SWEEP_EVERY) {
        for (const [other, writes] of items) if (writes.every(isOver)) items.delete(other);
      }
      const earlier = (items.get(id) ?? []).filter((write) => !isOver(write));
      const latest = earlier.at(-1)?.shownAtMs;
      // A view shows the writes of one item in their order.
      const shownAtMs = new Map(
        [...delaysMs].map(([view, delayMs]) => [view, Math.max(now() + delayMs, latest?.get(view) ?? 0)]),
      );
      items.set(id, [...earlier, { key, image: before, shownAtMs }]);
    },
    former: ({ table, id }, view) => formerIn(tableOf(table).get(id) ?? [], view),
    behind: (table, view) => {
      const found = new Map<string, FormerImage>();
      for (const [id, writes] of tableOf(table)) {
        const former = formerIn(writes, view);
        if (former !== undefined) found.set(id, former);
      }
      return found;
    },
  };
};
