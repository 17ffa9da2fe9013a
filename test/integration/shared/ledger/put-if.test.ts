import { expect, test } from "vitest";
import { putIf } from "../../../../shared/ledger/put-if.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";

test("an item is put if its condition holds, and an error that is not about the condition is thrown", async () => {
  const { db, cacheTable: table } = await freshTables();
  const ifAbsent = { ConditionExpression: "attribute_not_exists(pk)" };
  expect(await putIf({ db, table }, { pk: "one" }, ifAbsent)).toBe(true);
  expect(await putIf({ db, table }, { pk: "one" }, ifAbsent)).toBe(false);
  await expect(putIf({ db, table: "absent" }, { pk: "one" }, ifAbsent)).rejects.toThrow(
    expect.objectContaining({ name: "ResourceNotFoundException" }),
  );
});
