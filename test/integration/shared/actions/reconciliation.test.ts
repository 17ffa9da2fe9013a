import { randomUUID } from "node:crypto";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createAccount } from "../../../../shared/access/accounts.ts";
import { accountsRuns } from "../../../../shared/actions/accounts.ts";
import { reconciliationRuns } from "../../../../shared/actions/reconciliation.ts";
import type { ActionInput } from "../../../../shared/contract/actions/actions.ts";
import { reconciliationActions } from "../../../../shared/contract/actions/reconciliation.ts";
import { readAudit, SERVICE } from "../../../../shared/ledger/audit.ts";
import { encodePageCursor } from "../../../../shared/ledger/page-cursor.ts";
import { ledgerIndexes, statementPk } from "../../../../shared/ledger/schema.ts";
import { pagesOf } from "../../../../shared/platform/pages.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { requireStatement } from "../../../../shared/upstream-statement/statement.ts";
import { verifyPack } from "../../../../shared/upstream-statement/statement-pack.ts";
import { beforeNext } from "../../../builders/dynamodb/another-process.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { hideFromIndex } from "../../../builders/dynamodb/hide-from-index.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { anActionContext } from "../../../builders/ledger/action-context.ts";
import { isWrite, openFaultyLedger } from "../../../builders/ledger/faulty-ledger.ts";
import { putTransactions } from "../../../builders/ledger/put-transactions.ts";
import type { WireFault } from "../../../strict/faults.ts";

const day = "2026-11-21";
const RANGE = { from: "2026-11-20T23:00:00.000Z", to: "2026-11-21T23:00:00.000Z" };
const FILE = "a".repeat(64);
const why = "test";
const COMPARISON = randomUUID();

type SentRow = ActionInput<"reconciliation files append">["rows"][number];
const aRow = (line: number): SentRow => ({
  ...{ line, type: "airtime", phone_number: "08031234567", amount_kobo: line, status: "success" },
  at: "2026-11-21T12:00:00.000Z",
});

let tables: Awaited<ReturnType<typeof freshTables>>;
let context: ReturnType<typeof anActionContext>;
beforeEach(async () => {
  tables = await freshTables();
  context = anActionContext(tables);
});

const begin = (file = FILE, sha256 = FILE) =>
  reconciliationRuns["reconciliation files begin"](context, { day, ...RANGE, file, sha256, why });
const append = (offset: number, rows: SentRow[], is_last = false, file = FILE) =>
  reconciliationRuns["reconciliation files append"](context, { day, file, offset, rows, is_last });
/** A file of one row. */
const aWholeFile = async (line = 2, file = FILE, sha256 = file) => {
  await begin(file, sha256);
  await append(0, [aRow(line)], true, file);
};
const remove = (sha256 = FILE) =>
  reconciliationRuns["reconciliation files remove"](context, { day, sha256, why: "of another day" });
const statement = () => reconciliationRuns["reconciliation statements show"](context, { day });
const put = (change: Partial<ActionInput<"reconciliation cases put">> = {}) =>
  reconciliationRuns["reconciliation cases put"](context, {
    ...{ day, revision: 1, comparison: COMPARISON, replaces: "", put: [], withdraw: [] },
    ...change,
  });
const clock = (ahead_ms: number) => ({ case: "clock", class: "clock_differs" as const, ahead_ms });
const decide = () =>
  reconciliationRuns["reconciliation cases decide"](context, { day, case: "clock", decision: "explained", why });
const theCase = () => reconciliationRuns["reconciliation cases show"](context, { day, case: "clock" });
const sign = () => reconciliationRuns["reconciliation statements sign"](context, { day, why });
const storedLines = async (): Promise<readonly number[]> => {
  const read = (cursor?: string) => reconciliationRuns["reconciliation rows list"](context, { day, cursor });
  return (await Array.fromAsync(pagesOf(read))).flatMap(({ rows }) => rows.map(({ line }) => line));
};

test("an import that ends between two requests continues behind the stored rows, and repeating a request stores nothing", async () => {
  expect(await begin()).toEqual({ rows: 0, is_whole: false });
  expect(await append(0, [aRow(2), aRow(3)])).toEqual({ rows: 2 });
  expect(await append(0, [aRow(2), aRow(3)])).toEqual({ rows: 2 });
  expect(await begin()).toEqual({ rows: 2, is_whole: false });
  await expect(append(5, [aRow(7)])).rejects.toThrow("This file has 2 rows stored");
  // A file that is not whole is not compared.
  expect(await storedLines()).toEqual([]);
  expect(await append(2, [aRow(4)], true)).toEqual({ rows: 3 });
  expect(await append(2, [aRow(4)], true)).toEqual({ rows: 3 });
  expect(await begin()).toEqual({ rows: 3, is_whole: true });
  expect(await storedLines()).toEqual([2, 3, 4]);
  expect(await statement()).toMatchObject({ revision: 1, files: [{ rows: 3, state: "whole" }] });
});

test("two requests that store the same rows at once store them once", async () => {
  await begin();
  const both = await Promise.all([append(0, [aRow(2)], true), append(0, [aRow(2)], true)]);
  expect(both).toEqual([{ rows: 1 }, { rows: 1 }]);
  expect(await storedLines()).toEqual([2]);
  expect((await statement()).revision).toBe(1);
});

test("of two changes of a statement at once both are kept, and one that is not written is an error", async () => {
  const { db } = context.ledger;
  const [second, third] = ["b".repeat(64), "c".repeat(64)];
  beforeNext(db, "transactWrite", () => begin(second, second));
  await begin();
  beforeNext(db, "transactWrite", () => begin(third, third));
  await append(0, [aRow(2)], true);
  expect((await statement()).files).toHaveLength(3);
  vi.spyOn(db, "transactWrite").mockRejectedValueOnce(new Error("No answer"));
  await expect(append(0, [aRow(2)], true, second)).rejects.toThrow("No answer");
  expect(await storedLines()).toEqual([2]);
});

test("a decision whose answer was lost and whose repetition is refused is made and recorded once", async () => {
  const ledger = await openFaultyLedger();
  onTestFinished(() => ledger.proxy.stop());
  context = { ...context, ledger };
  await aWholeFile();
  await put({ put: [clock(9)] });
  // The answer to the first copy is lost, and the second one meets another write: the third is another request.
  const faults: WireFault[] = ["answer_lost", "conflict"];
  ledger.proxy.fault = ({ operation }) => (isWrite(operation) ? faults.shift() : undefined);
  expect(await decide()).toMatchObject({ decisions: [{ why }] });
  const entries = await readAudit(ledger, SERVICE);
  expect(entries.filter(({ action }) => action === "reconciliation cases decide")).toHaveLength(1);
});

test("a file that is read with other columns replaces its former reading", async () => {
  await aWholeFile();
  const other = "b".repeat(64);
  await aWholeFile(9, other, FILE);
  expect(await storedLines()).toEqual([9]);
  expect((await statement()).files.map(({ state }) => state)).toEqual(["replaced", "whole"]);
});

test("a file that is read again stays before a later one, which corrects its rows", async () => {
  const [later, again] = ["b".repeat(64), "c".repeat(64)];
  await aWholeFile();
  await aWholeFile(3, later);
  await aWholeFile(4, again, FILE);
  expect(await storedLines()).toEqual([4, 3]);
  // As it was read first.
  await aWholeFile(5);
  expect(await storedLines()).toEqual([5, 3]);
});

test("a file that was taken out and is imported again corrects the rows of those that were left", async () => {
  const later = "b".repeat(64);
  await aWholeFile();
  await aWholeFile(3, later);
  expect(await storedLines()).toEqual([2, 3]);
  await remove();
  await aWholeFile();
  expect(await storedLines()).toEqual([3, 2]);
  expect((await statement()).files.map(({ sha256 }) => sha256)).toEqual([FILE, later]);
});

test("a day with as many files as it may have takes one of them again that was taken out, and no other", async () => {
  const first = "0".repeat(64);
  await aWholeFile(2, first);
  const [file] = (await requireStatement(context.ledger, day)).files;
  const others = Array.from({ length: 49 }, (_, index) => String(index + 1).padStart(64, "0"));
  const files = [file, ...others.map((id, index) => ({ ...file, file: id, sha256: id, number: index + 2 }))];
  await changeItem(context.ledger, statementPk(day), { files });
  await remove(first);
  await expect(begin()).rejects.toThrow("has 50 files: join them");
  expect(await begin(first, first)).toEqual({ rows: 0, is_whole: false });
});

test("a wrong file is taken out: its rows count no more, and the day cannot be signed before it is compared again", async () => {
  const [wrong, unfinished] = ["b".repeat(64), "c".repeat(64)];
  const closing = (balance_kobo: number) => ({ balance_kobo, at: `2026-11-21T2${balance_kobo}:00:00.000Z` });
  const whole = (file: string, line: number, balance: number) =>
    reconciliationRuns["reconciliation files append"](context, {
      ...{ day, file, offset: 0, rows: [aRow(line)], is_last: true, closing: closing(balance) },
    });
  await begin();
  await whole(FILE, 2, 1);
  await begin(wrong, wrong);
  await whole(wrong, 9, 2);
  await put({ revision: 2, totals: [] });
  const files = [{ state: "whole" }, { state: "removed" }];
  expect(await remove(wrong)).toMatchObject({ revision: 3, closing: closing(1), files });
  expect(await storedLines()).toEqual([2]);
  await expect(sign()).rejects.toThrow("was not compared to the end");
  await expect(remove(wrong)).rejects.toThrow("has no such file");
  // Its last request comes late.
  await expect(append(1, [aRow(3)], false, wrong)).rejects.toThrow("continue with the next one");

  // A file that was never whole was in no comparison.
  await begin(unfinished, unfinished);
  await append(0, [aRow(4)], false, unfinished);
  await put({ revision: 3, totals: [] });
  expect(await remove(unfinished)).toMatchObject({ revision: 3, closing: closing(1) });
  expect(await begin(wrong, wrong)).toEqual({ rows: 0, is_whole: false });
  await whole(wrong, 8, 2);
  expect(await storedLines()).toEqual([2, 8]);
  await remove(wrong);
  await put({ revision: 5, totals: [] });
  await sign();
  await expect(remove(FILE)).rejects.toThrow("is signed off");
  const removals = (await readAudit(context.ledger, SERVICE)).filter(({ action }) => action.endsWith("remove"));
  expect(removals.map(({ why: reason }) => reason)).toEqual(["of another day", "of another day", "of another day"]);
});

test("a day whose file is read again is not signed before it is compared again, also if that reading is taken out", async () => {
  await aWholeFile();
  await put({ totals: [] });
  await begin("b".repeat(64));
  await remove();
  await expect(sign()).rejects.toThrow("was not compared to the end");
});

test("the closing balance of a day is the one that its whole files state last, in whichever order they came", async () => {
  for (const [file, hour, is_last] of [
    ["a", 22, true],
    ["b", 20, true],
    ["c", 23, false],
  ] as const) {
    const id = file.repeat(64);
    await begin(id, id);
    const closing = { balance_kobo: hour, at: `2026-11-21T${hour}:00:00.000Z` };
    const rows = { day, file: id, offset: 0, rows: [aRow(2)], is_last, closing };
    await reconciliationRuns["reconciliation files append"](context, rows);
  }
  expect((await statement()).closing?.balance_kobo).toBe(22);
});

test("a day whose only file was taken out can be imported in another time zone, and is not signed without a file", async () => {
  await aWholeFile();
  await put({ totals: [] });
  expect(await remove()).toMatchObject({ closing: null });
  await expect(sign()).rejects.toThrow("was not compared to the end");
  const [to, file] = ["2026-11-22T00:00:00.000Z", "b".repeat(64)];
  const range = { from: "2026-11-21T00:00:00.000Z", to };
  await reconciliationRuns["reconciliation files begin"](context, { day, ...range, file, sha256: file, why });
  expect(await statement()).toMatchObject(range);
});

test("a day that ends before it begins is refused", async () => {
  const file = { day, from: RANGE.to, to: RANGE.from, file: FILE, sha256: FILE, why };
  const begun = reconciliationRuns["reconciliation files begin"](context, file);
  await expect(begun).rejects.toThrow("The day ends before it begins");
});

test("the rows that are stored have a keyed hash in the place of the number", async () => {
  await aWholeFile();
  const page = await reconciliationRuns["reconciliation rows list"](context, { day });
  expect(page.rows[0]).toMatchObject({ phone_hash: expect.stringMatching(/^[\w-]{16}$/) });
  expect(JSON.stringify(page)).not.toContain("8031234567");
});

test("a case is open until it is decided, again if its facts change, and withdrawn if it is found no more", async () => {
  await aWholeFile();
  expect(await put({ put: [clock(1)] })).toEqual({ open_cases: 1 });
  expect(await put({ put: [clock(1)] })).toEqual({ open_cases: 1 });
  await decide();
  expect(await theCase()).toMatchObject({
    state: "decided",
    decisions: [{ decision: "explained", by: "Command line (says: ada)" }],
  });
  expect(await put({ put: [clock(1)] })).toEqual({ open_cases: 0 });
  expect(await put({ put: [clock(2)] })).toEqual({ open_cases: 1 });
  expect(await theCase()).toMatchObject({ state: "open", ahead_ms: 2, decisions: [{ decision: "explained" }] });
  expect(await put({ withdraw: ["clock"] })).toEqual({ open_cases: 0 });
  await expect(decide()).rejects.toThrow("did not find this case any more");
  expect(await put({ put: [clock(2)] })).toEqual({ open_cases: 1 });
  // Also if two people decide it.
  for (const _person of [1, 2]) await decide();
  expect(await statement()).toMatchObject({ open_cases: 0 });
});

test("a comparison that ends half-way cannot be signed, although the one before it was whole", async () => {
  await aWholeFile();
  await put({ put: [clock(1)], totals: [] });
  // The next one finds another case, and ends before it has stored it.
  await put({ withdraw: ["clock"] });
  expect(await statement()).toMatchObject({ open_cases: 0, compared: null });
  await expect(sign()).rejects.toThrow("was not compared to the end");
  await put({ totals: [] });
  expect(await sign()).toMatchObject({ state: "signed_off" });
});

test("a signed-off day is not exported to its end while the index lacks one of its cases", async () => {
  await aWholeFile();
  await put({ put: [clock(1)], totals: [] });
  await decide();
  await sign();
  const lagging = hideFromIndex(context.ledger.db, (_, { IndexName }) => IndexName === ledgerIndexes.byList.name);
  const exported = () => reconciliationRuns["reconciliation statements export"](context, { day });
  await expect(exported()).rejects.toThrow("The index lacks 1 case of 2026-11-21");
  lagging.mockRestore();
  const { lines } = await exported();
  expect(verifyPack(lines.join("\n"))).toMatchObject({ isWhole: true, end: { count: 1 } });
});

test("a comparison of other rows than the stored ones is refused, and so is signing before the last one", async () => {
  await begin();
  await expect(sign()).rejects.toThrow("has a file that is not whole");
  await append(0, [aRow(2)], true);
  await expect(sign()).rejects.toThrow("was not compared to the end");
  await expect(put({ revision: 0, totals: [] })).rejects.toThrow("has another file now");
  await put({ totals: [] });
  expect(await sign()).toMatchObject({ state: "signed_off", signed_off: { by: "Command line (says: ada)", why } });
  await expect(begin("c".repeat(64), "c".repeat(64))).rejects.toThrow("is signed off");
  await expect(put()).rejects.toThrow("is signed off");
  const actions = (await readAudit(context.ledger, SERVICE)).map(({ action }) => action).toSorted();
  expect(actions).toEqual([
    "reconciliation cases put",
    "reconciliation files append",
    "reconciliation files begin",
    "reconciliation statements sign",
  ]);
});

test("the orders of a day are listed from a place among them only: DynamoDB fails for others", async () => {
  await begin();
  const account = { pk: "account#acc_1", created_at: "2026-01-01T00:00:00.000Z" };
  // An order may have waited for 15 minutes, and clocks may differ by one.
  const order = { pk: "transaction#1", created_at: "2026-11-20T22:44:00.000Z" };
  const list = (position: object) =>
    reconciliationRuns["reconciliation orders list"](context, {
      ...{ day, within_ms: 60_000 },
      cursor: encodePageCursor(position),
    });
  for (const created_at of [order.created_at, "2026-11-21T23:01:00.000Z"]) {
    expect(await list({ account, order: { ...order, created_at } })).toEqual({ orders: [], next_cursor: null });
  }
  for (const position of [
    { account: { ...account, pk: "wallet#acc_1" } },
    { order: { ...order, pk: "account#acc_1" } },
    { order: { ...order, created_at: "2026-11-20T22:43:59.999Z" } },
    { order: { ...order, created_at: "2026-11-21T23:01:00.001Z" } },
  ]) {
    await expect(list(position), JSON.stringify(position)).rejects.toThrow("The cursor is not of this list");
  }
});

test("the orders of a day are listed once each, also if one account has more than a page of them", async () => {
  await begin();
  const fromMs = Date.parse(RANGE.from);
  const { db, ledgerTable: table } = tables;
  for (const count of [1_100, 1]) {
    const { account_id } = await createAccount(tables, { name: "checkout", whitelist: [] });
    await putTransactions({ db, table }, account_id, count, (index) => isoTime(fromMs + index));
  }
  const read = (cursor?: string) =>
    reconciliationRuns["reconciliation orders list"](context, { day, within_ms: 0, cursor });
  const listed = (await Array.fromAsync(pagesOf(read))).flatMap(({ orders }) =>
    orders.map(({ reference }) => reference),
  );
  expect([listed.length, new Set(listed).size]).toEqual([1_101, 1_101]);
});

test("the orders of the last day that a time can name are listed", async () => {
  const lastDay = { day: "9999-12-31", from: "9999-12-30T23:00:00.000Z", to: "9999-12-31T23:00:00.000Z" };
  await accountsRuns["accounts create"](context, { name: "checkout" });
  await reconciliationRuns["reconciliation files begin"](context, { ...lastDay, file: FILE, sha256: FILE, why });
  const list = reconciliationRuns["reconciliation orders list"](context, { day: lastDay.day, within_ms: 86_400_000 });
  expect(await list).toEqual({ orders: [], next_cursor: null });
});

test("a case that is put or withdrawn is named once, by a text that can be stored", async () => {
  await aWholeFile();
  for (const change of [{ put: [clock(1), clock(2)] }, { put: [clock(1)], withdraw: ["clock"] }]) {
    await expect(put(change)).rejects.toThrow("A case is named twice");
  }
  const { input } = reconciliationActions["reconciliation cases put"];
  const sent = { day, revision: 1, comparison: COMPARISON, replaces: "", put: [clock(1)], withdraw: ["clock"] };
  expect(input.safeParse(sent).success).toBe(true);
  const order = { reference: "r", amount_kobo: 1, status: "success", at: RANGE.from, type: "airtime", is_due: true };
  const row = { id: "1", file: 0, line: 1, amount_kobo: 1, status: "success", at: RANGE.from };
  expect(input.safeParse({ ...sent, put: [{ ...clock(1), order, row }] }).success).toBe(true);
  for (const half of [
    { withdraw: ["\ud800"] },
    { put: [{ ...clock(1), order: { ...order, reference: "\ud800" } }] },
    { put: [{ ...clock(1), row: { ...row, id: "\ud800" } }] },
    { put: [{ ...clock(1), row: { ...row, upstream_reference: "\ud800" } }] },
  ]) {
    expect(input.safeParse({ ...sent, ...half }).success, JSON.stringify(half)).toBe(false);
  }
});
