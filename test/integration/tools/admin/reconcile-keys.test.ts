import { describe, expect, test } from "vitest";
import {
  changeWhitelist,
  setAccountLimits,
  setAccountStatus,
  setDuplicateWindow,
} from "../../../../shared/access/accounts.ts";
import { hashApiKey } from "../../../../shared/access/api-key.ts";
import { createKey, revokeKey, rotateKey, setKeyLimits } from "../../../../shared/access/keys.ts";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { auditEntry, auditPut, readAudit, SERVICE } from "../../../../shared/ledger/audit.ts";
import { accountPk } from "../../../../shared/ledger/schema.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import { type KeyDifference, reconcileKeys } from "../../../../tools/admin/reconcile-keys.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { accessForTests, admissionCode, NEIGHBOUR, OFFICE } from "../../../builders/ledger/access.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

/**
 * After a restore of the ledger or the access table no command admits what was refused. A test restores an item that it
 * read before.
 */
const access = await accessForTests();

const orphanAudit = () =>
  auditPut(access.tables, auditEntry({ audit_log: SERVICE, by: "ada", action: "keys reconcile" }, NOON_MS));
const reconcile = (isDryRun = false) => reconcileKeys(access.store, { isDryRun, orphanAudit });
/** The differences of one account: the tables also have other tests' accounts. */
const about = (findings: readonly KeyDifference[], accountId: string) =>
  findings.filter(({ account_id }) => account_id === accountId).map(({ found, result }) => [found, result]);

describe("a reconciliation of the keys", () => {
  test("a reconciliation of the keys finds and writes nothing if the tables agree", async () => {
    const { accountId } = await access.anAccount();
    const { version } = await access.account(accountId);
    expect(about(await reconcile(), accountId)).toEqual([]);
    expect((await access.account(accountId)).version).toBe(version);
  });

  test("an account lists 20 of its former keys; the one before them is revoked, and nothing is to be reconciled", async () => {
    const { key, keyId, accountId } = await access.anAccount();
    const second = await rotateKey(access.store, accountId, keyId, 0);
    await revokeKey(access.store, accountId, second.keyId);
    const [first, former] = (await access.account(accountId)).keys;
    const formerKeys = Array.from({ length: 20 }, (_, number) => ({ ...former, key_id: `key_${number}` }));
    const { db, ledgerTable: table } = access.tables;
    await changeItem({ db, table }, accountPk(accountId), { keys: [first, ...formerKeys] });
    access.nowMs += 25 * 60 * MINUTE_MS;
    const fresh = await createKey(access.store, accountId, { mode: "live" });
    expect((await access.account(accountId)).keys.map(({ key_id }) => key_id)).toEqual([
      ...formerKeys.map(({ key_id }) => key_id),
      fresh.keyId,
    ]);
    expect(await access.keyItem(key)).toMatchObject({ status: "revoked" });
    expect(about(await reconcile(), accountId)).toEqual([]);
  });

  test("a reconciliation of the keys takes a revocation and an end that only the access table has into the ledger", async () => {
    const { keyId, accountId } = await access.anAccount();
    const second = await createKey(access.store, accountId, { mode: "live" });
    const restore = await access.rememberAccount(accountId);
    await revokeKey(access.store, accountId, keyId);
    const { expiresAt, ...fresh } = await rotateKey(access.store, accountId, second.keyId, MINUTE_MS);
    await restore();
    expect(about(await reconcile(), accountId)).toEqual([
      ["key_revoked_in_one", "revoked"],
      ["key_ends_sooner_in_one", `active until ${expiresAt}`],
      ["key_not_listed", "revoked"],
    ]);
    expect((await access.account(accountId)).keys).toMatchObject([
      { key_id: keyId, status: "revoked" },
      { key_id: second.keyId, status: "active", expires_at: expiresAt },
      { key_id: fresh.keyId, status: "revoked" },
    ]);
    expect([await access.isAdmitted(second.key), await access.isAdmitted(fresh.key)]).toEqual([true, false]);
    expect(about(await reconcile(), accountId)).toEqual([]);
    await access.allow(accountId, NEIGHBOUR);
  });

  test("a reconciliation of the keys takes a revocation and an end that only the ledger has into the access table", async () => {
    const { key, keyId, accountId } = await access.anAccount();
    const second = await createKey(access.store, accountId, { mode: "live" });
    const [restoreFirst, restoreSecond] = [await access.rememberItem(key), await access.rememberItem(second.key)];
    await revokeKey(access.store, accountId, keyId);
    const { expiresAt } = await rotateKey(access.store, accountId, second.keyId, MINUTE_MS);
    await restoreFirst();
    await restoreSecond();
    expect(about(await reconcile(), accountId)).toEqual([
      ["key_revoked_in_one", "revoked"],
      ["key_ends_sooner_in_one", `active until ${expiresAt}`],
    ]);
    expect(await access.isAdmitted(key)).toBe(false);
    expect((await access.keyItem(second.key)).expires_at).toBe(expiresAt);
    expect(about(await reconcile(), accountId)).toEqual([]);
  });

  test("a reconciliation of the keys restores the missing item of a listed key with its mode, permissions and addresses, except in a dry run", async () => {
    const { key, accountId } = await access.anAccount({ permissions: ["identity"], mode: "test" });
    const before = await access.keyItem(key);
    await access.deleteItem(key);
    expect(about(await reconcile(true), accountId)).toEqual([["key_item_missing", "active"]]);
    expect(await admissionCode(access.withKey(key))).toBe("invalid_api_key");
    expect(about(await reconcile(), accountId)).toEqual([["key_item_missing", "active"]]);
    expect(await access.keyItem(key)).toEqual(before);
  });

  test("a reconciliation of the keys restricts the account in both tables if one has it restricted, and keeps only addresses that both allow", async () => {
    const { key, accountId } = await access.anAccount({ whitelist: ["10.0.0.0/8", OFFICE] });
    const restore = await access.rememberAccount(accountId);
    await setAccountStatus(access.store, accountId, "restricted");
    await changeWhitelist(access.store, accountId, () => ["10.1.0.0/16", NEIGHBOUR]);
    await restore();
    expect(about(await reconcile(), accountId)).toEqual([
      ["account_restricted_in_one", "restricted"],
      ["whitelist_narrower_in_one", "10.1.0.0/16"],
      ["key_item_differs", "active"],
    ]);
    expect(await access.account(accountId)).toMatchObject({ status: "restricted", whitelist: ["10.1.0.0/16"] });
    const ledger = { ...access.tables, table: access.tables.ledgerTable, clock: () => access.nowMs };
    expect(await readWallet(ledger, accountId)).toMatchObject({ restricted: true });
    await setAccountStatus(access.store, accountId, "active");
    const inside = [
      await access.isAdmitted(key, "10.1.2.3"),
      await access.isAdmitted(key, "10.2.0.1"),
      await access.isAdmitted(key, NEIGHBOUR),
    ];
    expect(inside).toEqual([true, false, false]);
  });

  test("a reconciliation of the keys keeps as many common addresses as a whitelist may have", async () => {
    const parts = (network: number) => Array.from({ length: 19 }, (_, part) => `${network}.${part}.0.0/16`);
    const { key, accountId } = await access.anAccount({ whitelist: ["10.0.0.0/8", ...parts(11)] });
    const restore = await access.rememberItem(key);
    await changeWhitelist(access.store, accountId, () => ["11.0.0.0/8", ...parts(10)]);
    await restore();
    await reconcile();
    const { whitelist } = await access.account(accountId);
    expect(whitelist).toEqual([...parts(10), "11.0.0.0/16"]);
    expect((await access.keyItem(key)).whitelist?.size).toBe(20);
    expect(about(await reconcile(), accountId)).toEqual([]);
  });

  test("a reconciliation of the keys keeps the lower of two limits and the longer window for duplicates, whichever table was restored", async () => {
    const { store } = access;
    const windowLonger = ["duplicate_window_longer_in_one", "300 s"];
    for (const [restored, found] of [
      ["ledger", [windowLonger]],
      ["access", []],
    ] as const) {
      const { key, keyId, accountId } = await access.anAccount();
      await setAccountLimits(store, accountId, { day_naira: 50_000, day_orders: 10 });
      await setKeyLimits(store, accountId, keyId, { order_naira: 500 });
      await setDuplicateWindow(store, accountId, 60);
      const restore = restored === "ledger" ? await access.rememberAccount(accountId) : await access.rememberItem(key);
      await setAccountLimits(store, accountId, { day_naira: 20_000, day_orders: 20 });
      await setKeyLimits(store, accountId, keyId, { order_naira: 900, month_orders: 7 });
      await setDuplicateWindow(store, accountId, 300);
      await restore();
      expect(about(await reconcile(), accountId)).toEqual([
        ["limits_lower_in_one", "day_naira=20000 day_orders=10"],
        ...found,
        ["key_item_differs", "active"],
      ]);
      const [ofAccount, ofKey] = [
        { day_naira: 20_000, day_orders: 10 },
        { order_naira: 500, month_orders: 7 },
      ];
      const { order_limits, keys, ...account } = await access.account(accountId);
      expect([order_limits, keys[0]?.order_limits, account.duplicate_window_s]).toEqual([ofAccount, ofKey, 300]);
      const { account_limits, key_limits, ...item } = await access.keyItem(key);
      expect([account_limits, key_limits, item.duplicate_window_s]).toEqual([ofAccount, ofKey, 300]);
      expect(about(await reconcile(), accountId)).toEqual([]);
    }
  });

  test("a reconciliation of the keys revokes the keys of an unknown account with an audit entry, and changes nothing in a dry run", async () => {
    const { key, keyId, accountId } = await access.anAccount();
    const { db, ledgerTable } = access.tables;
    await db.delete({ TableName: ledgerTable, Key: { pk: accountPk(accountId) } });
    expect(about(await reconcile(true), accountId)).toEqual([["account_unknown", "revoked"]]);
    expect(await access.isAdmitted(key)).toBe(true);
    expect(about(await reconcile(), accountId)).toEqual([["account_unknown", "revoked"]]);
    expect(await access.isAdmitted(key)).toBe(false);
    expect(about(await reconcile(), accountId)).toEqual([]);
    const audit = await readAudit(
      { db, table: ledgerTable, auditTable: access.tables.auditTable, clock: () => NOON_MS },
      SERVICE,
    );
    expect(audit).toContainEqual(expect.objectContaining({ action: "keys reconcile" }));
    expect((await access.keyItem(key)).key_id).toBe(keyId);
  });

  test("a reconciliation of the keys activates no key that is revoked during the reconciliation", async () => {
    const { key, keyId, accountId } = await access.anAccount();
    await access.deleteItem(key);
    const [findings] = await Promise.all([reconcile(), revokeKey(access.store, accountId, keyId)]);
    expect(about(findings, accountId)).toHaveLength(1);
    await reconcile();
    expect(await access.isAdmitted(key)).toBe(false);
  });

  test("a reconciliation of the keys keeps the counters of a key that it restricts", async () => {
    const { key, accountId } = await access.anAccount();
    await access.isAdmitted(key);
    const counters = await access.countersOf(key);
    const { db, accessTable: table } = access.tables;
    await changeItem({ db, table }, hashApiKey(key), { account_status: "restricted" });
    expect(about(await reconcile(), accountId)).toEqual([["account_restricted_in_one", "restricted"]]);
    expect(await access.countersOf(key)).toEqual(counters);
  });
});

test("an account with an item that cannot be read is named, and keeps no other from being reconciled", async () => {
  const { db, accessTable, ledgerTable } = access.tables;
  const [ofKey, ofAccount] = [await access.anAccount(), await access.anAccount()];
  const revoked = await access.anAccount();
  const restoreItem = await access.rememberItem(revoked.key);
  await revokeKey(access.store, revoked.accountId, revoked.keyId);
  await restoreItem();
  const later = { status: "of a later release" };
  await changeItem({ db, table: accessTable }, hashApiKey(ofKey.key), later);
  await changeItem({ db, table: ledgerTable }, accountPk(ofAccount.accountId), later);
  const findings = await reconcile();
  expect(about(findings, revoked.accountId)).toEqual([["key_revoked_in_one", "revoked"]]);
  expect(await admissionCode(access.withKey(revoked.key))).toBe("invalid_api_key");
  for (const { accountId } of [ofKey, ofAccount]) {
    expect(about(findings, accountId)).toEqual([["unreadable", "not reconciled"]]);
  }
});
