import { expect, test } from "vitest";
import { type AuditHead, linkEntry, type StoredAuditItem, verifyChain } from "../../../../shared/ledger/audit-chain.ts";

const chainOf = (auditLog: string, length: number) => {
  let head: AuditHead = { count: 0, hash: "" };
  const items = Array.from({ length }, (_, index) => {
    const time = `2026-11-23T12:00:0${index}.000Z`;
    const entry = {
      ...{ pk: `audit#${time}#${auditLog}${index}`, audit_log: auditLog, list_key: `audit#${auditLog}` },
      ...{ by: "ada", action: "wallet fund", details: { amount: index, id: "GTB-1" }, created_at: time },
    };
    const item = linkEntry(entry, head, "ledger");
    head = { count: item.sequence, hash: item.hash };
    return item;
  });
  return { items, head };
};

const { items, head } = chainOf("acc_1", 5);
const pkAt = (index: number): string => items[index]?.pk ?? "";
const withThird = (change: object): readonly StoredAuditItem[] =>
  items.map((item, index) => (index === 2 ? { ...item, ...change } : item));
const without = (...indexes: readonly number[]) => items.filter((_, index) => !indexes.includes(index));

test("an untouched chain has no problem, whatever the order of its items and of their attributes", () => {
  const turned = items.map((item) => ({ pk: item.pk, ...Object.fromEntries(Object.entries(item).toReversed()) }));
  expect(verifyChain(turned.toReversed(), head)).toEqual([]);
  expect(verifyChain([], { count: 0, hash: "" })).toEqual([]);
});

/** The chain again with another third entry, as one who can compute hashes would write it. */
const rewritten = (): readonly StoredAuditItem[] => {
  let end: AuditHead = { count: 0, hash: "" };
  return items.map(({ sequence: _, previous: __, hash: ___, ...entry }, index) => {
    const item = linkEntry({ ...entry, ...(index === 2 && { by: "eve" }) }, end, "ledger");
    end = { count: item.sequence, hash: item.hash };
    return item;
  });
};

const changedThird = [{ kind: "changed", sequence: 3, pk: pkAt(2) }];
test.each<readonly [string, readonly StoredAuditItem[], readonly object[]]>([
  ["a changed field", withThird({ details: { amount: 3, id: "GTB-1" } }), changedThird],
  ["a changed time", withThird({ created_at: "2026-11-23T11:00:00.000Z" }), changedThird],
  ["a changed actor", withThird({ by: "eve" }), changedThird],
  ["a removed entry in the middle", without(2), [{ kind: "removed", sequence: 3 }]],
  ["a removed last entry", without(4), [{ kind: "removed", sequence: 5 }]],
  ["a removed first entry", without(0), [{ kind: "removed", sequence: 1 }]],
  [
    "two entries with swapped numbers",
    items.map((item, index) => ({ ...item, ...(index === 1 && { sequence: 3 }), ...(index === 2 && { sequence: 2 }) })),
    [
      { kind: "changed", sequence: 2, pk: pkAt(2) },
      { kind: "changed", sequence: 3, pk: pkAt(1) },
      { kind: "out_of_order", sequence: 4, pk: pkAt(3) },
    ],
  ],
  [
    "a forged entry behind the last",
    [...items, linkEntry({ pk: "audit#forged" }, head, "ledger")],
    [{ kind: "not_in_chain", pk: "audit#forged" }],
  ],
  [
    "a forged entry with the number and predecessor of another",
    [...items, linkEntry({ pk: "audit#forged" }, { count: 2, hash: items[1]?.hash ?? "" }, "ledger")],
    [{ kind: "not_in_chain", sequence: 3, pk: "audit#forged" }],
  ],
  [
    "an entry copied from another account",
    [...without(2), ...chainOf("acc_2", 3).items.slice(2)],
    [
      { kind: "out_of_order", sequence: 3, pk: chainOf("acc_2", 3).items[2]?.pk },
      { kind: "out_of_order", sequence: 4, pk: pkAt(3) },
    ],
  ],
  [
    "a chain that was rewritten with right hashes, but not its head",
    rewritten(),
    [{ kind: "head_differs", sequence: 5 }],
  ],
])("%s is found", (_, stored, problems) => {
  expect(verifyChain(stored, head)).toEqual(problems);
});
