import { beforeEach, expect, test } from "vitest";
import { DAY_MS } from "../../../../../shared/contract/values/durations.ts";
import { koboFromNaira } from "../../../../../shared/contract/values/money.ts";
import { type AuditEntry, auditEntry, auditPut, readAudit } from "../../../../../shared/ledger/audit.ts";
import { readCheckpoint } from "../../../../../shared/ledger/checkpoint.ts";
import { readTransactions } from "../../../../../shared/ledger/find-transactions.ts";
import type { AuditedLedger, Ledger } from "../../../../../shared/ledger/ledger.ts";
import { fundWallet } from "../../../../../shared/ledger/ledger-entry.ts";
import { queuedKeys } from "../../../../../shared/ledger/query-index.ts";
import { walletPk } from "../../../../../shared/ledger/schema.ts";
import { NOT_DELIVERED, settleTransaction } from "../../../../../shared/ledger/settle-transaction.ts";
import type { Transaction } from "../../../../../shared/ledger/transaction.ts";
import { voidDebit } from "../../../../../shared/ledger/void-debit.ts";
import { readWallet } from "../../../../../shared/ledger/wallet.ts";
import { advanceSums, readSums } from "../../../../../shared/margin/order-sums.ts";
import type { WithSdk } from "../../../../../shared/platform/aws/sdk.ts";
import { deadlineIn } from "../../../../../shared/platform/deadline.ts";
import { enqueueOrder, queuedOrdersPage } from "../../../../../shared/queued-orders/queue-store.ts";
import { reconcileAndCheckpoint, reconcileWallet } from "../../../../../shared/reconciliation/reconcile-wallet.ts";
import { carryItems } from "../../../../../tools/admin/carry-over/items.ts";
import { recomputeWallets } from "../../../../../tools/admin/carry-over/wallets.ts";
import { scanTable } from "../../../../../tools/admin/table-scan.ts";
import { changeItem } from "../../../../builders/dynamodb/change-item.ts";
import { copyTable } from "../../../../builders/dynamodb/copy-table.ts";
import { proxyForTests } from "../../../../builders/dynamodb/proxy-for-tests.ts";
import { emulatorClient } from "../../../../builders/dynamodb/tables.ts";
import { type LedgerAtNoon, openLedgerAtNoon } from "../../../../builders/ledger/ledger-at-noon.ts";
import { claimAsSender, queuedCount, storedQueued, walletAndCount } from "../../../../builders/ledger/queued-order.ts";
import { NOON_MS } from "../../../../builders/run/noon.ts";

/** Goal: after a carry-over every balance equals its entries, and a wallet that changes in the meantime is left alone. */
const proxy = await proxyForTests();
let old: LedgerAtNoon;
/** Without the proxy. */
let restored: AuditedLedger & WithSdk;
let accountId: string;

beforeEach(async () => {
  old = await openLedgerAtNoon();
  accountId = await old.anAccount(5_000);
});

/** Copies the old ledger as it is now into a table of its own. */
const restore = async (): Promise<void> => {
  restored = { ...old, table: await copyTable(old.db, "ledger", old.table) };
};
const fund = (ledger: Ledger, fundingId: string, naira: number) =>
  fundWallet(ledger, { accountId, fundingId, amountKobo: koboFromNaira(naira) });
const deleteItem = (pk: string) => restored.db.delete({ TableName: restored.table, Key: { pk } });
const logProgress = (): void => {};
const audit = (subject: string, details: AuditEntry["details"]) =>
  auditPut(old, auditEntry({ audit_log: subject, by: "ada", action: "ledger carry-over", details }, NOON_MS));
const recompute = (accounts: readonly string[] = [accountId], ledger = restored) =>
  recomputeWallets(ledger, new Set(accounts), { audit, plannedChanges: new Map(), logProgress });

const setBalance = (balance_kobo: number) => changeItem(restored, walletPk(accountId), { balance_kobo });

test("recomputed balances equal the entries, and a correction has an audit entry", async () => {
  await old.anOpenTransaction(accountId);
  await restore();
  expect(await recompute()).toMatchObject([{ result: "right", before_kobo: 4_500_00, after_kobo: 4_500_00 }]);
  await setBalance(1);
  const { version } = await readWallet(restored, accountId);
  expect(await recompute()).toMatchObject([{ result: "corrected", before_kobo: 1, after_kobo: 4_500_00 }]);
  expect(await readWallet(restored, accountId)).toMatchObject({ balance_kobo: 4_500_00, version });
  expect((await readAudit(restored, accountId)).map(({ action }) => action)).toEqual(["ledger carry-over"]);
  expect(await reconcileWallet(restored, accountId)).toMatchObject({ difference_kobo: 0 });
});

test("a recomputed wallet counts its lines: entries, debits and refunds, without orders that were never debited", async () => {
  await settleTransaction(old, await old.anOpenTransaction(accountId), NOT_DELIVERED, deadlineIn(20_000));
  await voidDebit(old, old.aTransaction(accountId), deadlineIn(20_000));
  await restore();
  await fund(old, "after the backup", 100);
  await old.anOpenTransaction(accountId);
  await carryOver();
  const { version } = await readWallet(old, accountId);
  expect(version).toBe(5);
  expect(await readWallet(restored, accountId)).toMatchObject({ version, balance_kobo: 4_600_00 });
});

test("sums of orders go on from those of the restored ledger, and are then those of the old one", async () => {
  const anHourLater = async (of: Ledger) => {
    await advanceSums({ ...of, timeZone: "Africa/Lagos" }, accountId, deadlineIn(60_000));
    return (await readSums(of, [accountId])).get(accountId);
  };
  const deliver = async (order: Transaction) => {
    await settleTransaction(old, order, { status: "success" }, deadlineIn(20_000));
  };
  await deliver(await old.anOpenTransaction(accountId));
  const open = await old.anOpenTransaction(accountId);
  old.nowMs += 2 * 3_600_000;
  expect(await anHourLater(old)).toMatchObject({ unknown_kobo: 500_00, open_keys: [open.pk] });
  await restore();
  await deliver(open);
  await deliver(await old.anOpenTransaction(accountId));
  await carryOver();
  old.nowMs += 2 * 3_600_000;
  const sums = await anHourLater(old);
  expect(sums).toMatchObject({ unknown_kobo: 1_500_00, open_keys: [] });
  expect(await anHourLater(restored)).toEqual(sums);
});

test("recomputing balances deletes a checkpoint that the carried items made wrong, and keeps a right one", async () => {
  const transaction = await old.anOpenTransaction(accountId);
  old.nowMs += DAY_MS;
  await settleTransaction(old, transaction, { status: "success" }, deadlineIn(20_000));
  await restore();
  await reconcileAndCheckpoint(restored, await readCheckpoint(restored, accountId));
  await recompute();
  expect((await readCheckpoint(restored, accountId)).balance_kobo).toBe(4_500_00);
  // An entry of the old ledger that is older than the restored ledger's checkpoint.
  old.nowMs -= 2 * DAY_MS;
  await fund(old, "late", 100);
  await carryItems({ db: old.db, from: old.table, to: restored.table }, { isDryRun: false, logProgress });
  expect(await recompute()).toMatchObject([{ result: "corrected", after_kobo: 4_600_00 }]);
  expect((await readCheckpoint(restored, accountId)).balance_kobo).toBe(0);
  expect(await reconcileWallet(restored, accountId)).toMatchObject({ difference_kobo: 0 });
});

test("a recomputed balance is not written if it is negative or if the wallet changed during the scan", async () => {
  await old.anOpenTransaction(accountId);
  await restore();
  const late = { ...restored, db: emulatorClient(proxy.endpoint) };
  // The wallet is read before the scan, which succeeds only after the funding.
  let funding: Promise<void> | undefined;
  let isFunded = false;
  proxy.fault = ({ operation }) => {
    if (operation !== "Scan" || isFunded) return undefined;
    funding ??= fund(restored, "meanwhile", 100).then(() => {
      isFunded = true;
    });
    return "throttled";
  };
  await setBalance(1);
  const [first] = await recompute([accountId], late);
  await funding;
  expect(isFunded).toBe(true);
  proxy.fault = () => undefined;
  expect(first?.result).toBe("changed_meanwhile");
  await recompute();
  expect((await readWallet(restored, accountId)).balance_kobo).toBe(4_600_00);

  await scanTable(restored.db, restored.table, {
    logProgress,
    onPage: async (items) => {
      const fundings = items.filter(({ pk }) => pk.startsWith("funding#"));
      await Promise.all(fundings.map(({ pk }) => deleteItem(pk)));
    },
  });
  expect(await recompute()).toMatchObject([{ result: "negative", after_kobo: -500_00 }]);
  expect((await readWallet(restored, accountId)).balance_kobo).toBe(4_600_00);
});

const makeWait = async (transaction: Transaction): Promise<void> => {
  const order = { kind: "data", network_id: 1, plan_id: 101 } as const;
  expect(await enqueueOrder(old, transaction, order, deadlineIn(20_000))).toMatchObject({ kind: "queued" });
};
/** An order of the account that waits in the old ledger. */
const aQueuedOrder = async () => {
  const transaction = await old.anOpenTransaction(accountId);
  await makeWait(transaction);
  return transaction;
};
const claim = async ({ pk }: Transaction) => {
  expect(await claimAsSender(old, await storedQueued(old, pk))).toMatchObject({ kind: "claimed" });
};
const carryOver = async () => {
  await carryItems({ db: old.db, from: old.table, to: restored.table }, { isDryRun: false, logProgress });
  await recompute();
};
const queuedIn = async (ledger: Ledger): Promise<readonly unknown[]> => {
  const { length: wallets } = (await queuedKeys(ledger)).wallets;
  return [wallets, (await queuedOrdersPage(ledger, accountId)).orders.map(({ pk }) => pk)];
};

test("a restored wallet counts the orders that wait after the carry-over: those that began to, without those that ceased to", async () => {
  const ceased = await aQueuedOrder();
  const stays = await aQueuedOrder();
  await restore();
  await claim(ceased);
  old.nowMs += 1_000;
  const began = await aQueuedOrder();
  await carryOver();
  old.nowMs += 60_000;
  expect(await queuedIn(restored)).toEqual([1, [stays.pk, began.pk]]);
  expect(await walletAndCount(restored, accountId)).toMatchObject({ balance_kobo: 3_500_00, queued_orders: 2 });
  // The orders can leave: the count is that of the items.
  for (const transaction of [stays, began]) {
    const refund = { status: "failed", failure: { code: "provider_unavailable" } } as const;
    const [stored] = await readTransactions(restored, [transaction]);
    if (stored === undefined) throw new Error("The order is not in the restored ledger");
    expect(await settleTransaction(restored, stored, refund, deadlineIn(20_000))).toEqual({ kind: "applied" });
  }
  expect(await walletAndCount(restored, accountId)).toMatchObject({ balance_kobo: 4_500_00, queued_orders: 0 });
});

test("a restored wallet leaves the index of queued orders if all of them were claimed since", async () => {
  const transaction = await aQueuedOrder();
  await restore();
  await claim(transaction);
  await carryOver();
  expect(await queuedIn(restored)).toEqual([0, []]);
  expect(await queuedCount(restored, accountId)).toBe(0);
  expect(await recompute()).toMatchObject([{ result: "right" }]);
});

test("recomputing balances reports an account without a wallet", async () => {
  await restore();
  await deleteItem(walletPk(accountId));
  expect(await recompute()).toMatchObject([{ account_id: accountId, result: "no_wallet" }]);
  expect(await recompute([])).toMatchObject([{ account_id: accountId, result: "no_wallet" }]);
});

test("a carry-over from a second copy of the same backup counts a queued order whose wallet the backup has from before its wait", async () => {
  const transaction = await old.anOpenTransaction(accountId);
  await restore();
  await makeWait(transaction);
  const [waiting] = await readTransactions(old, [transaction]);
  const copy = restored.table;
  await old.db.put({ TableName: copy, Item: { ...waiting } });
  restored = { ...old, table: await copyTable(old.db, "ledger", copy) };
  expect((await queuedKeys(restored)).wallets).toEqual([]);
  await carryItems({ db: old.db, from: copy, to: restored.table }, { isDryRun: false, logProgress });
  await recompute();
  expect(await walletAndCount(restored, accountId)).toMatchObject({ balance_kobo: 4_500_00, queued_orders: 1 });
  expect((await queuedKeys(restored)).wallets).toMatchObject([{ pk: walletPk(accountId) }]);
  // It still waits in the old ledger, and so is not sent from this one.
  expect(await readTransactions(restored, [transaction])).toMatchObject([{ queued: { table: old.table } }]);
});

test("recomputed wallets no longer count a queued order that has a final status in the old ledger", async () => {
  const transaction = await aQueuedOrder();
  await restore();
  await settleTransaction(old, transaction, { status: "success" }, deadlineIn(20_000));
  await carryItems({ db: old.db, from: old.table, to: restored.table }, { isDryRun: false, logProgress });
  expect(await recompute()).toMatchObject([{ result: "corrected", before_kobo: 4_500_00, after_kobo: 4_500_00 }]);
  expect((await readAudit(restored, accountId)).map(({ details }) => details)).toEqual([
    { before_kobo: 4_500_00, after_kobo: 4_500_00, before_queued_orders: 1, after_queued_orders: 0 },
  ]);
  expect(await queuedCount(restored, accountId)).toBe(0);
  expect((await queuedKeys(restored)).wallets).toEqual([]);
});
