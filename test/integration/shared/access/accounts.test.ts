import { describe, expect, test, vi } from "vitest";
import { findAccount } from "../../../../shared/access/account-store.ts";
import {
  changePriceRules,
  changeWhitelist,
  closeAccount,
  createAccount,
  createKey,
  reopenAccount,
  revokeKey,
  revokeUnlistedKey,
  rotateKey,
  setAccountLimits,
  setAccountStatus,
  setDuplicateWindow,
  setEntitlements,
  setKeyLimits,
  setWhitelist,
} from "../../../../shared/access/accounts.ts";
import { HOUR_MS, MINUTE_MS } from "../../../../shared/contract/durations.ts";
import { INITIAL_ENTITLEMENTS, type Permission } from "../../../../shared/contract/permission.ts";
import { routes } from "../../../../shared/contract/routes.ts";
import { walletPk } from "../../../../shared/ledger/schema.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import { OperatorError } from "../../../../shared/platform/operator-error.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { accessForTests, admissionCode, NEIGHBOUR, OFFICE } from "../../../builders/access.ts";
import { changeItem } from "../../../builders/change-item.ts";
import { TRIES } from "../../../builders/faulty-ledger.ts";
import { NOON_MS } from "../../../builders/noon.ts";
import { CHECKSUM_KEY, checksumKey } from "../../../builders/secrets.ts";
import { emulatorClient } from "../../../builders/tables.ts";

const access = await accessForTests();

test("no part of a key's secret is in any table", async () => {
  const { key } = await access.anAccount();
  const secretPart = key.slice(5, 37);
  for (const TableName of [access.tables.accessTable, access.tables.ledgerTable]) {
    const { Items = [] } = await access.tables.db.scan({ TableName });
    expect(Items.length).toBeGreaterThan(0);
    expect(JSON.stringify(Items)).not.toContain(secretPart);
  }
});

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

test("a key that was created or rotated although the write got no answer is returned, and admitted", async () => {
  const { accountId } = await access.anAccount();
  const store = { ...access.store, db: emulatorClient(access.proxy.endpoint) };
  let writes = 0;
  const lose = (fault: "answer_lost" | "never_arrives") => {
    access.proxy.fault = ({ operation }) => {
      if (operation !== "TransactWriteItems") return undefined;
      writes += 1;
      return fault;
    };
  };
  lose("answer_lost");
  const created = await createKey(store, accountId, { mode: "live" });
  const rotated = await rotateKey(store, accountId, created.keyId, MINUTE_MS);
  access.proxy.fault = () => undefined;
  expect(await admissionCode(access.withKey(created.key))).toBe("admitted");
  expect(await admissionCode(access.withKey(rotated.key))).toBe("admitted");
  lose("never_arrives");
  writes = 0;
  await expect(createKey(store, accountId, { mode: "live" })).rejects.toThrow();
  // Another attempt could make a second key.
  expect(writes).toBe(TRIES);
  expect((await access.account(accountId)).keys).toHaveLength(3);
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

test("a revoked key is 401 from the next request on, and the account's other key is admitted", async () => {
  const { key, keyId, accountId } = await access.anAccount();
  const other = await createKey(access.store, accountId, { mode: "live" });
  expect(await admissionCode(access.withKey(key))).toBe("admitted");
  await revokeKey(access.store, accountId, keyId);
  expect(await admissionCode(access.withKey(key))).toBe("invalid_api_key");
  expect(await admissionCode(access.withKey(other.key))).toBe("admitted");
  expect((await access.account(accountId)).keys.map(({ status }) => status)).toEqual(["revoked", "active"]);
  await revokeKey(access.store, accountId, keyId);
  expect(await admissionCode(access.withKey(key))).toBe("invalid_api_key");
});

test("a rotated key is admitted in 1 call until its end and 401 from then on, and the new one is admitted", async () => {
  const { key, keyId, accountId } = await access.anAccount();
  const fresh = await rotateKey(access.store, accountId, keyId, 5 * MINUTE_MS);
  access.nowMs = NOON_MS + 5 * MINUTE_MS - 1;
  access.proxy.calls.length = 0;
  expect(await admissionCode(access.withKey(key))).toBe("admitted");
  expect(access.proxy.calls).toHaveLength(1);
  access.nowMs = NOON_MS + 5 * MINUTE_MS;
  expect(await admissionCode(access.withKey(key))).toBe("invalid_api_key");
  expect(await admissionCode(access.withKey(fresh.key))).toBe("admitted");
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

test("an account has 50 active keys at most, and lists the latest 20 of those that have ended", async () => {
  const { accountId } = await access.anAccount();
  const account = await access.account(accountId);
  const [first] = account.keys;
  if (first === undefined) throw new Error("The account has no key");
  const some = (count: number, prefix: string, changes: Partial<typeof first>) =>
    Array.from({ length: count }, (_, index) => `${prefix}_${index}`).map((id) => ({
      ...{ ...first, key_id: id, hash: id },
      ...changes,
    }));
  const keys = [first, ...some(48, "active", {}), ...some(22, "revoked", { status: "revoked" })];
  await access.tables.db.put({ TableName: access.tables.ledgerTable, Item: { ...account, keys } });
  await createKey(access.store, accountId, { mode: "live" });
  await expect(createKey(access.store, accountId, { mode: "live" })).rejects.toThrow("has 50 active keys");
  const ids = (await access.account(accountId)).keys.map(({ key_id }) => key_id);
  expect(ids).toHaveLength(70);
  expect(ids).toEqual(expect.arrayContaining([first.key_id, "active_0", "revoked_2", "revoked_21"]));
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

describe("rotateKey", () => {
  const { store } = access;
  const aRotation = async () => {
    const { key, keyId, accountId } = await access.anAccount({ permissions: ["vtu"] });
    const fresh = await rotateKey(store, accountId, keyId, HOUR_MS);
    return { accountId, key, keyId, fresh };
  };
  const inAnHour = isoTime(NOON_MS + HOUR_MS);

  test("a rotated key ends after the overlap, and the new one has its mode and its permissions", async () => {
    const { key, fresh } = await aRotation();
    expect(await access.keyItem(key)).toMatchObject({ status: "active", expires_at: inAnHour });
    expect(await access.keyItem(fresh.key)).toMatchObject({ mode: "live", permissions: new Set(["vtu"]) });
    expect(await access.keyItem(fresh.key)).not.toHaveProperty("expires_at");
  });

  test("a rotation gives the new key no permission to which the account is no longer entitled", async () => {
    const { key, accountId, keyId } = await access.anAccount({ permissions: ["vtu", "identity"] });
    await setEntitlements(store, accountId, { vtu: null });
    const fresh = await rotateKey(store, accountId, keyId, HOUR_MS);
    await setEntitlements(store, accountId, { vtu: null, identity: null });
    expect((await access.keyItem(key)).permissions).toEqual(new Set(["vtu", "identity"]));
    expect((await access.keyItem(fresh.key)).permissions).toEqual(new Set(["vtu"]));
  });

  test("a rotated key has the limits that another person lowers while the rotation is under way", async () => {
    const { accountId, keyId } = await access.anAccount();
    await setKeyLimits(store, accountId, keyId, { order_naira: 5_000 });
    const value = async () => {
      await setKeyLimits(store, accountId, keyId, { order_naira: 1_000 });
      return CHECKSUM_KEY;
    };
    const lowering = { ...store, checksumKey: { ...checksumKey, value } };
    const fresh = await rotateKey(lowering, accountId, keyId, HOUR_MS);
    expect((await access.keyItem(fresh.key)).key_limits).toEqual({ order_naira: 1_000 });
    const { keys } = await access.account(accountId);
    expect(keys.map(({ order_limits }) => order_limits)).toEqual([{ order_naira: 1_000 }, { order_naira: 1_000 }]);
  });

  test("another rotation can only end a key sooner, and a key that has ended is not rotated", async () => {
    const { accountId, key, keyId } = await aRotation();
    const { expiresAt } = await rotateKey(store, accountId, keyId, 24 * HOUR_MS);
    expect(expiresAt).toBe(inAnHour);
    const { keys } = await access.account(accountId);
    expect(keys.map(({ expires_at }) => expires_at)).toEqual([expiresAt, undefined, undefined]);
    expect(await access.keyItem(key)).toMatchObject({ expires_at: inAnHour });
    await rotateKey(store, accountId, keyId, 0);
    expect(await access.keyItem(key)).toMatchObject({ expires_at: isoTime(NOON_MS) });
    access.nowMs += 25 * HOUR_MS;
    await expect(rotateKey(store, accountId, keyId, 0)).rejects.toThrow(/has ended/);
  });

  test("a rotated key follows the changes of its account until its end, and can be revoked", async () => {
    const { accountId, key, keyId } = await aRotation();
    await changeWhitelist(store, accountId, () => [OFFICE, NEIGHBOUR]);
    expect((await access.keyItem(key)).whitelist?.size).toBe(2);
    expect(await access.keyItem(key)).toMatchObject({ expires_at: inAnHour });
    await revokeKey(store, accountId, keyId);
    expect(await access.keyItem(key)).toMatchObject({ status: "revoked" });
  });
});
