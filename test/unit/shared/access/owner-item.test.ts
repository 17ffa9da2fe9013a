import { expect, test } from "vitest";
import { type Owner, ownerWrites, owns, pkOfOwner } from "../../../../shared/access/owner-item.ts";

const ada: Owner = { kind: "email", value: "ada@example.com" };
const ops: Owner = { kind: "group", value: "Ops" };

test("an owner is the same in other capitals of the address, but not of the group's name", () => {
  expect(pkOfOwner({ ...ada, value: "Ada@Example.com" })).toBe(pkOfOwner(ada));
  expect(owns({ email: ada.value, groups: [] }, { owners: [{ ...ada, value: "Ada@Example.com" }] })).toBe(true);
  expect(owns({ groups: ["ops"] }, { owners: [ops] })).toBe(false);
  expect(owns({ email: "eve@example.com", groups: [] }, { owners: [ada, ops] })).toBe(false);
  expect(pkOfOwner({ ...ops, value: "ops" })).not.toBe(pkOfOwner(ops));
  expect(pkOfOwner({ ...ops, value: ada.value })).not.toBe(pkOfOwner(ada));
});

test("a change of owners writes the items of those that come and go, and of no others", () => {
  const bola: Owner = { ...ada, value: "bola@example.com" };
  const account = (...owners: readonly Owner[]) => ({ account_id: "acc_1", owners });
  const writes = ownerWrites("ledger", account(ada, ops), account({ ...ada, value: "ADA@example.com" }, bola));
  expect(writes.map(({ Update }) => [Update?.Key, Update?.UpdateExpression])).toEqual([
    [{ pk: pkOfOwner(bola) }, "ADD accounts :account"],
    [{ pk: pkOfOwner(ops) }, "DELETE accounts :account"],
  ]);
});
