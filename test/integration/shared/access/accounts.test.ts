import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { AccountError, findAccount } from "../../../../shared/access/account-store.ts";
import { createKey, revokeKey, setAccountStatus, setWhitelist } from "../../../../shared/access/accounts.ts";
import { type AccessFixture, admissionCode, OFFICE, openAccess } from "../../../builders/access.ts";

let access: AccessFixture;
beforeAll(async () => {
  access = await openAccess();
});
beforeEach(() => access.reset());
afterAll(() => access.proxy.stop());

test("no part of a key's secret is in any table", async () => {
  const { key } = await access.anAccount();
  const secretPart = key.slice(5, 37);
  for (const TableName of [access.tables.accessTable, access.tables.ledgerTable]) {
    const { Items = [] } = await access.tables.db.send(new ScanCommand({ TableName }));
    expect(Items.length).toBeGreaterThan(0);
    expect(JSON.stringify(Items)).not.toContain(secretPart);
  }
});

test("of 10 changes at once, each that succeeded is in the account, and its key says the same", async () => {
  const { key, accountId } = await access.anAccount();
  const changes = Array.from({ length: 10 }, (_, index) =>
    setWhitelist(access.store, accountId, [OFFICE, `198.51.100.${index}`]),
  );
  const succeeded = (await Promise.allSettled(changes)).filter(({ status }) => status === "fulfilled").length;
  expect(succeeded).toBeGreaterThan(0);
  const account = await findAccount(access.store, accountId);
  // Made with version 1, raised by its key, and by each change.
  expect(account?.version).toBe(2 + succeeded);
  const address = account?.whitelist[1] ?? "";
  expect(await admissionCode(access.withKey(key, { sourceIp: address }))).toBe("admitted");
  expect((await access.keyItem(key)).whitelist?.size).toBe(2);
});

test("a change of an account or a key that does not exist is an AccountError and creates nothing", async () => {
  const { accountId } = await access.anAccount();
  await expect(createKey(access.store, "acc_none", { mode: "live" })).rejects.toThrow(AccountError);
  await expect(setAccountStatus(access.store, "acc_none", "restricted")).rejects.toThrow(AccountError);
  await expect(revokeKey(access.store, accountId, "key_none")).rejects.toThrow(AccountError);
  expect(await findAccount(access.store, "acc_none")).toBeUndefined();
});
