import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { streamConsumers } from "../../../../infra/streams.ts";
import { attestEntries } from "../../../../shared/audit-stream/attest-entries.ts";
import { copyEntries } from "../../../../shared/audit-stream/copy-entries.ts";
import { streamBatchHandler } from "../../../../shared/lambda/stream-handler.ts";
import { readAudit, readAuditPage, recordAudit, verifyAudit } from "../../../../shared/ledger/audit.ts";
import { type AuditItem, linkEntry, readNewestFirst } from "../../../../shared/ledger/audit-chain.ts";
import { type CopiedEntry, copiedEntry } from "../../../../shared/ledger/copied-entry.ts";
import type { AuditedLedger } from "../../../../shared/ledger/ledger.ts";
import { attestationsPk, entriesPk, placeOf, sequenceKey } from "../../../../shared/ledger/schema.ts";
import type { WithSdk } from "../../../../shared/platform/aws/sdk.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { consumeStream } from "../../../../tools/local/stream-consumer.ts";
import { recordCalls, type SdkCall } from "../../../builders/aws/recorded-calls.ts";
import { dynamodbEndpoint } from "../../../builders/dynamodb/emulator.ts";
import { addStream, freshTables } from "../../../builders/dynamodb/tables.ts";
import { dynamoDbRequests } from "../../../builders/iam/dynamodb-requests.ts";
import { evaluate } from "../../../builders/iam/evaluate.ts";
import { arnOf } from "../../../builders/iam/resolve.ts";
import { stagePolicies } from "../../../builders/iam/roles.ts";
import { openOperatorLedger } from "../../../builders/ledger/operator-ledger.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { eventually } from "../../../builders/run/eventually.ts";
import { templatesOf } from "../../../builders/templates/templates.ts";

/** Goal: an entry that is changed with the permissions of a role that writes entries is noticed, and stays provable. */
let ledger: AuditedLedger & WithSdk;
let auditLog: string;
let stopConsumers: readonly (() => Promise<void>)[];
/** The keys of the copies of entries, which nobody can remove. */
const copies = new Set<string>();
const copiesOf = (log: string): readonly CopiedEntry[] =>
  [...copies]
    .toSorted()
    .map(copiedEntry)
    .filter((copy) => copy.auditLog === log);
const folder = mkdtempSync(join(tmpdir(), "attest-"));
beforeAll(async () => {
  ledger = (await openOperatorLedger()).ledgerAt();
  await addStream(ledger.db, ledger.auditTable);
  const attest = streamBatchHandler("audit.attested", attestEntries({ db: ledger.db, table: ledger.auditTable }));
  const copy = streamBatchHandler(
    "audit.copied",
    copyEntries(async (key) => copies.size < copies.add(key).size),
  );
  const consumers = (["attestations", "copies"] as const).map((name) => {
    const { consumer: functionName, ...spec } = streamConsumers[name];
    const handler = { attestations: attest, copies: copy }[name];
    return consumeStream({
      ...{ ...spec, endpoint: dynamodbEndpoint, table: ledger.auditTable, functionName, pollMs: 100 },
      // A batch may be handled twice.
      invoke: (_name, event) =>
        recordCalls({ canned: {}, onCall: asAttestAudit }, async () => {
          await handler(event);
          return handler(event);
        }),
      checkpointPath: join(folder, `${name}.json`),
    });
  });
  stopConsumers = consumers.map(({ stop }) => stop);
  await Promise.all(consumers.map(({ ready }) => ready));
});
afterAll(async () => {
  await Promise.all(stopConsumers.map((stop) => stop()));
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  auditLog = `acc_${randomUUID().slice(0, 8)}`;
});

const role = stagePolicies(templatesOf("prod")).functions.get("attest-audit") ?? [];
/** The calls of the function to AWS, and whether its role allows them. */
const calls = new Map<string, boolean>();
const asAttestAudit = ({ operation, input }: SdkCall): void => {
  const requests = dynamoDbRequests(operation, input, () => arnOf("AWS::DynamoDB::Table", "Audit"));
  const isAllowed = requests.every((request) => evaluate(role, request) === "allowed");
  calls.set(operation, isAllowed && (calls.get(operation) ?? true));
};

const itemsAt = async (pk: string): Promise<readonly AuditItem[]> => {
  const items: AuditItem[] = [];
  for await (const item of readNewestFirst({ db: ledger.db, table: ledger.auditTable }, pk)) items.unshift(item);
  return items;
};
/** Five entries, all attested. */
const fiveEntries = async (): Promise<readonly AuditItem[]> => {
  for (let amount = 1; amount <= 5; amount += 1) {
    await recordAudit(ledger, { audit_log: auditLog, by: "ada", action: "wallet fund", details: { amount } });
  }
  await eventually(async () => expect(await itemsAt(attestationsPk(auditLog))).toHaveLength(5));
  await eventually(() => expect(copiesOf(auditLog)).toHaveLength(5));
  return itemsAt(entriesPk(auditLog));
};
const put = (Item: AuditItem) => ledger.db.put({ TableName: ledger.auditTable, Item });
const remove = ({ pk, sequence }: AuditItem) =>
  ledger.db.delete({ TableName: ledger.auditTable, Key: { pk, sequence } });
const set = (item: AuditItem, changes: Partial<AuditItem>) => put({ ...item, ...changes });
const without = ({ sequence: _, previous: __, hash: ___, ...entry }: AuditItem) => entry;
const linkOf = ({ sequence, hash }: AuditItem) => ({ sequence, hash: String(hash) });
/** The entries from this place on again, with right hashes: the first of them by another person. */
const writeAgain = async (items: readonly AuditItem[], from: number): Promise<void> => {
  let newest = items[from - 2];
  for (const [index, item] of items.slice(from - 1).entries()) {
    const entry = { ...without(item), ...(index === 0 && { by: "eve" }) };
    newest = { ...linkEntry(entry, newest && linkOf(newest)), pk: item.pk };
    await put(newest);
  }
};

/** The alarms on this log: a batch is handled twice, so those of the test before may still come. */
const alarmsIn = (log: ReturnType<typeof captureLog>) =>
  log.lines("audit.tampered").filter((line) => line.audit_log === auditLog);

type Edit = (items: readonly AuditItem[]) => Promise<unknown>;
type Found = readonly (readonly [kind: string, place: number])[];
const each = (kind: string, ...places: readonly number[]): Found => places.map((place) => [kind, place]);
const at = (items: readonly AuditItem[], place: number): AuditItem => {
  const item = items[place - 1];
  if (item === undefined) throw new Error(`There is no entry at ${place}`);
  return item;
};

test.each<readonly [edit: string, edit: Edit, found: Found, inCopy: Found]>([
  ["a changed actor", (items) => set(at(items, 3), { by: "eve" }), each("changed", 3), []],
  ["a changed amount", (items) => set(at(items, 3), { details: { amount: 9 } }), each("changed", 3), []],
  ["a changed time", (items) => set(at(items, 3), { created_at: "2026-11-21T00:00:00.000Z" }), each("changed", 3), []],
  ["a changed hash", (items) => set(at(items, 3), { hash: "x" }), each("changed", 3), each("only_in_copy", 3)],
  ["a removed entry", (items) => remove(at(items, 3)), each("removed", 3), each("only_in_copy", 3)],
  ["a removed last entry", (items) => remove(at(items, 5)), each("removed", 5), each("only_in_copy", 5)],
  [
    "two entries that changed places",
    async (items) => {
      await put({ ...at(items, 2), sequence: sequenceKey(3) });
      await put({ ...at(items, 3), sequence: sequenceKey(2) });
    },
    each("changed", 2, 3),
    each("differs_from_copy", 2, 3),
  ],
  [
    "an overwritten last entry with the right hash",
    (items) => writeAgain(items, 5),
    each("changed", 5),
    each("differs_from_copy", 5),
  ],
  [
    "the end of the chain written again with the right hashes",
    (items) => writeAgain(items, 3),
    each("changed", 3, 4, 5),
    each("differs_from_copy", 3, 4, 5),
  ],
  [
    "a log of which everything is removed",
    async (items) => {
      for (const item of items) await remove(item);
    },
    each("removed", 1, 2, 3, 4, 5),
    each("only_in_copy", 1, 2, 3, 4, 5),
  ],
  [
    "an entry and its attestation, both changed",
    async (items) => {
      await writeAgain(items, 5);
      const [last] = (await itemsAt(entriesPk(auditLog))).slice(-1);
      await put({ pk: attestationsPk(auditLog), sequence: sequenceKey(5), hash: last?.hash });
    },
    // Nobody may write both: only the alarms and the copy are left.
    [],
    each("differs_from_copy", 5),
  ],
])(
  "%s raises an alarm for each change, and audit verify names the places, also those that differ from the copy",
  async (_name, edit, found, inCopy) => {
    const log = captureLog();
    await edit(await fiveEntries());
    const places = found.length > 0 ? found.map(([, place]) => place) : [5];
    await eventually(() =>
      expect(new Set(alarmsIn(log).map(({ sequence }) => sequence))).toEqual(new Set(places.map(sequenceKey))),
    );
    const { problems } = await verifyAudit(ledger, auditLog);
    const problemsOf = (expected: Found) => expected.map(([kind, place]) => ({ kind, sequence: sequenceKey(place) }));
    expect(problems).toEqual(problemsOf(found));
    const copy = { entries: copiesOf(auditLog), beganAt: isoTime(ledger.clock()), readAtMs: ledger.clock() };
    const compared = await verifyAudit(ledger, auditLog, copy);
    expect(compared.problems).toEqual(problemsOf([...found, ...inCopy]));
  },
);

test("an item that is no entry, under the key of the next one, raises an alarm and does not stop the others", async () => {
  const log = captureLog();
  await put({ pk: entriesPk(auditLog), sequence: sequenceKey(1), by: "eve" });
  await recordAudit(ledger, { audit_log: `${auditLog}0`, by: "ada", action: "wallet fund" });
  await eventually(async () => expect(await itemsAt(attestationsPk(`${auditLog}0`))).toHaveLength(1));
  await eventually(() => expect(alarmsIn(log)[0]).toMatchObject({ change: "unreadable" }));
  expect((await verifyAudit(ledger, auditLog)).problems).toEqual([{ kind: "changed", sequence: sequenceKey(1) }]);
});

/** An entry with right hashes that continues another one, under any key: a role that puts entries can write it. */
const forged = (predecessor: AuditItem, sequence: string): AuditItem => {
  const { hash } = linkOf(predecessor);
  const place = placeOf(sequence) ?? 1;
  return {
    ...linkEntry({ ...without(predecessor), by: "eve" }, { sequence: sequenceKey(place - 1), hash }),
    ...{ pk: predecessor.pk, sequence },
  };
};
const change = (amount: number) =>
  recordAudit(ledger, { audit_log: auditLog, by: "ada", action: "wallet fund", details: { amount } });

test("entries under keys that are no place raise alarms, are not attested, and hide no changed entry from audit verify", async () => {
  const misplaced = ["0000000002.5", "0000000002a", "00000000020", "!", "zzz", "\u00e9", "0000000000"];
  const log = captureLog();
  const items = await fiveEntries();
  for (const sequence of misplaced) await put(forged(at(items, 2), sequence));
  await set(at(items, 3), { by: "eve" });
  await eventually(() => expect(alarmsIn(log)).toContainEqual(expect.objectContaining({ change: "changed" })));
  const alarms = misplaced.map((sequence) => expect.objectContaining({ sequence, change: "misplaced" }));
  expect(alarmsIn(log)).toEqual(expect.arrayContaining(alarms));
  expect(await itemsAt(attestationsPk(auditLog))).toHaveLength(5);
  const { problems } = await verifyAudit(ledger, auditLog);
  const expected = misplaced.map((sequence) => ({ kind: "misplaced", sequence }));
  expect(new Set(problems)).toEqual(new Set([...expected, { kind: "changed", sequence: sequenceKey(3) }]));
});

test.each<readonly [item: string, sequence: string, problems: (sequence: string) => readonly object[]]>([
  ["a last entry", "9999999999", () => [{ kind: "gap", sequence: sequenceKey(9), until: "9999999998" }]],
  ["an entry", "zzz", (sequence) => [{ kind: "misplaced", sequence }]],
])("people go on changing an account after %s was put under the key %s", async (_item, sequence, problems) => {
  const log = captureLog();
  const items = await fiveEntries();
  await put(forged(at(items, 5), sequence));
  for (const amount of [6, 7, 8]) await change(amount);
  await eventually(async () => expect(await itemsAt(attestationsPk(auditLog))).toHaveLength(8));
  expect(new Set(alarmsIn(log).map((line) => line.sequence))).toEqual(new Set([sequence]));
  expect((await verifyAudit(ledger, auditLog)).problems).toEqual(problems(sequence));
  expect((await readAudit(ledger, auditLog)).map(({ details }) => details.amount)).toEqual(
    expect.arrayContaining([1, 2, 3, 4, 5, 6, 7, 8]),
  );
});

test("people go on changing an account after an item that is no entry was put in the next place", async () => {
  const log = captureLog();
  const items = await fiveEntries();
  await put({ pk: at(items, 5).pk, sequence: sequenceKey(6), hash: "x".repeat(300_000) });
  for (const amount of [7, 8]) await change(amount);
  await eventually(async () => expect(await itemsAt(attestationsPk(auditLog))).toHaveLength(7));
  expect(alarmsIn(log)[0]).toMatchObject({ sequence: sequenceKey(6), change: "unreadable" });
  expect((await verifyAudit(ledger, auditLog)).problems).toEqual([{ kind: "changed", sequence: sequenceKey(6) }]);
  expect(await readAuditPage(ledger, { auditLog }, undefined)).toMatchObject({ entries: { length: 7 } });
});

test("people go on changing an account whose last entries are not attested yet", async () => {
  const items = await fiveEntries();
  // Eve takes the next two places: false entries there are part of the chain.
  const sixth = forged(at(items, 5), sequenceKey(6));
  await put(sixth);
  await put(forged(sixth, sequenceKey(7)));
  await change(8);
  expect((await itemsAt(entriesPk(auditLog))).at(-1)).toMatchObject({ sequence: sequenceKey(8), by: "ada" });
  expect((await verifyAudit(ledger, auditLog)).problems).toEqual([]);
});

test("an entry that does not continue the attested one before it, or skips a place, raises an alarm", async () => {
  const log = captureLog();
  const items = await fiveEntries();
  const sixth = forged(at(items, 4), sequenceKey(6));
  await put(sixth);
  await put(forged(sixth, sequenceKey(8)));
  const alarms = [6, 8].map((place) =>
    expect.objectContaining({ sequence: sequenceKey(place), change: "out_of_order" }),
  );
  await eventually(() => expect(alarmsIn(log)).toEqual(expect.arrayContaining(alarms)));
  expect((await verifyAudit(ledger, auditLog)).problems).toEqual([
    { kind: "out_of_order", sequence: sequenceKey(6) },
    { kind: "gap", sequence: sequenceKey(7), until: sequenceKey(7) },
  ]);
});

test("after tens of thousands of entries whose changes the stream has lost, the next ones are attested, and continue them", async () => {
  const log = captureLog();
  const items = await fiveEntries();
  await put(forged(at(items, 5), sequenceKey(50_000)));
  await eventually(async () => expect(await itemsAt(attestationsPk(auditLog))).toHaveLength(6));
  await change(6);
  await eventually(async () =>
    expect((await itemsAt(attestationsPk(auditLog))).at(-1)).toMatchObject({ sequence: sequenceKey(50_001) }),
  );
  expect(new Set(alarmsIn(log).map(({ sequence }) => sequence))).toEqual(new Set([sequenceKey(50_000)]));
});

test("an entry whose place was attested with another hash before raises an alarm, and the first hash stays", async () => {
  const log = captureLog();
  await fiveEntries();
  const attestation = { pk: attestationsPk(auditLog), sequence: sequenceKey(6), hash: "A".repeat(43) };
  await put(attestation);
  await change(6);
  await eventually(() =>
    expect(alarmsIn(log)[0]).toMatchObject({ sequence: sequenceKey(6), change: "attested_before" }),
  );
  expect((await itemsAt(attestation.pk)).at(-1)).toEqual(attestation);
  expect((await verifyAudit(ledger, auditLog)).problems).toEqual([{ kind: "changed", sequence: sequenceKey(6) }]);
});

test("an entry whose hash cannot be kept fails its batch, which is repeated", async () => {
  const { db, auditTable: table } = await freshTables();
  vi.spyOn(db, "put").mockRejectedValueOnce(new Error("No answer"));
  const attest = attestEntries({ db, table });
  const changes = [{ before: undefined, after: { ...linkEntry({ by: "ada" }, undefined), pk: entriesPk(auditLog) } }];
  await expect(attest(changes)).rejects.toThrow("No answer");
  expect(await attest(changes)).toEqual({ changes: 1, attested: 1 });
});

test("attestations of places without an entry do not stop people from changing an account", async () => {
  await fiveEntries();
  for (const sequence of ["9999999999", "zzz"]) {
    await put({ pk: attestationsPk(auditLog), sequence, hash: "A".repeat(43) });
  }
  for (const amount of [6, 7]) await change(amount);
  expect((await itemsAt(entriesPk(auditLog))).map(({ sequence }) => sequence)).toEqual(
    [1, 2, 3, 4, 5, 6, 7].map(sequenceKey),
  );
});

test("the role of the function allows each call that it made in these tests", () => {
  expect([...calls].toSorted()).toEqual([
    ["Put", true],
    ["Query", true],
  ]);
});
