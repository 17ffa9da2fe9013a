import { randomUUID } from "node:crypto";
import { DeleteCommand, GetCommand, PutCommand, paginateScan, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { createAccount } from "../../../../../shared/access/accounts.ts";
import { auditEntry, readAudit } from "../../../../../shared/ledger/audit.ts";
import { readCheckpoint } from "../../../../../shared/ledger/checkpoint.ts";
import type { Ledger } from "../../../../../shared/ledger/ledger.ts";
import { fundWallet } from "../../../../../shared/ledger/ledger-entry.ts";
import { openTransaction } from "../../../../../shared/ledger/open-transaction.ts";
import { transactionPk, walletPk } from "../../../../../shared/ledger/schema.ts";
import { type Settlement, settleTransaction } from "../../../../../shared/ledger/settle-transaction.ts";
import type { Transaction } from "../../../../../shared/ledger/transaction.ts";
import { readWallet } from "../../../../../shared/ledger/wallet.ts";
import { deadlineIn } from "../../../../../shared/platform/deadline.ts";
import { koboFromNaira } from "../../../../../shared/platform/money.ts";
import { isoTime } from "../../../../../shared/platform/time.ts";
import { reconcileAndCheckpoint, reconcileWallet } from "../../../../../shared/reconciliation/reconcile-wallet.ts";
import { type CarriedItems, carryItems } from "../../../../../tools/admin/carry-over/items.ts";
import { recomputeWallets } from "../../../../../tools/admin/carry-over/wallets.ts";
import { copyTable } from "../../../../builders/copy-table.ts";
import { type DynamoDbProxy, type Fault, startDynamoDbProxy } from "../../../../builders/dynamodb-proxy.ts";
import { seeded } from "../../../../builders/seeded.ts";
import { emulatorClient, freshTables } from "../../../../builders/tables.ts";
import { aTransaction } from "../../../../builders/transaction.ts";

/** Goal: what a restored ledger lacks is carried over whatever the calls meet, and its balances are what moved them. */
const NOON_MS = Date.parse("2026-11-21T12:00:00.000Z");
const DAY_MS = 24 * 3_600_000;
let proxy: DynamoDbProxy;
/** The old ledger, and what was restored of it; both past the proxy. */
let old: Ledger;
let restored: Ledger;
let accountId: string;
let accessTable: string;
let nowMs = NOON_MS;
const clock = () => nowMs;

beforeAll(async () => {
  proxy = await startDynamoDbProxy(inject("dynamodbEndpoint"));
});
afterAll(() => proxy.stop());
beforeEach(async () => {
  proxy.fault = () => undefined;
  nowMs = NOON_MS;
  const tables = await freshTables();
  accessTable = tables.accessTable;
  old = { db: tables.db, table: tables.ledgerTable, clock };
  ({ account_id: accountId } = await createAccount({ ...tables, clock }, { name: "app", whitelist: [] }));
  await fund("first", 5_000);
});

const fund = (fundingId: string, naira: number, ledger = old, account = accountId) =>
  fundWallet(ledger, { accountId: account, fundingId, amountKobo: koboFromNaira(naira) });
const buy = async (account = accountId): Promise<Transaction> => {
  const at = isoTime(clock());
  const transaction = aTransaction({
    pk: transactionPk(randomUUID()),
    owner: `${account}#live`,
    account_id: account,
    attempt: randomUUID(),
    created_at: at,
    updated_at: at,
  });
  expect(
    await openTransaction(old, transaction, [{ pk: `consent#${transaction.pk}`, purpose: "test" }], deadlineIn(20_000)),
  ).toEqual({
    kind: "opened",
  });
  return transaction;
};
const refusal: Settlement = { status: "failed", failure: { code: "delivery_failed" } };
const settle = async (ledger: Ledger, transaction: Transaction, settlement: Settlement) =>
  expect(await settleTransaction(ledger, transaction, settlement, deadlineIn(20_000))).toEqual({ kind: "applied" });
/** The ledger as it is now, in a table of its own. */
const restore = async (): Promise<void> => {
  restored = { ...old, table: await copyTable(old.db, "ledger", old.table) };
};

const silent = { logProgress: () => {} };
const carry = (isDryRun = false): Promise<CarriedItems> =>
  carryItems({ db: emulatorClient(proxy.endpoint), from: old.table, to: restored.table }, { isDryRun, ...silent });
const audit = (subject: string) => auditEntry({ subject, by: "ada", action: "ledger carry-over" }, NOON_MS);
const recompute = (accounts: readonly string[] = [accountId], ledger = restored) =>
  recomputeWallets(ledger, new Set(accounts), { audit, plannedChanges: new Map(), ...silent });
const itemsOf = async ({ db, table }: Ledger): Promise<ReadonlyMap<unknown, unknown>> => {
  const items: Record<string, unknown>[] = [];
  for await (const { Items = [] } of paginateScan({ client: db }, { TableName: table, ConsistentRead: true })) {
    items.push(...Items);
  }
  return new Map(items.map((item) => [item.pk, item]));
};
const statusOf = async ({ pk }: Transaction): Promise<unknown> =>
  (await restored.db.send(new GetCommand({ TableName: restored.table, Key: { pk }, ConsistentRead: true }))).Item
    ?.status;
const copied = ({ counts }: CarriedItems): number =>
  [...counts.values()].reduce((sum, each) => sum + each.copied + each.updated, 0);

describe("a carry-over", () => {
  /** Three orders that are open at T, and end after it in every way; two more, with their fundings, and an account. */
  const aBusyDay = async (): Promise<void> => {
    const [delivered, refused] = [await buy(), await buy(), await buy()];
    await restore();
    await settle(old, delivered, { status: "success", upstream_reference: "UP-1" });
    await settle(old, refused, refusal);
    await fund("second", 700);
    await settle(old, await buy(), refusal);
    const store = { db: old.db, ledgerTable: old.table, accessTable, clock };
    const { account_id: newcomer } = await createAccount(store, { name: "newcomer", whitelist: [] });
    await fund("third", 1_000, old, newcomer);
    await buy(newcomer);
  };

  test.each([1, 2, 3])(
    "comes to the whole ledger where a third of its calls fail in some way (seed %i)",
    async (seed) => {
      await aBusyDay();
      const random = seeded(seed);
      const faults: readonly Fault[] = ["throttled", "answer_lost", "never_arrives", "conflict"];
      proxy.fault = () => (random() < 0.33 ? faults[Math.floor(random() * faults.length)] : undefined);
      const result = await carry();
      proxy.fault = () => undefined;
      expect(result.discrepancies).toEqual([]);
      const results = await recompute([...result.accountIds]);
      expect(new Map(results.map((each) => [each.account_id, each.result])).get(accountId)).toBe("corrected");
      expect(results.map((each) => each.result).toSorted()).toEqual(["corrected", "right"]);
      const [there, here] = [await itemsOf(old), await itemsOf(restored)];
      for (const [pk, item] of there) {
        // A wallet's version counts its own ledger's writes.
        const ours = String(pk).startsWith("wallet#")
          ? { balance_kobo: (await readWallet(old, accountOf(pk))).balance_kobo }
          : item;
        expect(here.get(pk)).toMatchObject(Object(ours));
      }
      expect(copied(await carry())).toBe(0);
    },
  );

  const accountOf = (pk: unknown): string => String(pk).split("#")[1] ?? "";

  test("writes nothing in a dry run, and says what it would write and how balances would change", async () => {
    await aBusyDay();
    const before = await itemsOf(restored);
    const planned = await carry(true);
    expect(await itemsOf(restored)).toEqual(before);
    const wallets = await recomputeWallets(restored, planned.accountIds, {
      plannedChanges: planned.balanceChanges,
      ...silent,
    });
    expect(await itemsOf(restored)).toEqual(before);
    const result = await carry();
    expect(planned.counts).toEqual(result.counts);
    for (const { account_id, after_kobo } of wallets) {
      expect(after_kobo).toBe((await readWallet(old, account_id)).balance_kobo);
    }
  });

  test("never changes a transaction that ended otherwise while it was being read", async () => {
    const transaction = await buy();
    await restore();
    await settle(old, transaction, refusal);
    // It ends before the first write arrives.
    let ending: Promise<void> | undefined;
    let hasEnded = false;
    proxy.fault = ({ operation }) => {
      if (operation !== "PutItem" || hasEnded) return undefined;
      ending ??= settle(restored, transaction, { status: "success" }).then(() => {
        hasEnded = true;
      });
      return "throttled";
    };
    const result = await carry();
    await ending;
    expect(hasEnded).toBe(true);
    expect(await statusOf(transaction)).toBe("success");
    expect(result.discrepancies).toEqual([{ item: transaction.pk, what: "differs in status, failure" }]);
  });

  test("reports what it does not know and what it cannot read, and carries over the rest", async () => {
    await restore();
    const put = (Item: Record<string, unknown>) => old.db.send(new PutCommand({ TableName: old.table, Item }));
    await put({ pk: "lock#1", until: "tomorrow" });
    await put({ pk: "funding#BROKEN", amount_kobo: "much" });
    await fund("second", 700);
    const { discrepancies } = await carry();
    expect(new Set(discrepancies)).toEqual(
      new Set([
        { item: "lock#1", what: "is of an unknown kind" },
        { item: "funding#BROKEN", what: "cannot be read" },
      ]),
    );
    const here = await itemsOf(restored);
    expect([here.has("lock#1"), here.has("funding#BROKEN"), here.size > 3]).toEqual([false, false, true]);
  });

  test("from a table that is not there is a sentence", async () => {
    await restore();
    old = { ...old, table: "nowhere" };
    await expect(carry()).rejects.toThrow("There is no table nowhere");
  });
});

describe("balances computed anew", () => {
  const setBalance = (balanceKobo: number) =>
    restored.db.send(
      new UpdateCommand({
        TableName: restored.table,
        Key: { pk: walletPk(accountId) },
        UpdateExpression: "SET balance_kobo = :balance",
        ExpressionAttributeValues: { ":balance": balanceKobo },
      }),
    );

  test("are what moved them, on record where they were wrong, and stay where they were right", async () => {
    await buy();
    await restore();
    expect(await recompute()).toMatchObject([{ result: "right", before_kobo: 4_500_00, after_kobo: 4_500_00 }]);
    await setBalance(1);
    const { version } = await readWallet(restored, accountId);
    expect(await recompute()).toMatchObject([{ result: "corrected", before_kobo: 1, after_kobo: 4_500_00 }]);
    expect(await readWallet(restored, accountId)).toMatchObject({ balance_kobo: 4_500_00, version: version + 1 });
    expect((await readAudit(restored, accountId)).map(({ action }) => action)).toEqual(["ledger carry-over"]);
    expect(await reconcileWallet(restored, accountId)).toMatchObject({ difference_kobo: 0 });
  });

  test("take away a checkpoint that what was carried over has made wrong, and keep one that is right", async () => {
    await buy();
    nowMs += DAY_MS;
    const [row] = [...(await itemsOf(old)).values()].filter((item) =>
      String(Object(item).pk).startsWith("transaction#"),
    );
    await settle(old, aTransaction(Object(row)), { status: "success" });
    await restore();
    await reconcileAndCheckpoint(restored, await readCheckpoint(restored, accountId));
    await recompute();
    expect((await readCheckpoint(restored, accountId)).sum_kobo).toBe(4_500_00);
    // An entry in the old ledger of before the restored one's checkpoint.
    nowMs -= 2 * DAY_MS;
    await fund("late", 100);
    await carry();
    expect(await recompute()).toMatchObject([{ result: "corrected", after_kobo: 4_600_00 }]);
    expect((await readCheckpoint(restored, accountId)).sum_kobo).toBe(0);
    expect(await reconcileWallet(restored, accountId)).toMatchObject({ difference_kobo: 0 });
  });

  test("are not written where they would be negative, or where the wallet changed while they were summed up", async () => {
    await buy();
    await restore();
    const late = { ...restored, db: emulatorClient(proxy.endpoint) };
    // The wallet is read before the scan, which is answered only after the booking.
    let booking: Promise<void> | undefined;
    let isBooked = false;
    proxy.fault = ({ operation }) => {
      if (operation !== "Scan" || isBooked) return undefined;
      booking ??= fund("meanwhile", 100, restored).then(() => {
        isBooked = true;
      });
      return "throttled";
    };
    await setBalance(1);
    const [first] = await recompute([accountId], late);
    await booking;
    expect(isBooked).toBe(true);
    proxy.fault = () => undefined;
    expect(first?.result).toBe("changed_meanwhile");
    await recompute();
    expect((await readWallet(restored, accountId)).balance_kobo).toBe(4_600_00);

    const { db, table } = restored;
    for (const pk of (await itemsOf(restored)).keys()) {
      if (String(pk).startsWith("funding#")) await db.send(new DeleteCommand({ TableName: table, Key: { pk } }));
    }
    expect(await recompute()).toMatchObject([{ result: "negative", after_kobo: -500_00 }]);
    expect((await readWallet(restored, accountId)).balance_kobo).toBe(4_600_00);
  });

  test("of an account without a wallet are reported", async () => {
    await restore();
    const { db, table } = restored;
    await db.send(new DeleteCommand({ TableName: table, Key: { pk: walletPk(accountId) } }));
    expect(await recompute()).toMatchObject([{ account_id: accountId, result: "no_wallet" }]);
    expect(await recompute([])).toMatchObject([{ account_id: accountId, result: "no_wallet" }]);
  });
});
