import { expect, test } from "vitest";
import { replaceFields } from "../../../../shared/ledger/replace-fields.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { faultyLedgerForTests } from "../../../builders/ledger/faulty-ledger.ts";

const ledger = await faultyLedgerForTests();

test("fields are replaced and removed together if none has changed, and an error that is not about them is thrown", async () => {
  const { db, cacheTable: table } = await freshTables();
  const stored = async () => (await db.get({ TableName: table, Key: { pk: "one" } })).Item;
  await db.put({ TableName: table, Item: { pk: "one", kept: 1, name: "ada", size: 3 } });
  const change = { name: { from: "ada", to: "eve" }, size: { from: 3 } };
  expect(await replaceFields({ db, table }, "one", { ...change, size: { from: 4 } })).toBe(false);
  expect(await stored()).toEqual({ pk: "one", kept: 1, name: "ada", size: 3 });
  expect(await replaceFields({ db, table }, "one", change)).toBe(true);
  expect(await stored()).toEqual({ pk: "one", kept: 1, name: "eve" });
  expect(await replaceFields({ db, table }, "one", { name: { from: "eve", to: "bob" } })).toBe(true);
  expect(await replaceFields({ db, table }, "one", { name: { from: "bob" } })).toBe(true);
  expect(await stored()).toEqual({ pk: "one", kept: 1 });
  await expect(replaceFields({ db, table: "absent" }, "one", change)).rejects.toThrow(
    expect.objectContaining({ name: "ResourceNotFoundException" }),
  );
});

test("a replacement whose answer was lost and that the SDK repeats is done, and one that another write came before is not", async () => {
  const { db, table } = ledger;
  await db.put({ TableName: table, Item: { pk: "one", name: "ada", size: 3, roles: ["viewer"] } });
  const change = { name: { from: "ada", to: "eve" }, roles: { from: ["viewer"], to: ["editor"] }, size: { from: 3 } };
  ledger.firstTries(1, "answer_lost");
  expect(await replaceFields(ledger, "one", change)).toBe(true);
  // Of two runs at once, one has made it.
  expect(await replaceFields(ledger, "one", change)).toBe(false);
  ledger.firstTries(1, "never_arrives");
  expect(await replaceFields(ledger, "one", { ...change, name: { from: "ada", to: "bob" } })).toBe(false);
  expect(await replaceFields(ledger, "absent", { size: { from: 3 } })).toBe(false);
});
