import { expect, test } from "vitest";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { type AuditItem, linkEntry } from "../../../../shared/ledger/audit-chain.ts";
import { copyVerifier } from "../../../../shared/ledger/compare-copy.ts";
import { type CopiedEntry, copiedEntry, copyKey } from "../../../../shared/ledger/copied-entry.ts";
import { entriesPk, sequenceKey } from "../../../../shared/ledger/schema.ts";

const NOW_MS = Date.parse("2026-11-26T12:00:00Z");
const at = (minutesAgo: number): string => new Date(NOW_MS - minutesAgo * MINUTE_MS).toISOString();

/** A log of three entries, written at these times. */
const aLog = (...minutesAgo: readonly number[]) => {
  const items: (AuditItem & { readonly hash: string })[] = [];
  for (const minutes of minutesAgo) {
    const entry = { pk: entriesPk("acc_1"), by: "ada", created_at: at(minutes) };
    items.push(linkEntry(entry, items.at(-1)));
  }
  return items;
};
const copyOf = ({ sequence, hash }: { readonly sequence: string; readonly hash: string }) => ({
  auditLog: "acc_1",
  sequence,
  hash,
});
const began = (minutesAgo: number) => ({ beganAt: at(minutesAgo), readAtMs: NOW_MS });
/** What the verifier finds of these, place by place. */
const compareCopy = (
  items: readonly AuditItem[],
  copies: readonly CopiedEntry[],
  times: { readonly beganAt: string; readonly readAtMs: number },
) => {
  const [first] = copies.map(({ sequence }) => sequence).toSorted();
  const verify = copyVerifier({ ...times, first });
  const keys = [...new Set([...items, ...copies].map(({ sequence }) => sequence))].toSorted();
  const findings = keys.map((sequence) => ({
    kind: verify(
      items.find((item) => item.sequence === sequence),
      copies.filter((copy) => copy.sequence === sequence),
    ),
    sequence,
  }));
  return {
    problems: findings.filter(({ kind }) => kind !== undefined && kind !== "before"),
    before: findings.filter(({ kind }) => kind === "before").length,
  };
};
const place = (kind: string, number: number) => ({ kind, sequence: sequenceKey(number) });

test("entries with their copies have no problem, in whatever order the copies are listed", () => {
  const items = aLog(90, 80, 70);
  const copies = items.map(copyOf);
  for (const listed of [copies, copies.toReversed(), [...copies, ...copies]]) {
    expect(compareCopy(items, listed, began(100))).toEqual({ problems: [], before: 0 });
  }
});

test("an entry without a copy is a problem after 15 minutes", () => {
  const items = aLog(90, 15, 14);
  expect(compareCopy(items, items.slice(0, 1).map(copyOf), began(100)).problems).toEqual([place("not_copied", 2)]);
});

test("entries before the first copy of their log are counted, and so are those of a log without copies that are older than every copy", () => {
  const items = aLog(90, 80, 70);
  expect(compareCopy(items, items.slice(2).map(copyOf), began(71))).toEqual({ problems: [], before: 2 });
  expect(compareCopy(items, [], began(75))).toEqual({ problems: [place("not_copied", 3)], before: 2 });
  expect(compareCopy(items, [], began(80)).before).toBe(1);
});

test("a gap in the copies is a problem, however old the entries are", () => {
  const items = aLog(90, 80, 70);
  const copies = items.filter((_, index) => index !== 1).map(copyOf);
  expect(compareCopy(items, copies, began(60)).problems).toEqual([place("not_copied", 2)]);
});

test("a place that had two entries differs from its copy although the stored one was copied too", () => {
  const items = aLog(90, 80);
  const [, last = items[0]] = items;
  const forged = { ...copyOf(last ?? { sequence: "", hash: "" }), hash: "x".repeat(43) };
  expect(compareCopy(items, [...items.map(copyOf), forged], began(100)).problems).toEqual([
    place("differs_from_copy", 2),
  ]);
});

test("entries that are gone from the table are named, with those that nobody can read", () => {
  const [first, second, third] = aLog(90, 80, 70);
  const copies = [first, second, third].flatMap((item) => (item === undefined ? [] : [copyOf(item)]));
  const unreadable = { pk: entriesPk("acc_1"), sequence: sequenceKey(2) };
  expect(compareCopy([...(first ? [first] : []), unreadable], copies, began(100)).problems).toEqual([
    place("only_in_copy", 2),
    place("only_in_copy", 3),
  ]);
});

test("problems are in the order of their places, and an item that has no place has none", () => {
  const items = aLog(90, 80, 70, 60);
  const copies = items.filter((_, index) => index !== 2).map(copyOf);
  const stored = items.slice(2);
  const misplaced = stored.slice(0, 1).map((item) => ({ ...item, sequence: "0" }));
  expect(compareCopy([...stored, ...misplaced], copies, began(100))).toEqual({
    problems: [place("only_in_copy", 1), place("only_in_copy", 2), place("not_copied", 3)],
    before: 0,
  });
});

test("a copy's key says its log, place and hash, and there is none for what is in no log", () => {
  const copy = { auditLog: "acc_1", sequence: sequenceKey(7), hash: "h".repeat(43) };
  expect(copiedEntry(copyKey(copy) ?? "")).toEqual(copy);
  expect(copyKey({ ...copy, auditLog: "a/b" })).toBeUndefined();
  expect(copyKey({ ...copy, auditLog: "a".repeat(2_000) })).toBeUndefined();
});
