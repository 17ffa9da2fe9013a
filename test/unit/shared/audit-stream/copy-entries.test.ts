import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { expect, test } from "vitest";
import { copyEntries } from "../../../../shared/audit-stream/copy-entries.ts";
import { linkEntry } from "../../../../shared/ledger/audit-chain.ts";
import { entriesPk, sequenceKey } from "../../../../shared/ledger/schema.ts";

const entryOf = (auditLog: string) => {
  const entry = { by: "ada", created_at: "2026-11-21T12:00:00.000Z", details: { amount: 9_500, of: [1.5] } };
  return { ...linkEntry(entry, undefined), pk: entriesPk(auditLog) };
};
/** As the stream has it. */
const changeTo = (item: object) => ({ before: undefined, after: unmarshall(marshall(item), { wrapNumbers: true }) });

test("an entry is copied once with all that was written, and nobody can add a copy under another key", async () => {
  const copies = new Map<string, unknown>();
  const copy = copyEntries(async (key, body) => copies.size < copies.set(key, JSON.parse(body)).size);
  const entry = entryOf("acc_1");
  const others = [
    { ...entry, sequence: `${sequenceKey(2)}/x` },
    { ...entry, sequence: "zzz" },
    { ...entry, hash: "../x" },
    entryOf("acc_1/../acc_2"),
    entryOf(""),
  ];
  expect(await copy([entry, entry, ...others].map(changeTo))).toEqual({ changes: 7, copied: 1 });
  expect([...copies]).toEqual([[`acc_1/${sequenceKey(1)}/${entry.hash}`, entry]]);
});

test("a copy that cannot be put fails its batch", async () => {
  const copy = copyEntries(async () => Promise.reject(new Error("No answer")));
  await expect(copy([changeTo(entryOf("acc_1"))])).rejects.toThrow("No answer");
});
