import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { expect, onTestFinished, test, vi } from "vitest";
import { closeAccount, setAccountStatus, setWhitelist } from "../../../../shared/access/accounts.ts";
import { findKeys } from "../../../../shared/access/key-store.ts";
import { revokeKey, rotateKey } from "../../../../shared/access/keys.ts";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { accountPk } from "../../../../shared/ledger/schema.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import { beforeNext } from "../../../builders/dynamodb/another-process.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { emulatorClient } from "../../../builders/dynamodb/tables.ts";
import { accessForTests, admissionCode, OFFICE } from "../../../builders/ledger/access.ts";
import type { WireFault } from "../../../strict/faults.ts";

const access = await accessForTests();

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

test("a change of a key that another change overtakes is decided anew", async () => {
  const { keyId, accountId } = await access.anAccount();
  beforeNext(access.tables.db, "transactWrite", () => revokeKey(access.store, accountId, keyId));
  await expect(rotateKey(access.store, accountId, keyId, MINUTE_MS)).rejects.toThrow("has ended");
  expect((await access.account(accountId)).keys).toHaveLength(1);
});

test("a change of a key that another change overtakes is decided anew while a third one holds the account", async () => {
  const { keyId, accountId } = await access.anAccount();
  const overtaken = vi.spyOn(access.tables.db, "transactWrite").mockImplementationOnce(async () => {
    await revokeKey(access.store, accountId, keyId);
    const codes = ["TransactionConflict", "None", "ConditionalCheckFailed", "None"];
    throw new TransactionCanceledException({
      ...{ $metadata: {}, message: "" },
      CancellationReasons: codes.map((Code) => ({ Code })),
    });
  });
  onTestFinished(() => overtaken.mockRestore());
  await expect(rotateKey(access.store, accountId, keyId, MINUTE_MS)).rejects.toThrow("has ended");
});

test("a restriction and a closing reach all 120 keys of an account, and its one active key first", async () => {
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
  const { db, accessTable, ledgerTable } = access.tables;
  await db.put({ TableName: ledgerTable, Item: { ...ended, keys: [...others, { ...first, status: "active" }] } });
  await restore();
  const item = await access.keyItem(key);
  // The item of the last of them is missing, which is no obstacle.
  const present = others.slice(0, -1);
  await putItems(
    db,
    accessTable,
    present.map(({ hash, key_id }) => ({ ...item, pk: hash, key_id })),
  );
  const store = { ...access.store, db: emulatorClient(access.proxy.endpoint) };
  const restricted = async () => {
    const items = await findKeys(
      access.tables,
      [...others, first].map(({ hash }) => hash),
    );
    return items.filter(({ account_status }) => account_status === "restricted").length;
  };
  // After the transaction of 82 keys, the write of one meets a conflict first, and that of another does not arrive.
  const first90: WireFault[] = ["conflict"];
  access.proxy.fault = ({ operation, body }) => {
    if (operation !== "TransactWriteItems" || body.includes('"Put"')) return undefined;
    if (body.includes('"hash-90"')) return first90.shift();
    return body.includes('"hash-100"') ? "never_arrives" : undefined;
  };
  await expect(setAccountStatus(store, accountId, "restricted")).rejects.toThrow();
  expect(await restricted()).toBe(101);
  expect((await access.keyItem(key)).account_status).toBe("restricted");
  access.reset();
  await setAccountStatus(store, accountId, "restricted");
  expect(await restricted()).toBe(119);
  expect(await admissionCode(access.withKey(key))).toBe("account_restricted");
  const wallet = await readWallet({ db, table: ledgerTable, clock: () => access.nowMs }, accountId);
  access.proxy.fault = ({ body }) =>
    body.includes('"hash-100"') && !body.includes('"Put"') ? "never_arrives" : undefined;
  await expect(closeAccount(store, wallet)).rejects.toThrow();
  expect((await access.keyItem(key)).status).toBe("revoked");
});

test("a change of an account keeps what a later release has added to it, its keys and its endpoints", async () => {
  const { accountId } = await access.anAccount();
  const { db, ledgerTable: table } = access.tables;
  const added = { of_a_later_release: { enabled: true } };
  const { keys } = await access.account(accountId);
  const endpoint = { id: "1", name: "Shop", url: "https://shop.example/", events: [], status: "on", generation: 0 };
  const replaced = { secret: "sealed", until: "2026-11-21T13:00:00.000Z", ...added };
  await changeItem({ db, table }, accountPk(accountId), {
    ...{ ...added, endpoints_made: 1, keys: keys.map((key) => ({ ...key, ...added })) },
    endpoints: [{ ...endpoint, ...added, secret: "sealed", replaced_secrets: [replaced] }],
    owners: [{ kind: "email", value: "owner@shop.example", ...added }],
    price_list: { version: 1, rules: [], ...added },
  });

  await setAccountStatus(access.store, accountId, "restricted");

  const { Item } = await db.get({ TableName: table, Key: { pk: accountPk(accountId) } });
  expect(Item).toMatchObject({
    ...{ ...added, status: "restricted", keys: [added], owners: [added], price_list: added },
    endpoints: [{ ...added, replaced_secrets: [added] }],
  });
});
