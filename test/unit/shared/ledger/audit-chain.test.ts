import { expect, test } from "vitest";
import { type Attestation, type AuditItem, chainVerifier, linkEntry } from "../../../../shared/ledger/audit-chain.ts";
import { attestationsPk, entriesPk, sequenceKey } from "../../../../shared/ledger/schema.ts";

const NOW_MS = Date.parse("2026-11-23T13:00:00.000Z");

const chainOf = (auditLog: string, entries: readonly object[]) => {
  let newest: { readonly sequence: string; readonly hash: string } | undefined;
  return entries.map((entry) => {
    newest = linkEntry({ pk: entriesPk(auditLog), ...entry }, newest);
    return { created_at: "", previous: "", ...newest, pk: entriesPk(auditLog) };
  });
};
const entry = (index: number) => ({
  ...{ by: "ada", action: "wallet fund", details: { amount: index, id: "GTB-1" } },
  created_at: `2026-11-23T12:00:0${index}.000Z`,
});
const five = [0, 1, 2, 3, 4].map(entry);
const items = chainOf("acc_1", five);
const attestationsOf = (entries: typeof items) =>
  entries.map(({ sequence, hash }) => ({ pk: attestationsPk("acc_1"), sequence, hash }));
const attested = attestationsOf(items);
const withThird = (change: object): readonly AuditItem[] =>
  items.map((item, index) => (index === 2 ? { ...item, ...change } : item));
const without = (...indexes: readonly number[]) => items.filter((_, index) => !indexes.includes(index));
const at = (...places: readonly number[]) => places.map(sequenceKey);

/** What the verifier finds of these, place by place. */
const verifyChain = (stored: readonly AuditItem[], attestations: readonly Attestation[], nowMs: number) => {
  const verifyPlace = chainVerifier(nowMs);
  const keys = new Set([...stored, ...attestations].map(({ sequence }) => sequence));
  return [...keys].toSorted().flatMap((sequence) =>
    verifyPlace({
      sequence,
      item: stored.find((item) => item.sequence === sequence),
      attested: attestations.find((each) => each.sequence === sequence),
    }),
  );
};

test("an untouched chain has no problem, whatever the order of its attributes", () => {
  const turned = items.map((item) => ({ ...item, ...Object.fromEntries(Object.entries(item).toReversed()) }));
  expect(verifyChain(turned, attested, NOW_MS)).toEqual([]);
  expect(verifyChain([], [], NOW_MS)).toEqual([]);
});

test("an entry's hash is of all that it has, whatever its order, and stays the same from release to release", () => {
  const known = { pk: "entries#acc_1", by: "ada", details: { plans: [{ b: 1, a: null }], amount: 5 } };
  expect(linkEntry(known, undefined).hash).toBe("H_3-nLvDDY-yFvPZU4zCiTrl37N1tc5gCOVRJ53DBFM");
});

test("an entry that nothing attested is a problem after 15 minutes", () => {
  const late = five.map((each) => ({ ...each, created_at: "2026-11-23T12:45:00.000Z" }));
  const chain = chainOf("acc_1", late);
  expect(verifyChain(chain, attestationsOf(chain).slice(0, 4), NOW_MS - 1)).toEqual([]);
  expect(verifyChain(chain, attestationsOf(chain).slice(0, 4), NOW_MS)).toEqual([
    { kind: "not_attested", sequence: sequenceKey(5) },
  ]);
});

/** The chain again with another third entry, as a person who can compute hashes would write it. */
const rewritten = chainOf(
  "acc_1",
  five.map((each, index) => (index === 2 ? { ...each, by: "eve" } : each)),
);
/** The last entry again with right hashes: entry and end of the chain together. */
const otherLast = chainOf(
  "acc_1",
  five.map((each, index) => (index === 4 ? { ...each, by: "eve" } : each)),
);
const { hash: _, ...unhashed } = items[2] ?? { hash: "", pk: "", sequence: "" };

test.each<readonly [edit: string, stored: readonly AuditItem[], kind: string, places: readonly string[]]>([
  ["a changed field", withThird({ details: { amount: 3, id: "GTB-1" } }), "changed", at(3)],
  ["a changed time", withThird({ created_at: "2026-11-23T11:00:00.000Z" }), "changed", at(3)],
  ["a changed actor", withThird({ by: "eve" }), "changed", at(3)],
  ["a field without a value", withThird({ why: null }), "changed", at(3)],
  ["a removed entry in the middle", without(2), "removed", at(3)],
  ["a removed first entry", without(0), "removed", at(1)],
  ["the removed last entries", without(3, 4), "removed", at(4, 5)],
  ["all entries removed", [], "removed", at(1, 2, 3, 4, 5)],
  [
    "two entries with swapped places",
    items.map((item, index) => ({ ...item, sequence: sequenceKey([1, 3, 2, 4, 5][index] ?? 0) })),
    "changed",
    at(2, 3),
  ],
  ["an entry without its hash", items.map((item, index) => (index === 2 ? unhashed : item)), "changed", at(3)],
  [
    "an entry of another log in its place",
    items.map((item, index) => (index === 2 ? (chainOf("acc_2", five)[2] ?? item) : item)),
    "changed",
    at(3),
  ],
  ["a last entry that was overwritten with the right hashes", otherLast, "changed", at(5)],
  ["a chain that was written again with the right hashes", rewritten, "changed", at(3, 4, 5)],
])("%s is found", (_edit, stored, kind, places) => {
  expect(verifyChain(stored, attested, NOW_MS)).toEqual(places.map((sequence) => ({ kind, sequence })));
});

test("stored and attested keys that are no place are found, and a gap is one problem however wide it is", () => {
  const far = { ...linkEntry({ ...entry(5), pk: entriesPk("acc_1") }, undefined), pk: entriesPk("acc_1") };
  expect(
    verifyChain(
      [...items, { ...far, sequence: "!" }, { ...far, sequence: "9999999999" }],
      [...attested, { pk: attestationsPk("acc_1"), sequence: "00000002.5", hash: "" }],
      NOW_MS - 3_600_000,
    ),
  ).toEqual([
    { kind: "misplaced", sequence: "!" },
    { kind: "misplaced", sequence: "00000002.5" },
    { kind: "gap", sequence: sequenceKey(6), until: "9999999998" },
    // Its hash is of another place.
    { kind: "changed", sequence: "9999999999" },
  ]);
});

test("without attestations only the chain tells: an entry that was written again shows by its successor", () => {
  const young = NOW_MS - 3_600_000;
  expect(verifyChain(withThird(rewritten[2] ?? {}), [], young)).toEqual([
    { kind: "out_of_order", sequence: sequenceKey(4) },
  ]);
  expect(verifyChain(rewritten, [], young)).toEqual([]);
  // Nothing tells what the one behind it must follow.
  const unread = items.map((item, index) => (index === 2 ? unhashed : item));
  expect(verifyChain(unread, [], young)).toEqual([{ kind: "changed", sequence: sequenceKey(3) }]);
});
