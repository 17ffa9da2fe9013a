import { describe, expect, test, vi } from "vitest";
import { findAccount } from "../../../../shared/access/account-store.ts";
import {
  changePriceRules,
  changeWhitelist,
  closeAccount,
  createAccount,
  reopenAccount,
  setAccountLimits,
  setAccountStatus,
  setDuplicateWindow,
  setEntitlements,
  setWhitelist,
} from "../../../../shared/access/accounts.ts";
import { createKey, revokeKey, revokeUnlistedKey, rotateKey, setKeyLimits } from "../../../../shared/access/keys.ts";
import { INITIAL_ENTITLEMENTS, type Permission } from "../../../../shared/contract/permission.ts";
import { routes } from "../../../../shared/contract/routes.ts";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { walletPk } from "../../../../shared/ledger/schema.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import { OperatorError } from "../../../../shared/platform/operator-error.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { emulatorClient } from "../../../builders/dynamodb/tables.ts";
import { accessForTests, admissionCode, NEIGHBOUR, OFFICE } from "../../../builders/ledger/access.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const access = await accessForTests();

test("a change of an account or a key that does not exist is refused and creates nothing", async () => {
  const { accountId } = await access.anAccount();
  await expect(createKey(access.store, "acc_none", { mode: "live" })).rejects.toThrow(OperatorError);
  await expect(setAccountStatus(access.store, "acc_none", "restricted")).rejects.toThrow(OperatorError);
  await expect(revokeKey(access.store, accountId, "key_none")).rejects.toThrow(OperatorError);
  expect(await findAccount(access.store, "acc_none")).toBeUndefined();
});

test("an account that may not be created and an unlisted key that may not be revoked are errors", async () => {
  const { key } = await access.anAccount();
  const unlisted = await access.keyItem(key);
  const store = { ...access.store, db: emulatorClient(access.proxy.endpoint) };
  access.proxy.fault = ({ operation }) => (operation === "TransactWriteItems" ? "never_arrives" : undefined);
  await expect(createAccount(store, { name: "Shop", whitelist: [] })).rejects.toThrow();
  await expect(revokeUnlistedKey(store, unlisted)).rejects.toThrow();
});

test("an account that was created although the write got no answer is returned, and is not made again", async () => {
  const store = { ...access.store, db: emulatorClient(access.proxy.endpoint) };
  access.proxy.fault = ({ operation }) => (operation === "TransactWriteItems" ? "answer_lost" : undefined);
  const { account_id } = await createAccount(store, { name: "Shop", whitelist: [] });
  expect(await access.account(account_id)).toMatchObject({ name: "Shop" });
});

test("a late copy of the write that made an account does not empty its wallet", async () => {
  const { db, ledgerTable: table } = access.tables;
  const write = vi.spyOn(db, "transactWrite");
  const { account_id } = await createAccount(access.store, { name: "Shop", whitelist: [] });
  const TransactItems = write.mock.lastCall?.[0].TransactItems;
  write.mockRestore();
  await changeItem({ db, table }, walletPk(account_id), { balance_kobo: 1 });
  await expect(db.transactWrite({ TransactItems })).rejects.toThrow("ConditionalCheckFailed");
});

test("a closing that is refused while its first copy may still land is an error, and does not say that nothing was done", async () => {
  const { accountId } = await access.anAccount();
  await setAccountStatus(access.store, accountId, "restricted");
  const { db, ledgerTable: table } = access.tables;
  const store = { ...access.store, db: emulatorClient(access.proxy.endpoint) };
  const wallet = await readWallet({ db, table, clock: () => access.nowMs }, accountId);
  await changeItem({ db, table }, walletPk(accountId), { balance_kobo: 1 });
  let writes = 0;
  access.proxy.fault = ({ operation }) => {
    if (operation !== "TransactWriteItems") return undefined;
    writes += 1;
    return writes === 1 ? "lands_late" : undefined;
  };
  await expect(closeAccount(store, wallet)).rejects.not.toBeInstanceOf(OperatorError);
  await changeItem({ db, table }, walletPk(accountId), { balance_kobo: 0 });
  await access.proxy.landLateWrites();
  expect(await access.account(accountId)).toMatchObject({ status: "closed" });
});

test("the wallet of an account is restricted with it, in the same transaction, and no change of its keys or addresses lifts that", async () => {
  const { accountId } = await access.anAccount();
  const ledger = { ...access.tables, table: access.tables.ledgerTable, clock: () => access.nowMs };
  const isRestricted = async () => (await readWallet(ledger, accountId)).restricted;
  await setAccountStatus(access.store, accountId, "restricted");
  expect(await isRestricted()).toBe(true);
  const { key } = await createKey(access.store, accountId, { mode: "live" });
  await access.allow(accountId, NEIGHBOUR);
  expect(await isRestricted()).toBe(true);
  expect(await admissionCode(access.withKey(key))).toBe("account_restricted");
  await setAccountStatus(access.store, accountId, "active");
  expect(await isRestricted()).toBeUndefined();
});

test("an account is closed and reopened once, and an active one is not changed by the end of a restriction", async () => {
  const { accountId } = await access.anAccount();
  const ledger = { ...access.tables, table: access.tables.ledgerTable, clock: () => access.nowMs };
  const { version } = await access.account(accountId);
  expect((await setAccountStatus(access.store, accountId, "active")).version).toBe(version);
  await setAccountStatus(access.store, accountId, "restricted");
  const wallet = await readWallet(ledger, accountId);
  const closed = await closeAccount(access.store, wallet);
  expect(closed).toMatchObject({ status: "closed", keys: [{ status: "revoked" }] });
  expect(await readWallet(ledger, accountId)).toMatchObject({ closed: true, restricted: true });
  expect(await closeAccount(access.store, wallet)).toEqual(closed);
  expect(await reopenAccount(access.store, accountId)).toMatchObject({ status: "restricted" });
  expect(await readWallet(ledger, accountId)).not.toHaveProperty("closed");
  await expect(reopenAccount(access.store, accountId)).rejects.toThrow("is not closed");
});

describe("the entitlements of an account", () => {
  test("a new account may buy and verify and retrieve nobody, and its keys get no permission beyond its entitlements", async () => {
    const { account_id: accountId } = await createAccount(access.store, { name: "new", whitelist: [OFFICE] });
    const create = (permission: Permission) =>
      createKey(access.store, accountId, { mode: "live", permissions: ["vtu", permission] });
    await expect(create("identity:retrieve")).rejects.toThrow("This account is not entitled to identity:retrieve");
    expect((await createKey(access.store, accountId, { mode: "live" })).permissions).toEqual([
      "vtu",
      "identity",
      "read",
    ]);

    await setEntitlements(access.store, accountId, { vtu: null });
    await expect(create("identity")).rejects.toThrow("This account is not entitled to identity");
    const { key, permissions } = await createKey(access.store, accountId, { mode: "live" });
    expect(permissions).toEqual(["vtu", "read"]);
    expect(await admissionCode(access.withKey(key))).toBe("admitted");
    expect(await admissionCode(access.withKey(key, { route: routes.verifyNin }))).toBe("permission_denied");
  });

  test("a new key has by default read and what its account is entitled to, except identity:retrieve", async () => {
    const { key } = await access.anAccount();
    expect((await access.keyItem(key)).permissions).toEqual(new Set(["vtu", "identity", "read"]));
  });

  test("a new key is named after its mode, unless it has a name, and its account keeps who made it", async () => {
    const { accountId } = await access.anAccount();
    await createKey(access.store, accountId, { mode: "test" });
    await createKey(access.store, accountId, { mode: "live", name: "Shop", by: "ada" });
    const { keys } = await access.account(accountId);
    expect(keys.map(({ name, created_by }) => [name, created_by])).toEqual([
      ["Live key", undefined],
      ["Test key", undefined],
      ["Shop", "ada"],
    ]);
  });

  test("an entitlement that is taken away is refused to each of the account's keys with the next request", async () => {
    const permissions = ["vtu", "identity"] as const;
    const { key, accountId } = await access.anAccount({ permissions });
    const other = await createKey(access.store, accountId, { mode: "test", permissions });
    await setEntitlements(access.store, accountId, { vtu: 5 });
    for (const text of [key, other.key]) {
      const admission = await access.withKey(text, { route: routes.verifyNin });
      if (!("refusal" in admission)) expect.unreachable();
      expect([admission.refusal.code, admission.refusal.message]).toEqual([
        "permission_denied",
        "This account is not entitled to identity: ask an operator of the service",
      ]);
      expect(await access.withKey(text)).toMatchObject({ caller: { entitlements: { vtu: 5 } } });
      expect(await admissionCode(access.withKey(text, { route: routes.cancelOrder }))).toBe("admitted");
    }
    await setEntitlements(access.store, accountId, { vtu: null, identity: 9 });
    expect(await access.withKey(key, { route: routes.verifyNin })).toMatchObject({
      caller: { entitlements: { vtu: null, identity: 9 } },
    });
  });

  test("entitlements that another person has changed since are not replaced", async () => {
    const { account_id: accountId } = await createAccount(access.store, { name: "new", whitelist: [] });
    const { entitlements } = await setEntitlements(access.store, accountId, { vtu: null }, INITIAL_ENTITLEMENTS);
    const refused = setEntitlements(access.store, accountId, {}, INITIAL_ENTITLEMENTS);
    await expect(refused).rejects.toThrow("Another person has changed what the account may do");
    const stored = await access.account(accountId);
    expect(stored.entitlements).toEqual(entitlements);
    // The answer was lost, and the same is sent again.
    expect(await setEntitlements(access.store, accountId, { vtu: null }, INITIAL_ENTITLEMENTS)).toEqual(stored);
  });

  test("an entitlement is taken away also while a key's item is missing", async () => {
    const { key, accountId } = await access.anAccount({ permissions: ["vtu", "identity"] });
    const lost = await createKey(access.store, accountId, { mode: "live" });
    await access.deleteItem(lost.key);
    await setEntitlements(access.store, accountId, {});
    expect(await admissionCode(access.withKey(key))).toBe("permission_denied");
  });
});

test("what an account's orders are limited by, or cost, is on the item of each key, and is removed from there with it", async () => {
  const { key, keyId, accountId } = await access.anAccount();
  const { store } = access;
  const rule = { id: "rule_1", kind: "data", from: isoTime(NOON_MS), change: { by: "none" } } as const;
  for (const version of [1, 2]) {
    expect((await changePriceRules(store, accountId, () => [rule])).price_list).toEqual({ version, rules: [rule] });
  }
  await setDuplicateWindow(store, accountId, 60);
  await setAccountLimits(store, accountId, { day_orders: 3 }, {});
  await setKeyLimits(store, accountId, keyId, { day_orders: 2 });
  const rotated = await rotateKey(store, accountId, keyId, MINUTE_MS);
  const fields = { price_list: 2, duplicate_window_s: 60, account_limits: { day_orders: 3 } };
  for (const each of [key, rotated.key]) {
    expect(await access.keyItem(each)).toMatchObject({ ...fields, key_limits: { day_orders: 2 } });
  }
  const other = await createKey(store, accountId, { mode: "live" });
  expect(await access.keyItem(other.key)).toMatchObject(fields);
  expect(await access.keyItem(other.key)).not.toHaveProperty("key_limits");
  const account = { day_orders: 3 };
  const caller = { priceList: 2, duplicateWindowS: 60, limits: { account, key: { day_orders: 2 } } };
  expect(await access.withKey(key)).toMatchObject({ caller });
  expect(await access.withKey(other.key)).toMatchObject({ caller: { ...caller, limits: { account } } });

  const changed = setAccountLimits(store, accountId, {}, { day_orders: 2 });
  await expect(changed).rejects.toThrow("Another person has changed the limits");
  await setAccountLimits(store, accountId, {}, { day_orders: 3 });
  const { version } = await access.account(accountId);
  // The answer was lost, and the same is sent again.
  expect(await setAccountLimits(store, accountId, {}, { day_orders: 3 })).toMatchObject({ version });
  await expect(setDuplicateWindow(store, accountId, 30, 0)).rejects.toThrow("Another person has changed the window");
  expect(await setDuplicateWindow(store, accountId, 60, 0)).toMatchObject({ duplicate_window_s: 60, version });
  await setDuplicateWindow(store, accountId, undefined, 60);
  await setKeyLimits(store, accountId, keyId, {});
  const left = await access.account(accountId);
  expect(left).not.toHaveProperty("order_limits");
  expect(left).not.toHaveProperty("duplicate_window_s");
  expect(left.keys.map(({ order_limits }) => order_limits)).toEqual([undefined, { day_orders: 2 }, undefined]);
  const item = await access.keyItem(key);
  for (const field of ["account_limits", "duplicate_window_s", "key_limits"]) expect(item).not.toHaveProperty(field);
  expect(await access.withKey(key)).toMatchObject({ caller: { duplicateWindowS: undefined, limits: undefined } });
  expect(await access.withKey(rotated.key)).toMatchObject({ caller: { limits: { key: { day_orders: 2 } } } });
  await expect(setKeyLimits(store, accountId, "key_none", {})).rejects.toThrow(`${accountId} has no key key_none`);
});

test("the whitelist of an account is replaced for both keys at once, also by an empty one", async () => {
  const { key, accountId } = await access.anAccount();
  const other = await createKey(access.store, accountId, { mode: "test" });
  await setWhitelist(access.store, accountId, ["198.51.100.0/24", "2001:db8::/32"]);
  for (const text of [key, other.key]) {
    expect(await admissionCode(access.withKey(text))).toBe("ip_not_whitelisted");
    expect(await admissionCode(access.withKey(text, { sourceIp: "198.51.100.77" }))).toBe("admitted");
  }
  const { version } = await access.account(accountId);
  expect((await changeWhitelist(access.store, accountId, () => undefined)).version).toBe(version);
  await changeWhitelist(access.store, accountId, () => [OFFICE]);
  expect(await admissionCode(access.withKey(key))).toBe("admitted");
  expect(await admissionCode(access.withKey(key, { sourceIp: "198.51.100.77" }))).toBe("ip_not_whitelisted");
  await setWhitelist(access.store, accountId, []);
  expect(await admissionCode(access.withKey(key))).toBe("ip_not_whitelisted");
  expect((await access.keyItem(key)).whitelist).toBeUndefined();
  await setWhitelist(access.store, accountId, [OFFICE]);
  expect(await admissionCode(access.withKey(key))).toBe("admitted");
});
