import { beforeEach, expect, test, vi } from "vitest";
import { checkReferenceKey, OtherReferenceKeyError } from "../../../../shared/ledger/reference-key.ts";
import { REFERENCE_KEY_PK } from "../../../../shared/ledger/schema.ts";
import { loadKeyedHashes } from "../../../../shared/platform/keyed-hashes.ts";
import { beforeNext } from "../../../builders/dynamodb/another-process.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { openFaultyLedger } from "../../../builders/ledger/faulty-ledger.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";

const [KEY, OTHER] = ["k".repeat(43), "o".repeat(43)];
let ledger: Parameters<typeof checkReferenceKey>[0];
beforeEach(async () => {
  const { db, ledgerTable } = await freshTables();
  ledger = { db, table: ledgerTable };
});

/** The hashes of a process whose secret has these values, one after the other. */
const load = (first: "record" | "ignore", ...values: readonly string[]) => {
  const rest = [...values];
  const value = async () => (rest.length > 1 ? rest.shift() : rest[0]);
  return loadKeyedHashes({ value, refetch: value }, checkReferenceKey(ledger, first));
};
const storedKey = async () => (await ledger.db.get({ TableName: ledger.table, Key: { pk: REFERENCE_KEY_PK } })).Item;

test("the first key that may place orders becomes the ledger's, and another one is refused with an alarm", async () => {
  const log = captureLog();
  const put = vi.spyOn(ledger.db, "put");
  await load("ignore", OTHER)();
  expect(await storedKey()).toBeUndefined();
  await load("record", KEY)();
  await load("record", KEY)();
  await load("ignore", KEY)();
  expect(log.text()).toBe("");
  for (const first of ["record", "ignore"] as const) {
    await expect(load(first, OTHER)()).rejects.toThrow(OtherReferenceKeyError);
  }
  expect(log.lines("reference_key.differs")).not.toEqual([]);
  expect(put).toHaveBeenCalledTimes(1);
  expect(JSON.stringify(await storedKey())).not.toContain(KEY);
});

test("of two keys that a new ledger meets at the same time the one that is written first becomes the ledger's", async () => {
  beforeNext(ledger.db, "put", load("record", OTHER));
  await expect(load("record", KEY)()).rejects.toThrow(OtherReferenceKeyError);
  await load("record", OTHER)();
});

test("a process that met another key takes the ledger's own once the secret has it again", async () => {
  await load("record", KEY)();
  const keyedHashes = load("record", OTHER, KEY);
  await expect(keyedHashes()).rejects.toThrow(OtherReferenceKeyError);
  expect((await keyedHashes()).keyHash()).toBe((await load("record", KEY)()).keyHash());
});

test("a key that cannot be recorded is not used: another process may record another one", async () => {
  const faulty = await openFaultyLedger();
  faulty.reset();
  faulty.proxy.fault = ({ operation }) => (operation === "PutItem" ? "never_arrives" : undefined);
  const value = async () => KEY;
  await expect(loadKeyedHashes({ value, refetch: value }, checkReferenceKey(faulty, "record"))()).rejects.toThrow();
  await faulty.proxy.stop();
  vi.restoreAllMocks();
});
