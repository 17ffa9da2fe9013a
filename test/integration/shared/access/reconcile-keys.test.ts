import { DeleteCommand, GetCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Account, AccountError, requireAccount } from "../../../../shared/access/account-store.ts";
import {
  changeWhitelist,
  createKey,
  revokeKey,
  revokeUnlistedKey,
  rotateKey,
  setAccountStatus,
} from "../../../../shared/access/accounts.ts";
import { keyHash } from "../../../../shared/access/api-key.ts";
import { type KeyDifference, reconcileKeys, scanKeyItems } from "../../../../shared/access/reconcile-keys.ts";
import { auditEntry, readAudit, SERVICE } from "../../../../shared/ledger/audit.ts";
import { accountPk } from "../../../../shared/ledger/schema.ts";
import {
  type AccessFixture,
  admissionCode,
  MINUTE_MS,
  NEIGHBOUR,
  NOON,
  OFFICE,
  openAccess,
} from "../../../builders/access.ts";

/** After a restore of the ledger or the access table no command admits what was refused. A test restores an item that it read before. */
let access: AccessFixture;
beforeAll(async () => {
  access = await openAccess();
});
beforeEach(() => access.reset());
afterAll(() => access.proxy.stop());

/** Reads an item; the returned function restores it, or deletes it if there was none. */
const remember = async (TableName: string, pk: string): Promise<() => Promise<unknown>> => {
  const { db } = access.tables;
  const { Item } = await db.send(new GetCommand({ TableName, Key: { pk }, ConsistentRead: true }));
  if (Item === undefined) return () => db.send(new DeleteCommand({ TableName, Key: { pk } }));
  return () => db.send(new PutCommand({ TableName, Item }));
};
const rememberAccount = (accountId: string) => remember(access.tables.ledgerTable, accountPk(accountId));
const rememberItem = (key: string) => remember(access.tables.accessTable, keyHash(key));
const deleteItem = (key: string) =>
  access.tables.db.send(new DeleteCommand({ TableName: access.tables.accessTable, Key: { pk: keyHash(key) } }));

const isAdmitted = async (key: string, sourceIp = OFFICE): Promise<boolean> =>
  (await admissionCode(access.withKey(key, { sourceIp }))) === "admitted";
const accountOf = (accountId: string): Promise<Account> => requireAccount(access.store, accountId);
const allow = (accountId: string, ...ranges: readonly string[]) =>
  changeWhitelist(access.store, accountId, (before) => [...before, ...ranges]);
const disallow = (accountId: string, range: string) =>
  changeWhitelist(access.store, accountId, (before) => before.filter((entry) => entry !== range));

const orphanAudit = () => auditEntry({ subject: SERVICE, by: "ada", action: "keys reconcile" }, NOON);
const reconcile = (isDryRun = false) => reconcileKeys(access.store, { isDryRun, orphanAudit });
/** The differences of one account: the tables also have other tests' accounts. */
const about = (findings: readonly KeyDifference[], accountId: string) =>
  findings.filter(({ account_id }) => account_id === accountId).map(({ found, result }) => [found, result]);

describe("after a restore of the ledger and before a reconciliation", () => {
  test("a revoked key stays refused after every change of its account", async () => {
    const { key, keyId, accountId } = await access.anAccount();
    const restore = await rememberAccount(accountId);
    await revokeKey(access.store, accountId, keyId);
    await restore();
    await allow(accountId, NEIGHBOUR);
    await setAccountStatus(access.store, accountId, "restricted");
    await setAccountStatus(access.store, accountId, "active");
    await disallow(accountId, NEIGHBOUR);
    await expect(rotateKey(access.store, accountId, keyId, 60 * MINUTE_MS)).rejects.toThrow(/keys reconcile/);
    expect(await isAdmitted(key)).toBe(false);
    expect((await access.keyItem(key)).status).toBe("revoked");
  });

  test("a rotated key keeps its end after every change of its account, and no rotation delays it", async () => {
    const { key, keyId, accountId } = await access.anAccount();
    const restore = await rememberAccount(accountId);
    const { expiresAt } = await rotateKey(access.store, accountId, keyId, MINUTE_MS);
    await restore();
    await allow(accountId, NEIGHBOUR);
    await setAccountStatus(access.store, accountId, "restricted");
    await setAccountStatus(access.store, accountId, "active");
    await expect(rotateKey(access.store, accountId, keyId, 60 * MINUTE_MS)).rejects.toThrow(/keys reconcile/);
    expect((await access.keyItem(key)).expires_at).toBe(expiresAt);
    expect(await isAdmitted(key)).toBe(true);
    access.nowMs = NOON + MINUTE_MS;
    expect(await isAdmitted(key)).toBe(false);
  });

  test("an address that was removed stays refused when another one is added or removed", async () => {
    const { key, accountId } = await access.anAccount({ whitelist: [OFFICE, NEIGHBOUR] });
    const restore = await rememberAccount(accountId);
    await disallow(accountId, NEIGHBOUR);
    await restore();
    await allow(accountId, "198.51.100.1");
    expect([await isAdmitted(key, NEIGHBOUR), await isAdmitted(key, "198.51.100.1")]).toEqual([false, true]);
    await disallow(accountId, "198.51.100.1");
    expect([await isAdmitted(key, NEIGHBOUR), await isAdmitted(key)]).toEqual([false, true]);
    expect(await isAdmitted(key, "198.51.100.1")).toBe(false);
  });

  test("a restricted account stays restricted when an address is added", async () => {
    const { key, accountId } = await access.anAccount();
    const restore = await rememberAccount(accountId);
    await setAccountStatus(access.store, accountId, "restricted");
    await restore();
    await allow(accountId, NEIGHBOUR);
    expect(await admissionCode(access.withKey(key))).toBe("account_restricted");
  });

  test("a key that is missing from the account's list can be revoked, and is listed as revoked", async () => {
    const { accountId } = await access.anAccount();
    const restore = await rememberAccount(accountId);
    const { key, keyId } = await createKey(access.store, accountId, { mode: "live" });
    await restore();
    await revokeUnlistedKey(access.store, await access.keyItem(key));
    expect(await isAdmitted(key)).toBe(false);
    expect((await accountOf(accountId)).keys).toContainEqual(
      expect.objectContaining({ key_id: keyId, hash: keyHash(key), status: "revoked" }),
    );
  });
});

describe("after a restore of the access table and before a reconciliation", () => {
  test("a key that the ledger has as revoked can be revoked again", async () => {
    const { key, keyId, accountId } = await access.anAccount();
    const restore = await rememberItem(key);
    await revokeKey(access.store, accountId, keyId);
    await restore();
    expect(await isAdmitted(key)).toBe(true);
    await revokeKey(access.store, accountId, keyId);
    expect(await isAdmitted(key)).toBe(false);
  });

  test("a restriction can be repeated and reaches every listed key, also one that the ledger has as revoked", async () => {
    const { key, keyId, accountId } = await access.anAccount();
    const restore = await rememberItem(key);
    await revokeKey(access.store, accountId, keyId);
    await setAccountStatus(access.store, accountId, "restricted");
    await restore();
    expect(await isAdmitted(key)).toBe(true);
    await setAccountStatus(access.store, accountId, "restricted");
    expect(await admissionCode(access.withKey(key))).toBe("account_restricted");
  });

  test("a key without an item makes a change fail with instructions, but not a restriction", async () => {
    const { key, keyId, accountId } = await access.anAccount();
    const other = await createKey(access.store, accountId, { mode: "live" });
    await deleteItem(key);
    const failure = allow(accountId, NEIGHBOUR);
    await expect(failure).rejects.toThrow(AccountError);
    await expect(failure).rejects.toThrow(
      `Ledger and access table do not agree about the key ${keyId} of ${accountId}: run keys reconcile, and then this again`,
    );
    expect((await accountOf(accountId)).whitelist).toEqual([OFFICE]);
    await setAccountStatus(access.store, accountId, "restricted");
    expect(await admissionCode(access.withKey(other.key))).toBe("account_restricted");
    await expect(setAccountStatus(access.store, accountId, "active")).rejects.toThrow(/keys reconcile/);
    await revokeKey(access.store, accountId, keyId);
    await setAccountStatus(access.store, accountId, "active");
    await allow(accountId, NEIGHBOUR);
    expect(await isAdmitted(other.key, NEIGHBOUR)).toBe(true);
    expect(await isAdmitted(key)).toBe(false);
  });
});

test("a restriction reaches all 120 keys of an account, most of which are revoked", async () => {
  const { key, keyId, accountId } = await access.anAccount();
  const restore = await rememberItem(key);
  await revokeKey(access.store, accountId, keyId);
  const ended = await accountOf(accountId);
  const [first] = ended.keys;
  if (first === undefined) throw new Error("The account has no key");
  const others = Array.from({ length: 119 }, (_, index) => ({
    ...first,
    key_id: `key_${index}`,
    hash: `hash-${index}`,
  }));
  const Item = { ...ended, keys: [...others, first] };
  await access.tables.db.send(new PutCommand({ TableName: access.tables.ledgerTable, Item }));
  await restore();
  await setAccountStatus(access.store, accountId, "restricted");
  expect(await admissionCode(access.withKey(key))).toBe("account_restricted");
});

describe("a reconciliation of the keys", () => {
  test("finds and writes nothing if the tables agree", async () => {
    const { accountId } = await access.anAccount();
    const { version } = await accountOf(accountId);
    expect(about(await reconcile(), accountId)).toEqual([]);
    expect((await accountOf(accountId)).version).toBe(version);
  });

  test("takes a revocation and an end that only the access table has into the ledger", async () => {
    const { keyId, accountId } = await access.anAccount();
    const second = await createKey(access.store, accountId, { mode: "live" });
    const restore = await rememberAccount(accountId);
    await revokeKey(access.store, accountId, keyId);
    const { expiresAt, ...fresh } = await rotateKey(access.store, accountId, second.keyId, MINUTE_MS);
    await restore();
    expect(about(await reconcile(), accountId)).toEqual([
      ["key_revoked_in_one", "revoked"],
      ["key_ends_sooner_in_one", `active until ${expiresAt}`],
      ["key_not_listed", "revoked"],
    ]);
    expect((await accountOf(accountId)).keys).toMatchObject([
      { key_id: keyId, status: "revoked" },
      { key_id: second.keyId, status: "active", expires_at: expiresAt },
      { key_id: fresh.keyId, status: "revoked" },
    ]);
    expect([await isAdmitted(second.key), await isAdmitted(fresh.key)]).toEqual([true, false]);
    expect(about(await reconcile(), accountId)).toEqual([]);
    await allow(accountId, NEIGHBOUR);
  });

  test("takes a revocation and an end that only the ledger has into the access table", async () => {
    const { key, keyId, accountId } = await access.anAccount();
    const second = await createKey(access.store, accountId, { mode: "live" });
    const [restoreFirst, restoreSecond] = [await rememberItem(key), await rememberItem(second.key)];
    await revokeKey(access.store, accountId, keyId);
    const { expiresAt } = await rotateKey(access.store, accountId, second.keyId, MINUTE_MS);
    await restoreFirst();
    await restoreSecond();
    expect(about(await reconcile(), accountId)).toEqual([
      ["key_revoked_in_one", "revoked"],
      ["key_ends_sooner_in_one", `active until ${expiresAt}`],
    ]);
    expect(await isAdmitted(key)).toBe(false);
    expect((await access.keyItem(second.key)).expires_at).toBe(expiresAt);
    expect(about(await reconcile(), accountId)).toEqual([]);
  });

  test("restores the missing item of a listed key with its mode, permissions and addresses, except in a dry run", async () => {
    const { key, accountId } = await access.anAccount({ permissions: ["identity"], mode: "test" });
    const before = await access.keyItem(key);
    await deleteItem(key);
    expect(about(await reconcile(true), accountId)).toEqual([["key_item_missing", "active"]]);
    expect(await admissionCode(access.withKey(key))).toBe("invalid_api_key");
    expect(about(await reconcile(), accountId)).toEqual([["key_item_missing", "active"]]);
    expect(await access.keyItem(key)).toEqual(before);
  });

  test("restricts the account in both tables if one has it restricted, and keeps only addresses that both allow", async () => {
    const { key, accountId } = await access.anAccount({ whitelist: ["10.0.0.0/8", OFFICE] });
    const restore = await rememberAccount(accountId);
    await setAccountStatus(access.store, accountId, "restricted");
    await changeWhitelist(access.store, accountId, () => ["10.1.0.0/16", NEIGHBOUR]);
    await restore();
    expect(about(await reconcile(), accountId)).toEqual([
      ["account_restricted_in_one", "restricted"],
      ["whitelist_narrower_in_one", "10.1.0.0/16"],
      ["key_item_differs", "active"],
    ]);
    expect(await accountOf(accountId)).toMatchObject({ status: "restricted", whitelist: ["10.1.0.0/16"] });
    await setAccountStatus(access.store, accountId, "active");
    const inside = [
      await isAdmitted(key, "10.1.2.3"),
      await isAdmitted(key, "10.2.0.1"),
      await isAdmitted(key, NEIGHBOUR),
    ];
    expect(inside).toEqual([true, false, false]);
  });

  test("revokes the keys of an unknown account with an audit entry, and changes nothing in a dry run", async () => {
    const { key, keyId, accountId } = await access.anAccount();
    const { db, ledgerTable } = access.tables;
    await db.send(new DeleteCommand({ TableName: ledgerTable, Key: { pk: accountPk(accountId) } }));
    expect(about(await reconcile(true), accountId)).toEqual([["account_unknown", "revoked"]]);
    expect(await isAdmitted(key)).toBe(true);
    expect(about(await reconcile(), accountId)).toEqual([["account_unknown", "revoked"]]);
    expect(await isAdmitted(key)).toBe(false);
    expect(about(await reconcile(), accountId)).toEqual([]);
    const audit = await readAudit({ db, table: ledgerTable, clock: () => NOON }, SERVICE);
    expect(audit).toContainEqual(expect.objectContaining({ action: "keys reconcile" }));
    expect((await access.keyItem(key)).key_id).toBe(keyId);
  });

  test("activates no key that is revoked during the reconciliation", async () => {
    const { key, keyId, accountId } = await access.anAccount();
    await deleteItem(key);
    const [findings] = await Promise.all([reconcile(), revokeKey(access.store, accountId, keyId)]);
    expect(about(findings, accountId)).toHaveLength(1);
    await reconcile();
    expect(await isAdmitted(key)).toBe(false);
  });

  test("keeps the counters of a key that it restricts", async () => {
    const { key, accountId } = await access.anAccount();
    await isAdmitted(key);
    const counters = await access.countersOf(key);
    const { accessTable, db } = access.tables;
    await db.send(
      new UpdateCommand({
        TableName: accessTable,
        Key: { pk: keyHash(key) },
        UpdateExpression: "SET account_status = :restricted",
        ExpressionAttributeValues: { ":restricted": "restricted" },
      }),
    );
    expect(about(await reconcile(), accountId)).toEqual([["account_restricted_in_one", "restricted"]]);
    expect(await access.countersOf(key)).toEqual(counters);
  });
});

test("scanKeyItems reads every key of the access table", async () => {
  const { key, keyId } = await access.anAccount();
  const keyIds = new Map<string, string>();
  for await (const { pk, key_id } of scanKeyItems(access.store)) keyIds.set(pk, key_id);
  expect(keyIds.get(keyHash(key))).toBe(keyId);
});
