import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { revokeKey, setAccountStatus, setWhitelist } from "../../../../shared/access/accounts.ts";
import { type AccessFixture, admissionCode, OFFICE, openAccess } from "../../../builders/access.ts";

let access: AccessFixture;
beforeAll(async () => {
  access = await openAccess();
});
beforeEach(() => access.reset());
afterAll(() => access.proxy.stop());

test("of 10 simultaneous changes each that succeeds raises the version, and the key's item has the account's whitelist", async () => {
  const { key, accountId } = await access.anAccount();
  const changes = Array.from({ length: 10 }, (_, index) =>
    setWhitelist(access.store, accountId, [OFFICE, `198.51.100.${index}`]),
  );
  const succeeded = (await Promise.allSettled(changes)).filter(({ status }) => status === "fulfilled").length;
  expect(succeeded).toBeGreaterThan(0);
  const account = await access.account(accountId);
  // Made with version 1, raised by its key, and by each change.
  expect(account.version).toBe(2 + succeeded);
  const address = account.whitelist[1] ?? "";
  expect(await admissionCode(access.withKey(key, { sourceIp: address }))).toBe("admitted");
  expect((await access.keyItem(key)).whitelist?.size).toBe(2);
});

test("a restriction reaches all 120 keys of an account, most of which are revoked", async () => {
  const { key, keyId, accountId } = await access.anAccount();
  const restore = await access.rememberItem(key);
  await revokeKey(access.store, accountId, keyId);
  const ended = await access.account(accountId);
  const [first] = ended.keys;
  if (first === undefined) throw new Error("The account has no key");
  const others = Array.from({ length: 119 }, (_, index) => ({
    ...first,
    key_id: `key_${index}`,
    hash: `hash-${index}`,
  }));
  const Item = { ...ended, keys: [...others, first] };
  await access.tables.db.put({ TableName: access.tables.ledgerTable, Item });
  await restore();
  await setAccountStatus(access.store, accountId, "restricted");
  expect(await admissionCode(access.withKey(key))).toBe("account_restricted");
});
