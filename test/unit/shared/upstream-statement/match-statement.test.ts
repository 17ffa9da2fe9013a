import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BookedOrder, findingClasses } from "../../../../shared/contract/upstream-statement.ts";
import {
  type ChargedRow,
  type Finding,
  type Parts,
  partOf,
  statementMatcher,
} from "../../../../shared/upstream-statement/match-statement.ts";
import { likeOrdersCase, statementCase } from "../../../builders/upstream/statement-edits.ts";

const WITHIN_MS = 30 * 60_000;
const RUNS = 1_000;
const NOON_MS = Date.parse("2026-11-21T12:00:00.000Z");
const at = (seconds: number): string => new Date(NOON_MS + seconds * 1_000).toISOString();

const partsInMemory =
  (count: number) =>
  <Item>(): Parts<Item> => {
    const parts: Item[][] = Array.from({ length: count }, () => []);
    return { add: (key, item) => void parts[partOf(key, count)]?.push(item), parts: () => parts };
  };

const findingsOf = (
  orders: readonly BookedOrder[],
  rows: readonly ChargedRow[],
  { parts = 1, withinMs = WITHIN_MS } = {},
): readonly Finding[] => {
  const matcher = statementMatcher(partsInMemory(parts), withinMs);
  for (const order of orders) matcher.addOrder(order);
  for (const row of rows) matcher.addRow(row);
  return [...matcher.findings()];
};

/** Each finding as `class order row`. */
const shown = (findings: readonly Finding[]): readonly string[] =>
  findings
    .map(({ class: name, order, row, ahead_ms }) =>
      [name, order?.reference ?? "-", row?.id ?? "-", ...(ahead_ms === undefined ? [] : [ahead_ms / 60_000])].join(" "),
    )
    .toSorted();
const compared = (...args: Parameters<typeof findingsOf>): readonly string[] => shown(findingsOf(...args));

const anOrder = (reference: string, change: Partial<BookedOrder> = {}): BookedOrder => ({
  reference,
  type: "airtime",
  phone_hash: "p1",
  amount_kobo: 500_00,
  status: "success",
  at: at(0),
  is_due: true,
  ...change,
});
const aRow = (id: string, change: Partial<ChargedRow> = {}): ChargedRow => ({
  id,
  file: 1,
  line: 2,
  type: "airtime",
  phone_hash: "p1",
  amount_kobo: 500_00,
  status: "success",
  at: at(1),
  ...change,
});

test("each edit of a true statement is found once, and nothing else, whatever the parts, the order and the files", () => {
  fc.assert(
    fc.property(statementCase, fc.integer({ min: 1, max: 5 }), ({ orders, rows, expected }, parts) => {
      expect(compared(orders, rows, { parts })).toEqual(expected);
    }),
    { numRuns: RUNS },
  );
});

test("an edit among orders that are alike is found once, and nothing else", () => {
  fc.assert(
    fc.property(likeOrdersCase, fc.integer({ min: 1, max: 5 }), ({ orders, rows, expected }, parts) => {
      const classes = findingsOf(orders, rows, { parts }).map(({ class: name }) => name);
      expect(classes.toSorted()).toEqual(expected);
    }),
    { numRuns: RUNS },
  );
});

test("the edits of the property occur, each in more than a hundred of a thousand statements", () => {
  const counts = new Map<string, number>();
  for (const { expected } of fc.sample(statementCase, { numRuns: 1_000, seed: 1 })) {
    for (const name of new Set(expected.map((finding) => finding.split(" ")[0] ?? ""))) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  expect([...counts.keys()].toSorted()).toEqual([...findingClasses].toSorted());
  expect(Math.min(...counts.values())).toBeGreaterThan(100);
});

describe("by references", () => {
  test("the upstream's reference decides before ours, and that before a likeness", () => {
    const orders = [anOrder("A", { upstream_reference: "U1" }), anOrder("B")];
    expect(compared(orders, [aRow("r", { upstream_reference: "U1", reference: "B" })])).toEqual([
      "matched A r",
      "only_ours B -",
    ]);
    expect(compared(orders, [aRow("r", { reference: "B" })])).toEqual(["matched B r", "only_ours A -"]);
  });

  test("an order under another reference of the upstream's than the known one is found by ours", () => {
    const order = anOrder("A", { upstream_reference: "U1" });
    const other = aRow("other", { reference: "A", upstream_reference: "U2" });
    expect(compared([order], [other])).toEqual(["matched A other"]);
    expect(compared([order], [other, aRow("r", { upstream_reference: "U1" })])).toEqual([
      "charged_twice A other",
      "matched A r",
    ]);
  });

  test("a row that names an unknown order of ours is about no other one, however like it is", () => {
    expect(compared([anOrder("A")], [aRow("r", { reference: "B" })])).toEqual(["only_ours A -", "only_theirs - r"]);
  });

  test("of several rows of one order, the one with its status and amount is its own, then the one with its status", () => {
    const order = anOrder("A", { upstream_reference: "U1" });
    const row = (id: string, change: Partial<ChargedRow>) => aRow(id, { upstream_reference: "U1", ...change });
    const wrongAmount = row("amount", { amount_kobo: 1, at: at(2) });
    const wrongStatus = row("status", { status: "processing", at: at(1) });
    const right = row("right", { at: at(3) });
    expect(compared([order], [wrongStatus, wrongAmount, right])).toEqual([
      "charged_twice A amount",
      "charged_twice A status",
      "matched A right",
    ]);
    expect(compared([order], [wrongStatus, wrongAmount])).toEqual([
      "amount_differs A amount",
      "charged_twice A status",
    ]);
  });

  test("of several equal rows the earliest is the order's own, wherever it stands", () => {
    const rows = [aRow("late", { reference: "A", at: at(9) }), aRow("early", { reference: "A" })];
    expect(compared([anOrder("A")], rows)).toEqual(["charged_twice A late", "matched A early"]);
    const [one, other] = [aRow("a", { reference: "A" }), aRow("b", { reference: "A" })];
    expect(compared([anOrder("A")], [other, one])).toEqual(compared([anOrder("A")], [one, other]));
  });

  test("two orders with one reference of the upstream's get one row each", () => {
    const orders = [
      anOrder("A", { upstream_reference: "U1" }),
      anOrder("B", { upstream_reference: "U1", amount_kobo: 1 }),
    ];
    const rows = [aRow("b", { upstream_reference: "U1", amount_kobo: 1 }), aRow("a", { upstream_reference: "U1" })];
    expect(compared(orders, rows)).toEqual(["matched A a", "matched B b"]);
    expect(compared(orders, rows.slice(0, 1))).toEqual(["matched B b", "only_ours A -"]);
  });

  test("a failed row beside a charged one is listed as theirs alone, with the order that it names", () => {
    const rows = [aRow("r", { reference: "A" }), aRow("try", { reference: "A", status: "failed" })];
    expect(compared([anOrder("A")], rows)).toEqual(["matched A r", "only_theirs A try"]);
  });
});

describe("by likeness", () => {
  test.each<[string, Partial<ChargedRow>]>([
    ["type", { type: "data" }],
    ["type, which is absent", { type: undefined }],
    ["number", { phone_hash: "p2" }],
    ["number, which is absent", { phone_hash: undefined }],
    ["amount", { amount_kobo: 500_01 }],
  ])("a row of another %s is another order's", (_, change) => {
    expect(compared([anOrder("A")], [aRow("r", change)])).toEqual(["only_ours A -", "only_theirs - r"]);
  });

  test("orders without a number are alike to no row", () => {
    const orders = [anOrder("A", { phone_hash: undefined })];
    expect(compared(orders, [aRow("r", { phone_hash: undefined })])).toEqual(["only_ours A -", "only_theirs - r"]);
  });

  test.each([1, -1])("the times of both differ by the stated time at most, in either direction (%i)", (sign) => {
    const withinS = WITHIN_MS / 1_000;
    expect(compared([anOrder("A")], [aRow("r", { at: at(sign * withinS) })])).toEqual(["matched A r"]);
    expect(compared([anOrder("A")], [aRow("r", { at: at(sign * (withinS + 0.001)) })])).toEqual([
      "only_ours A -",
      "only_theirs - r",
    ]);
  });

  test("of two like orders, the one that has no row is the one without a row near it", () => {
    const orders = [anOrder("A"), anOrder("B", { at: at(600) })];
    expect(compared(orders, [aRow("b", { at: at(601) })])).toEqual(["matched B b", "only_ours A -"]);
    expect(compared(orders, [aRow("b", { at: at(540) })])).toEqual(["matched B b", "only_ours A -"]);
    expect(compared(orders, [aRow("a", { at: at(539) })])).toEqual(["matched A a", "only_ours B -"]);
    expect(compared(orders.toReversed(), [aRow("a", { at: at(539) })])).toEqual(["matched A a", "only_ours B -"]);
  });

  test("a row is of an order with its status, and only then of another one that should have a row", () => {
    const failed = anOrder("F", { status: "failed", is_due: false });
    const open = anOrder("P", { status: "processing", at: at(2) });
    const done = anOrder("S", { at: at(1_000) });
    const row = aRow("r");
    expect(compared([failed, open, done], [row])).toEqual(["matched S r", "only_ours P -"]);
    expect(compared([failed, open], [row])).toEqual(["status_contradicts P r"]);
    expect(compared([failed], [row])).toEqual(["status_contradicts F r"]);
    expect(compared([failed, open], [row, aRow("f", { status: "failed" })])).toEqual([
      "matched F f",
      "status_contradicts P r",
    ]);
  });

  test("two different references of the upstream name two orders", () => {
    const known = anOrder("A", { upstream_reference: "U1" });
    expect(compared([known], [aRow("r", { upstream_reference: "U2" })])).toEqual(["only_ours A -", "only_theirs - r"]);
    expect(compared([known], [aRow("r")])).toEqual(["matched A r"]);
    expect(compared([anOrder("A")], [aRow("r", { upstream_reference: "U2" })])).toEqual(["matched A r"]);
    expect(compared([known, anOrder("B")], [aRow("r"), aRow("u", { upstream_reference: "U2" })])).toEqual([
      "matched A r",
      "matched B u",
    ]);
  });

  test("a further row that is like an order with a row charges it again, unless it is too far away", () => {
    const order = anOrder("A", { upstream_reference: "U1" });
    const own = aRow("own", { upstream_reference: "U1" });
    const again = (seconds: number) => aRow("again", { upstream_reference: "U2", at: at(seconds) });
    expect(compared([order], [own, again(1_800)])).toEqual(["charged_twice A again", "matched A own"]);
    expect(compared([order], [own, again(1_801)])).toEqual(["matched A own", "only_theirs - again"]);
    expect(compared([order], [own, { ...again(1), status: "failed" }])).toEqual([
      "matched A own",
      "only_theirs A again",
    ]);
  });

  test("of several like orders with rows, a further row charges the nearest one again", () => {
    const orders = [0, 600, 600, 1_200].map((seconds, index) => anOrder(`O${index}`, { at: at(seconds) }));
    const own = orders.map(({ reference }, index) => aRow(`own${index}`, { reference, at: at(index * 100) }));
    const again = [-1_800, 299, 301, 890, 910, 3_000].map((seconds) => aRow(`again${seconds}`, { at: at(seconds) }));
    expect(compared(orders, [...own, ...again.toReversed()]).filter((each) => !each.startsWith("matched"))).toEqual([
      "charged_twice O0 again-1800",
      "charged_twice O0 again299",
      "charged_twice O2 again301",
      "charged_twice O2 again890",
      "charged_twice O3 again3000",
      "charged_twice O3 again910",
    ]);
    expect(compared(orders, [...own, aRow("far", { at: at(3_001) })])).toContain("only_theirs - far");
  });
});

describe("of a pair", () => {
  const pairOf = (order: Partial<BookedOrder>, row: Partial<ChargedRow>): readonly string[] =>
    compared([anOrder("A", order)], [aRow("r", { reference: "A", ...row })]);

  test("the status counts before the amount, and the amount before the time", () => {
    const day = at(86_400);
    expect(pairOf({}, { status: "failed", amount_kobo: 1, at: day })).toEqual(["status_contradicts A r"]);
    expect(pairOf({}, { amount_kobo: 1, at: day })).toEqual(["amount_differs A r"]);
    expect(pairOf({}, { at: day })).toEqual(["time_differs A r"]);
    expect(pairOf({}, { at: at(1_800) })).toEqual(["matched A r"]);
    expect(pairOf({}, { at: at(1_801) })).toEqual(["time_differs A r"]);
    expect(pairOf({}, { at: at(-1_801) })).toEqual(["time_differs A r"]);
  });

  test("the amount of what failed on both sides does not count", () => {
    expect(pairOf({ status: "failed", is_due: false }, { status: "failed", amount_kobo: 0 })).toEqual(["matched A r"]);
  });
});

test("an order that need not be listed is missed by nobody, and compared if it is listed", () => {
  const queued = anOrder("A", { status: "processing", is_due: false });
  expect(compared([queued], [])).toEqual([]);
  expect(compared([queued], [aRow("r", { reference: "A" })])).toEqual(["status_contradicts A r"]);
});

describe("the clock", () => {
  const minutes = (count: number): number => count * 60;
  /** Orders, each with a row that is this many minutes late. */
  const late = (...lateMinutes: readonly number[]): readonly string[] => {
    const orders = lateMinutes.map((_, index) => anOrder(`A${index}`, { phone_hash: undefined }));
    const rows = lateMinutes.map((each, index) =>
      aRow(`r${index}`, { reference: `A${index}`, phone_hash: undefined, at: at(minutes(each)) }),
    );
    return compared(orders, rows).filter((finding) => !finding.startsWith("matched"));
  };

  test("differs if more than half of at least five pairs agree, rounded to a quarter of an hour", () => {
    expect(late(60, 60, 60, 60, 60)).toEqual(["clock_differs - - 60"]);
    expect(late(62, 58, 60, 67, 53)).toEqual(["clock_differs - - 60"]);
    expect(late(-45, -45, -45, -45, -45)).toEqual(["clock_differs - - -45"]);
    expect(late(60, 60, 60, 60)).toHaveLength(4);
    expect(late(60, 60, 60, 0, 0)).toEqual(["clock_differs - - 60", "time_differs A3 r3", "time_differs A4 r4"]);
    expect(late(60, 60, 60, 0, 0, 0)).toEqual(["time_differs A0 r0", "time_differs A1 r1", "time_differs A2 r2"]);
    expect(late(60, 60, 120, 120, 0)).toHaveLength(4);
  });

  test("differs by 26 hours at most", () => {
    expect(late(...Array<number>(5).fill(26 * 60))).toEqual(["clock_differs - - 1560"]);
    expect(late(...Array<number>(5).fill(26 * 60 + 15))).toHaveLength(5);
    expect(late(...Array<number>(5).fill(-26 * 60 - 15))).toHaveLength(5);
  });

  test("counts the pairs by either reference, and those whose offset is no zone's", () => {
    const orders = ["A", "B", "C", "D", "E"].map((name) => anOrder(name, { upstream_reference: `U${name}` }));
    const rows = orders.map(({ reference, upstream_reference }, index) =>
      aRow(reference, { ...(index < 2 ? { reference } : { upstream_reference }), at: at(minutes(60)) }),
    );
    expect(compared(orders, rows)).toContain("clock_differs - - 60");
    expect(late(60, 60, 60, 10_000, 10_000, 10_000)).not.toContain("clock_differs - - 60");
  });

  test("is corrected where rows are found by likeness", () => {
    const orders = ["A", "B", "C", "D", "E", "F"].map((name) => anOrder(name));
    const rows = orders.map(({ reference }, index) =>
      aRow(reference, { ...(index < 5 && { reference }), at: at(minutes(90)) }),
    );
    expect(compared(orders, rows)).toEqual([
      "clock_differs - - 90",
      ...orders.map((each) => `matched ${each.reference} ${each.reference}`),
    ]);
  });
});

describe("rows of several files", () => {
  const own = aRow("r", { reference: "A" });

  test("are one if they are equal, and several if one file has several", () => {
    expect(compared([anOrder("A")], [own, { ...own, file: 2 }])).toEqual(["matched A r"]);
    expect(compared([anOrder("A")], [own, own, { ...own, file: 2 }])).toEqual(["charged_twice A r.2", "matched A r"]);
    expect(compared([anOrder("A")], [own, own, { ...own, file: 2 }, { ...own, file: 2 }, { ...own, file: 2 }])).toEqual(
      ["charged_twice A r.2", "charged_twice A r.3", "matched A r"],
    );
  });

  test("are shown where the first file has them, so that a copy in a later one changes no case", () => {
    const copy = { ...own, file: 2, line: 9 };
    const [first] = findingsOf([], [own]);
    expect(findingsOf([], [own, copy])).toEqual([first]);
    expect(findingsOf([], [own, own, copy, copy])).toEqual(findingsOf([], [own, own]));
  });
});

test.each<[string, readonly ChargedRow[], readonly string[]]>([
  [
    "the status of a transaction that was pending",
    [
      aRow("before", { file: 1, upstream_reference: "U", status: "processing" }),
      aRow("after", { file: 2, upstream_reference: "U" }),
    ],
    ["matched A after"],
  ],
  [
    "the amount of the second of three rows, in another order",
    [
      aRow("same", { file: 1, upstream_reference: "U" }),
      aRow("wrong", { file: 1, upstream_reference: "U", amount_kobo: 5 }),
      aRow("gone", { file: 1, upstream_reference: "U", amount_kobo: 6 }),
      aRow("right", { file: 2, upstream_reference: "U", amount_kobo: 7 }),
      aRow("same", { file: 2, upstream_reference: "U" }),
    ],
    ["charged_twice A gone", "charged_twice A right", "matched A same"],
  ],
  [
    "nothing of a row with another time, which is another charge",
    [
      aRow("one", { file: 1, upstream_reference: "U" }),
      aRow("other", { file: 2, upstream_reference: "U", at: at(2), amount_kobo: 5 }),
    ],
    ["charged_twice A other", "matched A one"],
  ],
])("a later file corrects %s", (_what, rows, findings) => {
  expect(compared([anOrder("A", { upstream_reference: "U" })], rows)).toEqual(findings);
});

test("the parts of a comparison divide keys about evenly", () => {
  const sizes = Array<number>(16).fill(0);
  for (let index = 0; index < 16_000; index += 1) {
    const part = partOf(`DATA_${index}`, 16);
    sizes[part] = (sizes[part] ?? 0) + 1;
  }
  expect(Math.min(...sizes)).toBeGreaterThan(800);
  expect(Math.max(...sizes)).toBeLessThan(1_200);
});
