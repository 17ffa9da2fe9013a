import * as z from "#zod";
import { type BookedOrder, bookedOrder, type FindingClass, statementRow } from "../contract/upstream-statement.ts";
import { HOUR_MS, MINUTE_MS } from "../contract/values/durations.ts";

/** A row in its file. Equal rows have one `id`, whatever their files. */
export const chargedRow = z.extend(statementRow, { id: z.string(), file: z.int(), line: z.int() });
export type ChargedRow = z.infer<typeof chargedRow>;

const candidate = z.object({ order: bookedOrder, is_taken: z.boolean() });
type Candidate = z.infer<typeof candidate>;
const entry = z.union([candidate, z.object({ row: chargedRow })]);
type Entry = z.infer<typeof entry>;
const pair = z.object({ order: bookedOrder, row: chargedRow });
type Pair = z.infer<typeof pair>;

/** Where items wait until all of them were added. Items with one key are in one part, in their order. */
export type Parts<Item> = {
  readonly add: (key: string, item: Item) => void;
  readonly parts: () => Iterable<readonly Item[]>;
};
/** Memory holds one part at a time. */
export type MakeParts = <Item>(name: string, schema: z.ZodMiniType<Item>) => Parts<Item>;

/** What the comparison says of one order, of one row, of a pair of them, or of the statement's clock. */
export type Finding = {
  readonly class: FindingClass;
  readonly order?: BookedOrder;
  readonly row?: ChargedRow;
  /** By how much the statement's clock is ahead of ours. */
  readonly ahead_ms?: number;
};

/** What one stage leaves to the next one. */
type Joined = {
  readonly pairs: readonly Pair[];
  /** Rows about an order that has another row. */
  readonly repeats: readonly Pair[];
  readonly candidates: readonly Candidate[];
  readonly rows: readonly ChargedRow[];
};

/**
 * Compares our orders with the rows of an upstream's statement, one to one: by the upstream's reference, then by ours,
 * then by type, phone number and amount within a time. Reads and writes nothing but its parts.
 */
export const statementMatcher = (makeParts: MakeParts, withinMs: number) => {
  const byUpstreamReference = makeParts("upstream-reference", entry);
  const byReference = makeParts("reference", entry);
  const byLikeness = makeParts("likeness", entry);
  const pairs = makeParts("pairs", pair);
  const offsets = clockOffsets();

  const keep = (found: Joined): Iterable<Finding> => {
    for (const each of found.pairs) pairs.add(each.order.reference, each);
    return found.repeats.map(repeatFinding);
  };
  const keepReferenced = (found: Joined): Iterable<Finding> => {
    for (const { order, row } of found.pairs) offsets.add(msBetween(order, row));
    return keep(found);
  };

  return {
    addOrder: (order: BookedOrder): void =>
      byUpstreamReference.add(order.upstream_reference ?? order.reference, { order, is_taken: false }),
    addRow: (row: ChargedRow): void => byUpstreamReference.add(row.upstream_reference ?? row.id, { row }),

    /** A finding for each row, and for each order that has a row or should have one. */
    *findings(): Generator<Finding, void, void> {
      for (const part of byUpstreamReference.parts()) {
        const joined = joinBy(candidatesIn(part), distinctRows(rowsIn(part)), (side) => side.upstream_reference);
        yield* keepReferenced(joined);
        for (const each of joined.candidates) byReference.add(each.order.reference, each);
        for (const row of joined.rows) byReference.add(row.reference ?? row.id, { row });
      }
      for (const part of byReference.parts()) {
        const joined = joinBy(candidatesIn(part), rowsIn(part), (side) => side.reference);
        yield* keepReferenced(joined);
        for (const each of joined.candidates) byLikeness.add(likenessOf(each.order) ?? each.order.reference, each);
        for (const row of joined.rows) {
          // Whatever it is like, it is about the order that it names.
          if (row.reference !== undefined) yield { class: "only_theirs", row };
          else byLikeness.add(likenessOf(row) ?? row.id, { row });
        }
      }
      const aheadMs = offsets.common();
      if (aheadMs !== 0) yield { class: "clock_differs", ahead_ms: aheadMs };
      for (const part of byLikeness.parts()) {
        const joined = joinByLikeness(candidatesIn(part), rowsIn(part), { aheadMs, withinMs });
        yield* keep(joined);
        for (const row of joined.rows) yield { class: "only_theirs", row };
        for (const { order, is_taken } of joined.candidates) {
          if (order.is_due && !is_taken) yield { class: "only_ours", order };
        }
      }
      for (const part of pairs.parts()) {
        for (const each of part) yield { class: classOf(each, { aheadMs, withinMs }), ...each };
      }
    },
  };
};

const candidatesIn = (part: readonly Entry[]): readonly Candidate[] =>
  part.flatMap((each) => ("order" in each ? [each] : []));
const rowsIn = (part: readonly Entry[]): readonly ChargedRow[] =>
  part.flatMap((each) => ("row" in each ? [each.row] : []));

const msOf = ({ at }: { readonly at: string }): number => Date.parse(at);
const msBetween = (order: BookedOrder, row: ChargedRow): number => msOf(row) - msOf(order);

/**
 * A row of two files is one row: files may overlap. A row that one file has several times was charged several times, and
 * each copy gets an id of its own.
 */
const distinctRows = (rows: readonly ChargedRow[]): readonly ChargedRow[] => {
  const copies = new Map<string, number>();
  return [...Map.groupBy(rows, (row) => chargeOf(row) ?? row.id).values()].flatMap(latestRows).map((row) => {
    const copy = (copies.get(row.id) ?? 0) + 1;
    copies.set(row.id, copy);
    return copy === 1 ? row : { ...row, id: `${row.id}.${copy}` };
  });
};

/** What a later file does not change of a charge that it corrects; undefined without a reference that names it. */
const chargeOf = ({ upstream_reference, reference, type, phone_hash, at }: ChargedRow): string | undefined =>
  upstream_reference && JSON.stringify([upstream_reference, reference, type, phone_hash, at]);

/** The rows of one charge, in the order of their files: those of a later file that equal no earlier one replace them. */
const latestRows = (rows: readonly ChargedRow[]): readonly ChargedRow[] => {
  let latest: readonly ChargedRow[] = [];
  for (const ofFile of Map.groupBy(rows, ({ file }) => file).values()) {
    const replaced = [...latest];
    // A copy in a later file must not change what a case shows of the row.
    const changed = ofFile.filter(({ id }) => {
      const place = replaced.findIndex((row) => row.id === id);
      if (place >= 0) replaced.splice(place, 1);
      return place < 0;
    });
    const gone = new Set(replaced.slice(0, changed.length));
    latest = [...latest.filter((row) => !gone.has(row)), ...changed];
  }
  return latest;
};

/** How alike an order and its row may be, the best first. */
const likenesses: readonly ((order: BookedOrder, row: ChargedRow) => boolean)[] = [
  (order, row) => order.status === row.status && order.amount_kobo === row.amount_kobo,
  (order, row) => order.status === row.status,
  () => true,
];

/** The earliest first, so that the order of the rows in their files decides nothing. */
const byTime = (rows: readonly ChargedRow[]): readonly ChargedRow[] =>
  rows.toSorted((one, other) => msOf(one) - msOf(other) || (one.id < other.id ? -1 : 1));

const joinBy = (
  candidates: readonly Candidate[],
  rows: readonly ChargedRow[],
  keyOf: (side: BookedOrder | ChargedRow) => string | undefined,
): Joined => {
  const ordersOf = Map.groupBy(candidates, ({ order }) => keyOf(order));
  const pairs: Pair[] = [];
  const repeats: Pair[] = [];
  const unknown: ChargedRow[] = [];
  const taken = new Set<BookedOrder>(candidates.filter(({ is_taken }) => is_taken).map(({ order }) => order));
  for (const [key, own] of Map.groupBy(byTime(rows), keyOf)) {
    const orders = key === undefined ? [] : (ordersOf.get(key) ?? []).map(({ order }) => order);
    const [first] = orders;
    if (first === undefined) {
      unknown.push(...own);
      continue;
    }
    const left = new Set(own);
    for (const areAlike of likenesses) {
      for (const row of left) {
        const order = orders.find((each) => !taken.has(each) && areAlike(each, row));
        if (order === undefined) continue;
        taken.add(order);
        left.delete(row);
        pairs.push({ order, row });
      }
    }
    for (const row of left) repeats.push({ order: first, row });
  }
  return {
    pairs,
    repeats,
    rows: unknown,
    candidates: candidates.map(({ order }) => ({ order, is_taken: taken.has(order) })),
  };
};

/** What says that a row without a reference of ours may be about an order. */
const likenessOf = ({ type, phone_hash, amount_kobo }: BookedOrder | ChargedRow): string | undefined =>
  type === undefined || phone_hash === undefined ? undefined : `${type} ${phone_hash} ${amount_kobo}`;

/** The clocks of both sides, and how far apart the two times of one order may be. */
type Clocks = { readonly aheadMs: number; readonly withinMs: number };

/** Of several orders that fit, the one with a row as near as this is taken first. */
const NEAR_MS = MINUTE_MS;

type Side = Pick<BookedOrder | ChargedRow, "status" | "upstream_reference">;
const isAny = (): boolean => true;
const hasUpstreamReference = ({ upstream_reference }: Side): boolean => upstream_reference !== undefined;
const hasNone = (side: Side): boolean => !hasUpstreamReference(side);

/** Which orders and which rows may be paired, the likeliest first. A failed order should have no row. */
const statusPasses: readonly {
  readonly orders: (order: BookedOrder) => boolean;
  readonly rows: (row: Side) => boolean;
}[] = [
  ...(["success", "processing", "failed"] as const).map((status) => {
    const has = (side: Side): boolean => side.status === status;
    return { orders: has, rows: has };
  }),
  { orders: ({ is_due }) => is_due, rows: isAny },
  { orders: isAny, rows: isAny },
];

/** Two different references of the upstream name two orders. */
const referencePasses: readonly { readonly orders: (order: Side) => boolean; readonly rows: (row: Side) => boolean }[] =
  [
    { orders: hasNone, rows: hasUpstreamReference },
    { orders: isAny, rows: hasNone },
  ];

const joinByLikeness = (candidates: readonly Candidate[], rows: readonly ChargedRow[], clocks: Clocks): Joined => {
  const ordersOf = Map.groupBy(candidates, ({ order }) => likenessOf(order));
  const taken = new Set<BookedOrder>(candidates.filter(({ is_taken }) => is_taken).map(({ order }) => order));
  const pairs: Pair[] = [];
  const repeats: Pair[] = [];
  const unknown: ChargedRow[] = [];
  for (const [key, own] of Map.groupBy(byTime(rows), likenessOf)) {
    const orders = (key === undefined ? [] : (ordersOf.get(key) ?? [])).map(({ order }) => order);
    orders.sort((one, other) => msOf(one) - msOf(other));
    const left = new Set(own);
    for (const status of statusPasses) {
      for (const withinMs of [NEAR_MS, clocks.withinMs]) {
        for (const reference of referencePasses) {
          const found = pairsInTime(
            orders.filter((order) => !taken.has(order) && status.orders(order) && reference.orders(order)),
            [...left].filter((row) => status.rows(row) && reference.rows(row)),
            { aheadMs: clocks.aheadMs, withinMs },
          );
          for (const { order, row } of found) {
            taken.add(order);
            left.delete(row);
            pairs.push({ order, row });
          }
        }
      }
    }
    const owners = orders.filter((order) => taken.has(order));
    let nearest = 0;
    for (const row of left) {
      // Both are sorted by time, so the nearest owner of a later row is no earlier one.
      while (distanceMs(owners[nearest + 1], row, clocks) <= distanceMs(owners[nearest], row, clocks)) nearest += 1;
      const order = owners[nearest];
      if (order !== undefined && isInTime(order, row, clocks)) repeats.push({ order, row });
      else unknown.push(row);
    }
  }
  return {
    pairs,
    repeats,
    rows: unknown,
    candidates: candidates.map(({ order }) => ({ order, is_taken: taken.has(order) })),
  };
};

/** NaN, which compares as false, where there is no order. */
const distanceMs = (order: BookedOrder | undefined, row: ChargedRow, { aheadMs }: Clocks): number =>
  order === undefined ? Number.NaN : Math.abs(msBetween(order, row) - aheadMs);

const isInTime = (order: BookedOrder, row: ChargedRow, clocks: Clocks): boolean =>
  distanceMs(order, row, clocks) <= clocks.withinMs;

/** As many pairs as possible of orders and rows that are both sorted by time. */
const pairsInTime = (orders: readonly BookedOrder[], rows: readonly ChargedRow[], clocks: Clocks): readonly Pair[] => {
  const pairs: Pair[] = [];
  let next = 0;
  for (const row of rows) {
    // An order too old for this row is too old for all later ones.
    let order = orders[next];
    while (order !== undefined && msBetween(order, row) - clocks.aheadMs > clocks.withinMs) order = orders[++next];
    if (order === undefined || !isInTime(order, row, clocks)) continue;
    pairs.push({ order, row });
    next += 1;
  }
  return pairs;
};

const repeatFinding = ({ order, row }: Pair): Finding => ({
  class: row.status === "failed" ? "only_theirs" : "charged_twice",
  order,
  row,
});

/** Nothing was charged for what failed on both sides, whatever the amount. */
const classOf = ({ order, row }: Pair, clocks: Clocks): FindingClass => {
  if (order.status !== row.status) return "status_contradicts";
  if (order.status !== "failed" && order.amount_kobo !== row.amount_kobo) return "amount_differs";
  return isInTime(order, row, clocks) ? "matched" : "time_differs";
};

/** Time zones differ by quarters of an hour, and by 26 hours at most. */
const QUARTER_MS = 15 * MINUTE_MS;
const OFFSET_MS_MAX = 26 * HOUR_MS;
/** Fewer pairs say nothing about a clock. */
const PAIRS_MIN = 5;

/** How far apart the two times of an order are, in most pairs. */
const clockOffsets = () => {
  const counts = new Map<number, number>();
  let pairs = 0;
  return {
    add: (offsetMs: number): void => {
      pairs += 1;
      const rounded = Math.round(offsetMs / QUARTER_MS) * QUARTER_MS;
      if (Math.abs(rounded) <= OFFSET_MS_MAX) counts.set(rounded, (counts.get(rounded) ?? 0) + 1);
    },
    /** 0 unless more than half of the pairs agree on another offset. */
    common: (): number => {
      const [most] = [...counts].filter(([, count]) => count * 2 > pairs);
      return most === undefined || pairs < PAIRS_MIN ? 0 : most[0];
    },
  };
};

/** FNV-1a. */
export const partOf = (key: string, count: number): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % count;
};
