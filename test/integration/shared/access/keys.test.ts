import { describe, expect, test } from "vitest";
import { changeWhitelist, setEntitlements } from "../../../../shared/access/accounts.ts";
import { createKey, revokeKey, rotateKey, setKeyLimits } from "../../../../shared/access/keys.ts";
import { HOUR_MS, MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { emulatorClient } from "../../../builders/dynamodb/tables.ts";
import { accessForTests, admissionCode, NEIGHBOUR, OFFICE } from "../../../builders/ledger/access.ts";
import { TRIES } from "../../../builders/ledger/faulty-ledger.ts";
import { CHECKSUM_KEY, checksumKey } from "../../../builders/ledger/secrets.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

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
