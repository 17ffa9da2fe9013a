import { expect, test } from "vitest";
import { replaceFields } from "../../../../shared/ledger/replace-fields.ts";
import { freshTables } from "../../../builders/tables.ts";

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
