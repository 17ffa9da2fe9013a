import { describe, expect, test } from "vitest";
import { createAccount, setAccountStatus, setWhitelist } from "../../../../shared/access/accounts.ts";
import { hashApiKey } from "../../../../shared/access/api-key.ts";
import { createKey, revokeKey, revokeUnlistedKey, rotateKey } from "../../../../shared/access/keys.ts";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { OperatorError } from "../../../../shared/platform/operator-error.ts";
import { accessForTests, admissionCode, NEIGHBOUR, OFFICE } from "../../../builders/ledger/access.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

/**
 * After a restore of the ledger or the access table no command admits what was refused. A test restores an item that it
 * read before.
 */
const access = await accessForTests();

describe("after a restore of the ledger and before a reconciliation", () => {
  test("a revoked key stays refused after every change of its account", async () => {
    const { key, keyId, accountId } = await access.anAccount();
    const restore = await access.rememberAccount(accountId);
    await revokeKey(access.store, accountId, keyId);
    await restore();
    await access.allow(accountId, NEIGHBOUR);
    await setAccountStatus(access.store, accountId, "restricted");
    await setAccountStatus(access.store, accountId, "active");
    await access.disallow(accountId, NEIGHBOUR);
    await expect(rotateKey(access.store, accountId, keyId, 60 * MINUTE_MS)).rejects.toThrow(/keys reconcile/);
    expect(await access.isAdmitted(key)).toBe(false);
    expect((await access.keyItem(key)).status).toBe("revoked");
  });

  test("a rotated key keeps its end after every change of its account, and no rotation delays it", async () => {
    const { key, keyId, accountId } = await access.anAccount();
    const restore = await access.rememberAccount(accountId);
    const { expiresAt } = await rotateKey(access.store, accountId, keyId, MINUTE_MS);
    await restore();
    await access.allow(accountId, NEIGHBOUR);
    await setAccountStatus(access.store, accountId, "restricted");
    await setAccountStatus(access.store, accountId, "active");
    await expect(rotateKey(access.store, accountId, keyId, 60 * MINUTE_MS)).rejects.toThrow(/keys reconcile/);
    expect((await access.keyItem(key)).expires_at).toBe(expiresAt);
    expect(await access.isAdmitted(key)).toBe(true);
    access.nowMs = NOON_MS + MINUTE_MS;
    expect(await access.isAdmitted(key)).toBe(false);
  });

  test("an address that was removed stays refused when another one is added or removed", async () => {
    const { key, accountId } = await access.anAccount({ whitelist: [OFFICE, NEIGHBOUR] });
    const restore = await access.rememberAccount(accountId);
    await access.disallow(accountId, NEIGHBOUR);
    await restore();
    await access.allow(accountId, "198.51.100.1");
    expect([await access.isAdmitted(key, NEIGHBOUR), await access.isAdmitted(key, "198.51.100.1")]).toEqual([
      false,
      true,
    ]);
    await access.disallow(accountId, "198.51.100.1");
    expect([await access.isAdmitted(key, NEIGHBOUR), await access.isAdmitted(key)]).toEqual([false, true]);
    expect(await access.isAdmitted(key, "198.51.100.1")).toBe(false);
  });

  test("a restricted account stays restricted when an address is added", async () => {
    const { key, accountId } = await access.anAccount();
    const restore = await access.rememberAccount(accountId);
    await setAccountStatus(access.store, accountId, "restricted");
    await restore();
    await access.allow(accountId, NEIGHBOUR);
    expect(await admissionCode(access.withKey(key))).toBe("account_restricted");
  });

  test("a key that is missing from the account's list can be revoked, and is listed as revoked", async () => {
    const { accountId } = await access.anAccount();
    const restore = await access.rememberAccount(accountId);
    const { key, keyId } = await createKey(access.store, accountId, { mode: "live" });
    await restore();
    await revokeUnlistedKey(access.store, await access.keyItem(key));
    expect(await access.isAdmitted(key)).toBe(false);
    expect((await access.account(accountId)).keys).toContainEqual(
      expect.objectContaining({ key_id: keyId, hash: hashApiKey(key), status: "revoked" }),
    );
  });
});

describe("after a restore of the access table and before a reconciliation", () => {
  test("a key that the ledger has as revoked can be revoked again", async () => {
    const { key, keyId, accountId } = await access.anAccount();
    const restore = await access.rememberItem(key);
    await revokeKey(access.store, accountId, keyId);
    await restore();
    expect(await access.isAdmitted(key)).toBe(true);
    await revokeKey(access.store, accountId, keyId);
    expect(await access.isAdmitted(key)).toBe(false);
  });

  test("a restriction can be repeated and reaches every listed key, also one that the ledger has as revoked", async () => {
    const { key, keyId, accountId } = await access.anAccount();
    const restore = await access.rememberItem(key);
    await revokeKey(access.store, accountId, keyId);
    await setAccountStatus(access.store, accountId, "restricted");
    await restore();
    expect(await access.isAdmitted(key)).toBe(true);
    await setAccountStatus(access.store, accountId, "restricted");
    expect(await admissionCode(access.withKey(key))).toBe("account_restricted");
  });

  test("a key without an item makes a change fail with instructions, but not a restriction", async () => {
    const { key, keyId, accountId } = await access.anAccount();
    const other = await createKey(access.store, accountId, { mode: "live" });
    await access.deleteItem(key);
    const failure = access.allow(accountId, NEIGHBOUR);
    await expect(failure).rejects.toThrow(OperatorError);
    await expect(failure).rejects.toThrow(
      `Ledger and access table do not agree about the key ${keyId} of ${accountId}: run keys reconcile, and then this again`,
    );
    expect((await access.account(accountId)).whitelist).toEqual([OFFICE]);
    await setAccountStatus(access.store, accountId, "restricted");
    expect(await admissionCode(access.withKey(other.key))).toBe("account_restricted");
    await expect(setAccountStatus(access.store, accountId, "active")).rejects.toThrow(/keys reconcile/);
    await revokeKey(access.store, accountId, keyId);
    await setAccountStatus(access.store, accountId, "active");
    await access.allow(accountId, NEIGHBOUR);
    expect(await access.isAdmitted(other.key, NEIGHBOUR)).toBe(true);
    expect(await access.isAdmitted(key)).toBe(false);
  });
});

test("a whitelist can contain the same range in 2 spellings", async () => {
  const { key, accountId } = await access.anAccount({ whitelist: [OFFICE, `${OFFICE}/32`] });
  expect(await admissionCode(access.withKey(key))).toBe("admitted");
  expect((await access.disallow(accountId, `${OFFICE}/32`)).whitelist).toEqual([OFFICE]);
  expect(await admissionCode(access.withKey(key))).toBe("admitted");
  await setWhitelist(access.store, accountId, ["198.51.100.1/24", "198.51.100.2/24", "2001:db8::1", "2001:DB8:0::1"]);
  expect(await admissionCode(access.withKey(key, { sourceIp: "198.51.100.9" }))).toBe("admitted");
});

test("a whitelist with 21 entries or an invalid one is refused and changes nothing", async () => {
  const { key, accountId } = await access.anAccount();
  const tooMany = Array.from({ length: 21 }, (_, index) => `198.51.100.${index}`);
  for (const whitelist of [tooMany, ["198.51.100.1", "127.1"], [""], ["office.example.com"]]) {
    await expect(setWhitelist(access.store, accountId, whitelist)).rejects.toThrow(OperatorError);
    await expect(createAccount(access.store, { name: "demo", whitelist })).rejects.toThrow(OperatorError);
  }
  expect((await access.account(accountId)).whitelist).toEqual([OFFICE]);
  expect(await admissionCode(access.withKey(key))).toBe("admitted");
});
