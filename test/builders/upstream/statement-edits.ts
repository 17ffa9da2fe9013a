import fc from "fast-check";
import type { BookedOrder, StatementRow } from "../../../shared/contract/upstream-statement.ts";
import { HOUR_MS } from "../../../shared/contract/values/durations.ts";
import type { ChargedRow } from "../../../shared/upstream-statement/match-statement.ts";
import { seeded } from "../run/seeded.ts";

/** What is changed in a statement that was true. */
const editNames = ["none", "drop", "copy", "charge again", "amount", "status", "time", "add"] as const;

/** What a row can be found by. */
const knownBy = ["both references", "upstream's reference", "our reference", "likeness"] as const;
type KnownBy = (typeof knownBy)[number];

/** A ledger, the upstream's statement of it with some edits, and what a comparison has to find. */
export type StatementCase = {
  readonly orders: readonly BookedOrder[];
  readonly rows: readonly ChargedRow[];
  /** Each as `class order row`. */
  readonly expected: readonly string[];
};

const statuses = ["success", "processing", "failed"] as const;
const START_MS = Date.parse("2026-11-21T00:00:00.000Z");

/** One order with the edit of its row. */
const orderSchema = fc.record({
  edit: fc.oneof(
    { weight: 7, arbitrary: fc.constant("none" as const) },
    { weight: 3, arbitrary: fc.constantFrom(...editNames) },
  ),
  known: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(knownBy[0], knownBy[1], knownBy[2]) },
    { weight: 1, arbitrary: fc.constant(knownBy[3]) },
  ),
  status: fc.oneof(
    { weight: 4, arbitrary: fc.constant("success" as const) },
    { weight: 1, arbitrary: fc.constantFrom(...statuses) },
  ),
  hasUpstreamReference: fc.boolean(),
  type: fc.constantFrom("data" as const, "airtime" as const),
  phone: fc.integer({ min: 1, max: 3 }),
  amount: fc.integer({ min: 1, max: 3 }),
  delayMs: fc.integer({ min: 0, max: 20_000 }),
  lateHours: fc.integer({ min: 2, max: 30 }),
});
type Drawn = typeof orderSchema extends fc.Arbitrary<infer Value> ? Value : never;

/** Two orders that are alike are more than an hour apart, so that each row is about one order without a doubt. */
const APART_MS = 61 * 60_000;

const bookedAs = (
  { status, type, phone, amount, known, hasUpstreamReference }: Drawn,
  index: number,
  apartMs: number,
): BookedOrder => ({
  reference: `O${index}`,
  ...((hasUpstreamReference || known === "upstream's reference") && { upstream_reference: `U${index}` }),
  type,
  phone_hash: `p${phone}`,
  amount_kobo: amount * 100_00,
  status,
  at: new Date(START_MS + index * apartMs).toISOString(),
  is_due: status !== "failed",
});

const referencesOf = (known: KnownBy, index: number): Pick<StatementRow, "reference" | "upstream_reference"> => ({
  ...((known === "both references" || known === "upstream's reference") && { upstream_reference: `U${index}` }),
  ...((known === "both references" || known === "our reference") && { reference: `O${index}` }),
});

type Edited = { readonly rows: readonly Omit<ChargedRow, "file">[]; readonly expected: readonly string[] };

const edited = (drawn: Drawn, order: BookedOrder, index: number): Edited => {
  const { edit, known, delayMs, lateHours } = drawn;
  const { reference, is_due } = order;
  const later = (row: StatementRow, ms: number): string => new Date(Date.parse(row.at) + ms).toISOString();
  const content: StatementRow = {
    ...referencesOf(known, index),
    ...{ type: order.type, phone_hash: order.phone_hash, amount_kobo: order.amount_kobo, status: order.status },
    at: later(order, delayMs),
  };
  const row = { ...content, id: `R${index}`, line: 2 * index + 2 };
  const found = (name: string, id = row.id): string => `${name} ${reference} ${id}`;
  const missing = is_due ? [`only_ours ${reference} -`] : [];
  const unmatched = [...missing, `only_theirs - ${row.id}`];
  const isLike = known === "likeness";
  const again = order.status === "failed" ? "only_theirs" : "charged_twice";
  switch (edit) {
    case "none":
      return { rows: [row], expected: [found("matched")] };
    case "drop":
      return { rows: [], expected: missing };
    case "copy":
      return { rows: [row, { ...row, line: row.line + 1 }], expected: [found("matched"), found(again, `${row.id}.2`)] };
    case "charge again": {
      const upstream_reference = row.upstream_reference && `V${index}`;
      const second = { ...row, upstream_reference, id: `S${index}`, line: row.line + 1, at: later(row, 30_000) };
      return { rows: [row, second], expected: [found("matched"), found(again, second.id)] };
    }
    case "amount": {
      const rows = [{ ...row, amount_kobo: row.amount_kobo + index + 1 }];
      const differs = [found(order.status === "failed" ? "matched" : "amount_differs")];
      return { rows, expected: isLike ? unmatched : differs };
    }
    case "status": {
      const status = statuses[(statuses.indexOf(order.status) + 1 + (index % 2)) % 3] ?? "failed";
      return { rows: [{ ...row, status }], expected: [found("status_contradicts")] };
    }
    case "time": {
      const at = later(row, (isLike ? 1_000 : lateHours) * HOUR_MS);
      return { rows: [{ ...row, at }], expected: isLike ? unmatched : [found("time_differs")] };
    }
    case "add": {
      const stranger = { ...row, id: `A${index}`, line: row.line + 1, phone_hash: `stranger${index}` };
      const references = referencesOf(known, index + 1_000);
      const added = { ...stranger, upstream_reference: undefined, reference: undefined, ...references };
      return { rows: [row, added], expected: [found("matched"), `only_theirs - ${added.id}`] };
    }
  }
};

const allEdited = (drawn: readonly Drawn[], orders: readonly BookedOrder[]): readonly Edited[] =>
  orders.flatMap((order, index) => {
    const each = drawn[index];
    return each === undefined ? [] : [edited(each, order, index)];
  });

const shuffled = <Item>(items: readonly Item[], seed: number): readonly Item[] => {
  const random = seeded(seed);
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);
};

/**
 * Each order has at most one edit. Beside them the whole statement may be shifted by a time zone, reordered, and split
 * into two files, which have some rows in common.
 */
export const statementCase: fc.Arbitrary<StatementCase> = fc
  .record({
    drawn: fc.array(orderSchema, { minLength: 1, maxLength: 25 }),
    aheadHours: fc.integer({ min: -12, max: 14 }),
    order: fc.option(fc.integer()),
    files: fc.option(fc.integer()),
  })
  .map(({ drawn, aheadHours, order, files }) => {
    const orders = drawn.map((each, index) => bookedAs(each, index, APART_MS));
    const all = allEdited(drawn, orders);
    // Most of at least five rows that are found by a reference show the clock; others cannot.
    const timed = drawn.filter(({ known, edit }) => known !== "likeness" && edit !== "drop");
    const late = timed.filter(({ edit }) => edit === "time");
    const isClear = timed.length >= 5 && late.length * 2 < timed.length;
    const aheadMs = isClear ? aheadHours * HOUR_MS : 0;
    const shifted = all.flatMap(({ rows }) =>
      rows.map((row) => ({ ...row, at: new Date(Date.parse(row.at) + aheadMs).toISOString(), file: 1 })),
    );
    const rows = order === null ? shifted : shuffled(shifted, order);
    return {
      orders: order === null ? orders : shuffled(orders, order + 1),
      rows: files === null ? rows : inTwoFiles(rows, files),
      expected: [
        ...all.flatMap(({ expected }) => expected),
        ...(aheadMs === 0 ? [] : [`clock_differs - - ${aheadMs / 60_000}`]),
      ].toSorted(),
    };
  });

/**
 * Orders of which many are alike, seconds apart, and one edit of their statement. `expected` has classes only: nothing
 * says which of several like orders a row without a reference is about.
 */
export const likeOrdersCase: fc.Arbitrary<StatementCase> = fc
  .record({
    drawn: fc.array(orderSchema, { minLength: 1, maxLength: 25 }),
    edit: fc.constantFrom(...editNames),
    place: fc.nat(),
    apartMs: fc.integer({ min: 1, max: 50_000 }),
    order: fc.integer(),
  })
  .map(({ drawn, edit, place, apartMs, order }) => {
    const one = drawn.map((each, index) => ({
      ...each,
      ...{ phone: 1, amount: 1, edit: index === place % drawn.length ? edit : ("none" as const) },
    }));
    const orders = one.map((each, index) => bookedAs(each, index, apartMs));
    const all = allEdited(one, orders);
    const rows = all.flatMap((each) => each.rows.map((row) => ({ ...row, file: 1 })));
    return {
      orders: shuffled(orders, order),
      rows: shuffled(rows, order + 1),
      expected: all.flatMap(({ expected }) => expected.map((finding) => finding.split(" ")[0] ?? "")).toSorted(),
    };
  });

/** Copies stay in one file: a row that two files have is one row. */
const inTwoFiles = (rows: readonly ChargedRow[], seed: number): readonly ChargedRow[] => {
  const random = seeded(seed);
  const places = new Map(rows.map(({ id }) => [id, random()]));
  return [1, 2].flatMap((file) =>
    rows.flatMap((row) => {
      const place = places.get(row.id) ?? 0;
      const isIn = file === 1 ? place < 0.6 : place > 0.4;
      return isIn ? [{ ...row, file }] : [];
    }),
  );
};
