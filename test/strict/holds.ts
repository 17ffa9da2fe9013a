import type { Write } from "./writes.ts";

/** Which items are held by a transaction, and until when. */
export type Holds = {
  readonly isHeld: (write: Write) => boolean;
  /** Holds items; returns what ends that, at once or at a later moment. */
  readonly take: (writes: readonly Write[]) => (untilMs?: number) => void;
  /** A foreign transaction holds an item. */
  readonly takeUntil: (write: Write, untilMs: number) => void;
};

export const newHolds = (now: () => number): Holds => {
  const held = new Map<string, number>();
  const isHeld = (id: string): boolean => {
    const untilMs = held.get(id);
    if (untilMs === undefined) return false;
    if (untilMs > now()) return true;
    held.delete(id);
    return false;
  };
  return {
    isHeld: ({ id }) => isHeld(id),
    take: (writes) => {
      for (const { id } of writes) held.set(id, Number.POSITIVE_INFINITY);
      return (untilMs = 0) => {
        for (const { id } of writes) held.set(id, untilMs);
        for (const { id } of writes) isHeld(id);
      };
    },
    takeUntil: ({ id }, untilMs) => {
      if (!isHeld(id)) held.set(id, untilMs);
    },
  };
};
