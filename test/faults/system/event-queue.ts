/** Something that happens at a moment; `order` decides between equal moments. */
export type Timed = { atMs: number; order: number };

/** The earliest first: a binary heap. */
export type EventQueue<Event extends Timed> = {
  readonly add: (event: Event) => void;
  readonly first: () => Event | undefined;
  readonly takeFirst: () => Event | undefined;
  readonly all: () => readonly Event[];
};

export const eventQueue = <Event extends Timed>(): EventQueue<Event> => {
  const heap: Event[] = [];
  const isBefore = (one: Event | undefined, other: Event | undefined): boolean =>
    one !== undefined &&
    (other === undefined || one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order));
  /** Puts an event at the place, or nearer to the first one. */
  const rise = (event: Event, at: number): void => {
    const above = (at - 1) >> 1;
    const parent = heap[above];
    if (at > 0 && parent !== undefined && isBefore(event, parent)) {
      heap[at] = parent;
      rise(event, above);
    } else heap[at] = event;
  };
  /** Puts an event at the place, or further from the first one. */
  const sink = (event: Event, at: number): void => {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    const next = isBefore(heap[right], heap[left]) ? right : left;
    const child = heap[next];
    if (child !== undefined && isBefore(child, event)) {
      heap[at] = child;
      sink(event, next);
    } else heap[at] = event;
  };
  return {
    add: (event) => rise(event, heap.length),
    first: () => heap[0],
    takeFirst: () => {
      const [first] = heap;
      const last = heap.pop();
      if (last !== undefined && heap.length > 0) sink(last, 0);
      return first;
    },
    all: () => heap,
  };
};
