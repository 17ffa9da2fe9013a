import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { reconciliationRuns } from "../../../../shared/actions/reconciliation.ts";
import { whySchema } from "../../../../shared/contract/actions/action.ts";
import type { ActionInput } from "../../../../shared/contract/actions/actions.ts";
import { CASES_MAX } from "../../../../shared/contract/actions/reconciliation.ts";
import { dayBounds } from "../../../../shared/contract/values/time-zone.ts";
import { itemKindOf } from "../../../../shared/ledger/schema.ts";
import { NOT_DELIVERED, settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { referenceOf } from "../../../../shared/ledger/transaction.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { OperatorError } from "../../../../shared/platform/operator-error.ts";
import { requireCase } from "../../../../shared/upstream-statement/statement-case.ts";
import { caseLine, verifyPack } from "../../../../shared/upstream-statement/statement-pack.ts";
import { type ColumnMap, documentedColumns, readColumnMap } from "../../../../tools/statement-import/columns.ts";
import { directImporter } from "../../../../tools/statement-import/direct-importer.ts";
import { type Importer, importStatement } from "../../../../tools/statement-import/import-statement.ts";
import { readStatement } from "../../../../tools/statement-import/read-statement.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { anActionContext } from "../../../builders/ledger/action-context.ts";
import { type LedgerAtNoon, openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { temporaryFolder } from "../../../builders/run/cleanups.ts";
import { runCommand } from "../../../builders/service/admin.ts";

/** Goal: what an import stores of a day is right at its edges, and when it ends half-way. */
let ledger: LedgerAtNoon;
let context: ReturnType<typeof anActionContext>;
let account: string;
beforeEach(async () => {
  ledger = await openLedgerAtNoon();
  context = anActionContext(ledger.tables, { clock: () => ledger.nowMs });
  account = await ledger.anAccount(50_000);
});

/** A delivered order that was placed then; resolves with our reference. */
const delivered = async (at: string): Promise<string> => {
  ledger.nowMs = Date.parse(at);
  const order = await ledger.anOpenTransaction(account);
  await settleTransaction(ledger, order, { status: "success" }, deadlineIn(9_000));
  return referenceOf(order);
};

const writtenFile = (...lines: readonly string[]): string => {
  const path = join(temporaryFolder(), "statement.csv");
  writeFileSync(path, lines.join("\n"));
  return path;
};

type SentRow = ActionInput<"reconciliation files append">["rows"][number];

type Row = { readonly upstream: string; readonly at: string } & Partial<
  Readonly<Record<"reference" | "type" | "phone" | "amount" | "status", string>>
>;
const fileOf = (...rows: readonly Row[]): string => {
  const lines = rows.map(
    ({ upstream, reference = "", type = "data", phone = "08031234567", amount = "500.00", status = "success", at }) =>
      [upstream, reference, type, phone, amount, status, at].join(","),
  );
  const heading = "reference,caller_reference,type,phone_number,amount,status,created_at";
  return writtenFile(heading, ...lines);
};

const DAY = "2026-11-21";
const imported = (path: string, map: ColumnMap = documentedColumns, day = DAY, importer = directImporter(context)) =>
  importStatement(importer, { path, day, map });
/** An import before whose requests something else happens. */
const importedWhile = (path: string, before: (name: string) => unknown) => {
  const importer = directImporter(context);
  const act: Importer["act"] = async (name, input) => {
    await before(name);
    return importer.act(name, input);
  };
  return imported(path, documentedColumns, DAY, { ...importer, act });
};
const shown = (day = DAY) => reconciliationRuns["reconciliation statements show"](context, { day });
const storedCases = async () => (await reconciliationRuns["reconciliation cases list"](context, { day: DAY })).cases;
const cases = async (): Promise<readonly string[]> =>
  (await storedCases())
    .map(({ class: name, state, order }) => [name, order?.reference ?? "-", state].join(" "))
    .toSorted();
const decide = (id: string, decision: "disputed" | "resolved") =>
  reconciliationRuns["reconciliation cases decide"](context, {
    day: DAY,
    case: id,
    decision,
    why: whySchema.parse("Mail to the upstream about 08031234599"),
  });
const sign = () =>
  reconciliationRuns["reconciliation statements sign"](context, {
    day: DAY,
    why: whySchema.parse("test of 08031234599"),
  });
/** What is stored of the day after an import that is refused. */
const nothingStored = () => expect(shown()).rejects.toThrow("was imported");

/** The columns of a file without our reference, and with a balance. */
const COLUMNS = { upstream_reference: "reference", amount: "amount", status: "status", time: "created_at" };
const [HEADING, HEADING_WITH_BALANCE] = [
  "reference,amount,status,created_at",
  "reference,amount,status,created_at,balance",
];
const mapOf = (columns: ColumnMap["columns"], time: Partial<ColumnMap["time"]> = {}): ColumnMap => ({
  ...documentedColumns,
  columns,
  time: { ...documentedColumns.time, ...time },
});

test("a row soon after midnight of the zone is matched with the order that was sent before it, in the new day alone", async () => {
  // 23:59:50 and 00:00:10 in Lagos; in UTC both are of the 21st.
  const before = await delivered("2026-11-21T22:59:50.000Z");
  const after = await delivered("2026-11-21T23:00:10.000Z");
  const rows = [
    { upstream: "UP-1", reference: before, at: "2026-11-22T00:00:05+01:00" },
    // Some upstreams write our references in small letters.
    { upstream: "UP-2", reference: after.toLowerCase(), at: "2026-11-22T00:00:12+01:00" },
  ];
  expect(await imported(fileOf(...rows), documentedColumns, "2026-11-22")).toMatchObject({
    open_cases: 0,
    totals: [{ class: "matched", count: 2 }],
  });
  await imported(fileOf({ upstream: "UP-3", at: "2026-11-21T12:00:00+01:00" }));
  // The day before lacks it: a person explains it by the next day.
  expect(await cases()).toEqual([`only_ours ${before} open`, "only_theirs - open"]);
});

const MONEY = ["wallet", "transaction", "funding", "adjustment", "refund", "upstream-reference"];
/** Everything in the ledger that is about money. */
const money = async (): Promise<ReadonlyMap<unknown, unknown>> => {
  const { Items = [] } = await ledger.db.scan({ TableName: ledger.table });
  return new Map(Items.filter(({ pk }) => MONEY.includes(itemKindOf(String(pk)) ?? "")).map((item) => [item.pk, item]));
};

test("a day is imported in two files, decided, signed off and exported without a number, and no money moves", async () => {
  const at = `${DAY}T10:00:00.000Z`;
  const [right, cheap, missing] = [await delivered(at), await delivered(at), await delivered(at)];
  const open = referenceOf(await ledger.anOpenTransaction(account));
  const before = await money();
  const own = { upstream: "UP-1", reference: right, at };
  const first = fileOf(
    own,
    { upstream: "UP-2", reference: cheap, amount: "480.50", at },
    { upstream: "UP-stranger", phone: "08031234599", at },
  );
  const second = fileOf(own, { upstream: "UP-3", reference: open, at }, { ...own, upstream: "UP-again" });
  expect(await imported(first)).toMatchObject({ rows: 3, stored: 3, open_cases: 4 });
  for (const stored of [3, 0]) {
    expect(await imported(second)).toMatchObject({ rows: 3, stored, open_cases: 5 });
    expect(await cases()).toEqual(
      [
        `amount_differs ${cheap} open`,
        `charged_twice ${right} open`,
        `only_ours ${missing} open`,
        "only_theirs - open",
        `status_contradicts ${open} open`,
      ].toSorted(),
    );
  }

  await expect(sign()).rejects.toThrow("has open cases: 5");
  await expect(decide(open, "resolved")).rejects.toThrow("is still processing: resolve it first");
  for (const { case: id } of await storedCases()) await decide(id, "disputed");
  expect(await imported(first)).toMatchObject({ open_cases: 0 });
  const exported = () => reconciliationRuns["reconciliation statements export"](context, { day: DAY });
  await expect(exported()).rejects.toThrow("is not signed off");
  await sign();
  await expect(imported(fileOf(own))).rejects.toThrow("is signed off");
  await expect(decide(cheap, "disputed")).rejects.toThrow("is signed off");
  expect(await money()).toEqual(before);

  const { lines, next_cursor } = await exported();
  expect([lines.length, next_cursor]).toEqual([7, null]);
  const pack = lines.join("\n");
  for (const phone of ["8031234567", "8031234599"]) expect(pack).not.toContain(phone);
  const forged = pack.replace("Mail to the upstream", "Mail to nobody");
  expect(verifyPack(forged)).toEqual({ isWhole: false, line: 2, problem: "it was changed" });
  const offline = await runCommand(["reconciliation", "verify"], { serviceFile: "/none.json", stdin: pack });
  expect(offline).toMatchObject({ code: 1, stdout: expect.stringContaining("were not compared with the audit log") });
});

test.each([
  [{ amount: "5.005" }, 'amount "5.005" is no amount in naira'],
  [{ amount: "-500" }, 'amount "-500" has the sign of a credit'],
  [{ status: "done" }, 'status "done" is no known status'],
  [{ status: "to 08031234567" }, 'status "to *********67" is no known status'],
  [{ type: "funding" }, 'type "funding" is no known type'],
  [{ at: "yesterday" }, 'created_at "yesterday" is no time'],
])(
  "a file with a row that cannot be read is refused with its line, and nothing of it is stored: %j",
  async (wrong, says) => {
    const row = { upstream: "UP-1", at: "2026-11-21T10:00:00Z" };
    await expect(imported(fileOf(row, { ...row, ...wrong }))).rejects.toThrow(`Line 3: ${says}`);
    await nothingStored();
  },
);

test("a day has 23 or 25 hours where the clocks of the statement's zone change", async () => {
  const map = mapOf(documentedColumns.columns, { zone: "Europe/London" });
  for (const [day, from, to] of [
    ["2026-03-29", "2026-03-29T00:00:00.000Z", "2026-03-29T23:00:00.000Z"],
    ["2026-10-25", "2026-10-24T23:00:00.000Z", "2026-10-26T00:00:00.000Z"],
  ] as const) {
    const path = fileOf({ upstream: "UP-1", at: `${day}T12:00:00Z` });
    await imported(path, map, day);
    expect(await shown(day)).toMatchObject({ from, to });
  }
});

test("a file that is sent again with other bounds of its day is refused", async () => {
  const begin = (from: string) =>
    reconciliationRuns["reconciliation files begin"](context, {
      ...{ day: DAY, from, to: `${DAY}T22:59:59.999Z` },
      ...{ file: "a".repeat(64), sha256: "b".repeat(64) },
    });
  await begin(`${DAY}T00:00:00.000Z`);
  await expect(begin(`${DAY}T01:00:00.000Z`)).rejects.toThrow("use the same time zone");
  expect(await begin(`${DAY}T00:00:00.000Z`)).toEqual({ rows: 0, is_whole: false });
});

test("a file that was read in the wrong zone is read again in the right one, and nothing of the first reading stays", async () => {
  const path = writtenFile(HEADING_WITH_BALANCE, "UP-1,500,success,2026-11-21 23:30:00,1000");
  for (const zone of ["UTC", "Africa/Lagos"]) {
    await imported(path, mapOf({ ...COLUMNS, balance: "balance" }, { format: "YYYY-MM-DD HH:mm:ss", zone }));
  }
  expect(await shown()).toMatchObject({
    ...dayBounds(DAY, "Africa/Lagos"),
    files: [{ state: "replaced" }, { state: "whole" }],
    closing: { balance_kobo: 1_000_00, at: "2026-11-21T22:30:00.000Z" },
  });
});

test("a day without a column for the balance has none, although its first reading had one", async () => {
  const path = writtenFile(HEADING_WITH_BALANCE, "UP-1,500,success,2026-11-21T10:00:00Z,1000");
  await imported(path, mapOf({ ...COLUMNS, balance: "balance" }));
  expect((await shown()).closing).not.toBeNull();
  await imported(path, mapOf(COLUMNS));
  expect((await shown()).closing).toBeNull();
});

test.each([
  {
    of: "whose newest row is the first one, with several rows in its last minute",
    rows: [
      "UP-3,500,success,21/11/2026 23:59,1000",
      "UP-2,500,success,21/11/2026 23:59,1500",
      "UP-1,500,success,21/11/2026 09:00,2000",
    ],
  },
  {
    of: "whose newest row is the last one, with several rows in its last minute",
    rows: [
      "UP-1,500,success,21/11/2026 09:00,2000",
      "UP-2,500,success,21/11/2026 23:59,1500",
      "UP-3,500,success,21/11/2026 23:59,1000",
    ],
  },
  {
    of: "with a payment to the upstream after its last order",
    rows: ["UP-1,500,success,21/11/2026 09:00,500", "FUND-1,-500,funded,21/11/2026 23:59,1000", "total,,funded,,9"],
  },
  {
    of: "with a row of the next day",
    rows: ["UP-1,500,success,21/11/2026 23:59,1000", "UP-2,500,success,22/11/2026 00:00,500"],
  },
])("the closing balance of a file $of is the one at the end of its day", async ({ rows }) => {
  const map = mapOf({ ...COLUMNS, balance: "balance" }, { format: "DD/MM/YYYY HH:mm", zone: "Africa/Lagos" });
  const statuses = new Map([...map.statuses, ["funded", "ignored"] as const]);
  await imported(writtenFile(HEADING_WITH_BALANCE, ...rows), { ...map, statuses });
  expect(await shown()).toMatchObject({
    closing: { balance_kobo: 1_000_00, at: "2026-11-21T22:59:00.000Z" },
  });
});

test("the totals add up what the books and the statement charge: each order once, and nothing for what failed", async () => {
  const [first, second] = [await delivered(`${DAY}T09:00:00.000Z`), await delivered(`${DAY}T10:00:00.000Z`)];
  ledger.nowMs = Date.parse(`${DAY}T11:00:00.000Z`);
  const order = await ledger.anOpenTransaction(account);
  await settleTransaction(ledger, order, NOT_DELIVERED, deadlineIn(9_000));
  const charged = { upstream: "UP-1", reference: first, at: `${DAY}T09:00:01.000Z` };
  const failed = { status: "failed", amount: "480.00" };
  const { totals } = await imported(
    fileOf(
      charged,
      charged,
      { upstream: "UP-2", reference: second, at: `${DAY}T10:00:01.000Z`, ...failed },
      { upstream: "UP-3", reference: referenceOf(order), at: `${DAY}T11:00:01.000Z`, ...failed },
    ),
  );
  expect(totals).toEqual([
    { class: "matched", count: 2, ours_kobo: 500_00, theirs_kobo: 500_00 },
    { class: "status_contradicts", count: 1, ours_kobo: 500_00, theirs_kobo: 0 },
    { class: "charged_twice", count: 1, ours_kobo: 0, theirs_kobo: 500_00 },
  ]);
});

test("a decided case stays decided when another file has the same row again", async () => {
  const foreign = { upstream: "UP-9", at: "2026-11-21T10:00:00Z" };
  await imported(fileOf(foreign));
  const [found] = await storedCases();
  await decide(found?.case ?? "", "disputed");
  const known = await delivered("2026-11-21T11:00:00.000Z");
  await imported(fileOf({ upstream: "UP-10", reference: known, at: "2026-11-21T11:00:01Z" }, foreign));
  expect(await cases()).toEqual(["only_theirs - decided"]);
});

test("a decision and a comparison that finds the same keep what a later release has stored of a case, and its pack leaves it out", async () => {
  const path = fileOf({ upstream: "UP-9", at: "2026-11-21T10:00:00Z" });
  await imported(path);
  const [found] = await storedCases();
  const stored = () => requireCase(context.ledger, DAY, found?.case ?? "");
  const { pk, facts } = await stored();
  const ofLaterRelease = { ...facts, row: { ...facts.row, added: "row" }, added: "facts" };
  await changeItem(context.ledger, pk, { facts: ofLaterRelease });
  await decide(found?.case ?? "", "disputed");
  await imported(path);
  expect(await stored()).toMatchObject({ state: "decided", facts: ofLaterRelease });
  expect(caseLine({ count: 0, hash: "" }, await stored()).line).not.toContain("added");
});

test("an import that dies between two requests for cases cannot be signed before it was run again", async () => {
  const path = fileOf({ upstream: "UP-1", at: "2026-11-21T10:00:00Z" });
  await imported(path);
  const late = await delivered("2026-11-21T10:00:01.000Z");
  // Compared again, the row is of the order, and the order has another time: one case goes, one comes.
  const other = await delivered("2026-11-21T15:00:00.000Z");
  let puts = 0;
  const dying = importedWhile(path, (name) => {
    if (name === "reconciliation cases put" && ++puts > 1) throw new Error("The process died");
  });
  await expect(dying).rejects.toThrow("The process died");
  expect(await cases()).toEqual(["only_theirs - withdrawn"]);
  await expect(sign()).rejects.toThrow("was not compared to the end");
  await imported(path);
  expect(await cases()).toEqual(["only_theirs - withdrawn", `only_ours ${other} open`].toSorted());
  expect(late).not.toBe(other);
});

test("of two imports of a day at once, the one whose comparison was replaced is refused: no day has half of each", async () => {
  const [first, later] = ["2026-11-21T10:00:00Z", "2026-11-21T18:00:00Z"];
  const others = Array.from({ length: CASES_MAX }, (_, index) => ({ upstream: `UP-${index}`, at: later }));
  const path = fileOf({ upstream: "UP-FIRST", at: first }, ...others);
  let puts = 0;
  const overtaken = importedWhile(path, async (name) => {
    if (name !== "reconciliation cases put" || ++puts !== 2) return;
    // The other import finds an order that the first one did not.
    await delivered("2026-11-21T10:00:10.000Z");
    expect(await imported(path)).toMatchObject({ open_cases: CASES_MAX });
  });
  await expect(overtaken).rejects.toThrow("was compared by another import");
  expect(await shown()).toMatchObject({
    open_cases: CASES_MAX,
    compared: {
      totals: [
        { class: "matched", count: 1 },
        { class: "only_theirs", count: CASES_MAX },
      ],
    },
  });
});

test.each([
  ["another amount", (row: SentRow): SentRow => ({ ...row, amount_kobo: 500_00 })],
  ["another status", (row: SentRow): SentRow => ({ ...row, status: "failed" })],
  ["no number", ({ phone_number: _, ...row }: SentRow): SentRow => row],
])(
  "the next import of a file finds that a person stored %s under its name, and the file can be imported again",
  async (_, forged) => {
    const at = `${DAY}T10:00:00.000Z`;
    const path = fileOf({ upstream: "UP-1", reference: await delivered(at), amount: "750", at });
    const honest = directImporter(context);
    const act: Importer["act"] = (name, input) =>
      honest.act(name, "rows" in input ? { ...input, rows: input.rows.map(forged) } : input);
    await imported(path, documentedColumns, DAY, { ...honest, act }).catch(() => {});
    const refused = await imported(path).catch((error: unknown) => error);
    expect(refused).toMatchObject({ message: expect.stringContaining("are not those of this file") });
    expect(refused).toMatchObject({ message: expect.stringContaining("stored by Command line (says: ada)") });
    const [{ sha256 } = { sha256: "" }] = (await shown()).files;
    await reconciliationRuns["reconciliation files remove"](context, { day: DAY, sha256, why: "not the file" });
    expect(await imported(path)).toMatchObject({ rows: 1, stored: 1, totals: [{ class: "amount_differs", count: 1 }] });
  },
);

test("a file that is not there is refused, and one with other columns with those that it has, and how to name them", async () => {
  await expect(imported("/no/such.csv")).rejects.toThrow(
    new OperatorError("/no/such.csv cannot be read: it does not exist (ENOENT)"),
  );
  const path = writtenFile("Txn ID,Debit", "UP-1,500.00");
  await expect(imported(path)).rejects.toThrow(
    /The file has no column ".*", but Txn ID, Debit: name those in the file of --columns/,
  );
  // A file without headings begins with a customer's row.
  await expect(imported(writtenFile("UP-1,08031234567", "UP-2,08031234568"))).rejects.toThrow(
    "but UP-1, *********67: name those",
  );
});

test.each([
  ["ISO 8601", "0026-11-21T10:00:00Z"],
  ["DD/MM/YYYY HH:mm", "21/11/0026 10:00"],
])("a year that lost two digits is refused with its line in the format %s", async (format, time) => {
  const path = writtenFile(HEADING, `UP-1,500,success,${time}`);
  await expect(imported(path, mapOf(COLUMNS, { format }))).rejects.toThrow(
    `Line 2: created_at "${time}" has a year before 2000`,
  );
  await nothingStored();
});

test.each([
  ["UP-2\n(again)", "Must not contain control or invisible characters; some emoji contain one"],
  ["UP-\u200b2", "Must not contain control or invisible characters; some emoji contain one"],
  ["U".repeat(101), "Must have at most 100 characters"],
])(
  "a row whose reference %j the service would refuse is refused with its line, before a row is stored",
  async (reference, problem) => {
    const row = (upstream: string): string => `"${upstream}",500,success,2026-11-21T10:00:00Z,"a note\nof two lines"`;
    const path = writtenFile(`${HEADING},note`, row("UP-1"), row(reference));
    await expect(imported(path, mapOf(COLUMNS))).rejects.toThrow(
      new RegExp(`^Line \\d: reference "[^"]*" is refused: ${problem}`),
    );
    await nothingStored();
  },
);

test.each(["\n", "\r\n", "\r"])(
  "cells are read without the spaces around them, also between quotes, behind a byte order mark and with the line end %j",
  async (lineEnd) => {
    const known = await delivered("2026-11-21T10:00:00.000Z");
    const heading = "reference,caller_reference,type,phone_number,amount,status,created_at,note";
    const row = (upstream: string, reference: string): string =>
      `${upstream}," ${reference} ",data,"+234 803 123 4567"," 500.00","success ",2026-11-21T10:00:01Z,"of${lineEnd}""two"" lines"`;
    const path = join(temporaryFolder(), "statement.csv");
    writeFileSync(path, `\ufeff${[heading, row("UP-1", known), "", row("UP-2", "other"), "", ""].join(lineEnd)}`);
    expect((await imported(path)).totals).toMatchObject([{ class: "matched" }, { class: "only_theirs" }]);
    const { rows } = await reconciliationRuns["reconciliation rows list"](context, { day: DAY });
    expect(rows.map(({ line }) => line)).toEqual([3, 6]);
  },
);

test.each(["8031234567", "2348031234567", "+234 (0)803 123 4567", "002348031234567", "0803-123-4567", "٠٨٠٣١٢٣٤٥٦٧"])(
  "a row's phone number %s is the one of the order, 08031234567",
  async (phone) => {
    const path = fileOf({ upstream: "UP-1", phone, at: "2026-11-21T10:00:00Z" });
    const rows = await Array.fromAsync(readStatement(path, documentedColumns));
    expect(rows.map(({ row }) => row?.phone_number)).toEqual(["08031234567"]);
  },
);

test.each([
  ["lost its last row", 1],
  ["got another row", 3],
  ["got other rows of the same number", -2],
])(
  "a file that %s while it was imported is not whole: it was stored under the hash of another content",
  async (_, count) => {
    const rows = (number: number, name = "UP") =>
      Array.from({ length: number }, (_each, index) => ({ upstream: `${name}-${index}`, at: `${DAY}T10:00:00Z` }));
    const path = fileOf(...rows(2));
    const changing = importedWhile(path, (name) => {
      const changed = fileOf(...rows(Math.abs(count), count < 0 ? "OTHER" : "UP"));
      if (name === "reconciliation files begin") writeFileSync(path, readFileSync(changed));
    });
    await expect(changing).rejects.toThrow(/changed while it was imported.*reconciliation files remove/);
    const { files } = await shown();
    expect(files).toMatchObject([{ state: "incomplete", rows: 0 }]);
  },
);

test("a quote that is not closed is found behind the last row that could be read", async () => {
  const row = (note: string): string => `UP-1,500,success,2026-11-21T10:00:00Z,${note}`;
  const path = writtenFile("r,a,s,t,note", row("one"), row('"two\nlines"'), row('"three'), row("four"));
  const map = mapWith({ columns: { upstream_reference: "r", amount: "a", status: "s", time: "t" } });
  await expect(imported(path, map)).rejects.toThrow("a quote that begins after line 4 is not closed");
});

const mapWith = (changes: Readonly<Record<string, unknown>>) => {
  const path = join(temporaryFolder(), "map.json");
  const map = { columns: { amount: "a", status: "s", time: "t" }, amount: { unit: "naira" }, statuses: {}, ...changes };
  writeFileSync(path, JSON.stringify({ time: { format: "ISO 8601", zone: "Africa/Lagos" }, ...map }));
  return readColumnMap(path);
};

test.each(["YYYY-MM-DD HH:mm:ss", "DD/MM/YYYY hh:mm A", "DD.MM.YYYY", "YYYYMMDDTHHmmss", "ISO 8601"])(
  "a map may have the time format %s",
  (format) => {
    expect(mapWith({ time: { format, zone: "Africa/Lagos" } }).time.format).toBe(format);
  },
);

test.each([
  "DD/MM/YY HH:mm",
  "YYYY-MM-DD HH:MM",
  "DD-MMM-YYYY",
  "D/M/YYYY",
  "YYYY-MM-DD hh:mm",
  "YYYY-MM-DD HH:mm A",
  "YYYY-MM-DDTHH:mm:ssZ",
  "YYYY-MM-DD HH:mm:ss.SSS",
  "yyyy-MM-dd",
  "",
])("a map with the time format %j is refused: its parts are not those that are read", (format) => {
  expect(() => mapWith({ time: { format, zone: "Africa/Lagos" } })).toThrow(
    /map\.json: time\.format: Must be "ISO 8601", or have YYYY/,
  );
});

test("a map may begin with a byte order mark", () => {
  const path = join(temporaryFolder(), "map.json");
  const time = { format: "DD/MM/YYYY", zone: "Africa/Lagos" };
  const map = { columns: { amount: "a", status: "s", time: "t" }, amount: { unit: "naira" }, time, statuses: {} };
  writeFileSync(path, `\ufeff${JSON.stringify(map)}`);
  expect(readColumnMap(path).time).toEqual(time);
});

test("a map that is not there, or is no JSON, is refused with what is wrong, and without the text of the file", () => {
  expect(() => readColumnMap("/no/such.json")).toThrow("/no/such.json cannot be read: it does not exist (ENOENT)");
  const broken = writtenFile('{"columns":', '"08031234567" "x"}');
  expect(() => readColumnMap(broken)).toThrow(new OperatorError(`${broken} is no JSON: line 2 column 15`));
  const statement = writtenFile("UP-1,08031234567");
  expect(() => readColumnMap(statement)).toThrow(new OperatorError(`${statement} is no JSON`));
});

test("a map in which a text stands for two statuses, and a file with two columns of one name, are refused", async () => {
  expect(() => mapWith({ statuses: { success: ["Done"], ignored: ["done"] } })).toThrow(
    'statuses: "done" stands for two of them',
  );
  const path = writtenFile("a,s,t,a", "500,success,2026-11-21T10:00:00Z,480");
  const map = mapWith({});
  await expect(imported(path, map)).rejects.toThrow('The file has several columns "a"');
});

test("a row of totals without a status is left out where the map says so", async () => {
  const path = writtenFile("a,s,t", "500,success,2026-11-21T10:00:00Z", "500,,");
  await expect(imported(path, mapWith({}))).rejects.toThrow('Line 3: s "" is no known status: add it to statuses');
  expect((await imported(path, mapWith({ statuses: { ignored: [""] } }))).rows).toBe(1);
  expect(() => mapWith({ types: { ignored: [""] } })).toThrow("map.json: types.ignored.0");
});
