import { readFileSync } from "node:fs";
import { paginateScan } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test } from "vitest";
import { koboFromNaira } from "../../../../../shared/contract/values/money.ts";
import { auditEntry, auditPut } from "../../../../../shared/ledger/audit.ts";
import type { AuditedLedger, Ledger } from "../../../../../shared/ledger/ledger.ts";
import { fundWallet } from "../../../../../shared/ledger/ledger-entry.ts";
import { openTransaction } from "../../../../../shared/ledger/open-transaction.ts";
import { openProposals, putProposal, readProposal, rejectProposal } from "../../../../../shared/ledger/proposal.ts";
import { ALL_TIMES } from "../../../../../shared/ledger/query-index.ts";
import { ownerPk } from "../../../../../shared/ledger/schema.ts";
import { type Settlement, settleTransaction } from "../../../../../shared/ledger/settle-transaction.ts";
import { type Transaction, transactionSchema } from "../../../../../shared/ledger/transaction.ts";
import { readWallet, walletRestriction } from "../../../../../shared/ledger/wallet.ts";
import { sealWallet } from "../../../../../shared/ledger/wallet-seal.ts";
import type { WithSdk } from "../../../../../shared/platform/aws/sdk.ts";
import { deadlineIn } from "../../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../../shared/platform/time.ts";
import { type CarriedItems, carryItems } from "../../../../../tools/admin/carry-over/items.ts";
import { recomputeWallets } from "../../../../../tools/admin/carry-over/wallets.ts";
import { copyTable } from "../../../../builders/dynamodb/copy-table.ts";
import { proxyForTests } from "../../../../builders/dynamodb/proxy-for-tests.ts";
import { emulatorClient } from "../../../../builders/dynamodb/tables.ts";
import { type LedgerAtNoon, openLedgerAtNoon } from "../../../../builders/ledger/ledger-at-noon.ts";
import { readStatement } from "../../../../builders/ledger/statement.ts";
import { NOON_MS } from "../../../../builders/run/noon.ts";
import { seeded } from "../../../../builders/run/seeded.ts";
import type { WireFault } from "../../../../strict/faults.ts";

const proxy = await proxyForTests();
/** The old ledger and the restored one, both without the proxy. */
let old: LedgerAtNoon;
let restored: AuditedLedger & WithSdk;
let accountId: string;

beforeEach(async () => {
  old = await openLedgerAtNoon();
  accountId = await old.anAccount(5_000);
});

const fund = (fundingId: string, naira: number, ledger: Ledger = old) =>
  fundWallet(ledger, { accountId, fundingId, amountKobo: koboFromNaira(naira) });
const buy = async (account = accountId): Promise<Transaction> => {
  const transaction = old.aTransaction(account);
  const consent = { pk: `consent#${transaction.pk}`, purpose: "test", created_at: transaction.created_at };
  expect(await openTransaction(old, transaction, [consent], deadlineIn(20_000))).toEqual({ kind: "opened" });
  return transaction;
};
const refusal: Settlement = { status: "failed", failure: { code: "delivery_failed" } };
const settle = async (ledger: Ledger, transaction: Transaction, settlement: Settlement) =>
  expect(await settleTransaction(ledger, transaction, settlement, deadlineIn(20_000))).toEqual({ kind: "applied" });
/** Copies the old ledger as it is now into a table of its own. */
const restore = async (): Promise<void> => {
  restored = { ...old, table: await copyTable(old.db, "ledger", old.table) };
};

const silent = { logProgress: () => {} };
const carry = (isDryRun = false): Promise<CarriedItems> =>
  carryItems({ db: emulatorClient(proxy.endpoint), from: old.table, to: restored.table }, { isDryRun, ...silent });
/** Makes a change after everything was read, before the first put arrives. */
const beforeTheFirstPut = (change: () => Promise<unknown>) => {
  let isMade: boolean | undefined;
  proxy.fault = ({ operation }) => {
    if (operation !== "PutItem" || isMade) return undefined;
    if (isMade === undefined) void change().then(() => (isMade = true));
    isMade ??= false;
    return "throttled";
  };
  return { isMade: () => isMade };
};
const audit = (subject: string) =>
  auditPut(old, auditEntry({ audit_log: subject, by: "ada", action: "ledger carry-over" }, NOON_MS));
const recompute = (accounts: readonly string[] = [accountId], ledger = restored) =>
  recomputeWallets(ledger, new Set(accounts), { audit, plannedChanges: new Map(), ...silent });
const itemsOf = async ({ db, table }: Ledger & WithSdk): Promise<ReadonlyMap<unknown, unknown>> => {
  const items: Record<string, unknown>[] = [];
  for await (const { Items = [] } of paginateScan({ client: db }, { TableName: table, ConsistentRead: true })) {
    items.push(...Items);
  }
  return new Map(items.map((item) => [item.pk, item]));
};
const statusOf = async ({ pk }: Transaction): Promise<unknown> =>
  (await restored.db.get({ TableName: restored.table, Key: { pk }, ConsistentRead: true })).Item?.status;
const copied = ({ counts }: CarriedItems): number =>
  [...counts.values()].reduce((sum, each) => sum + each.copied + each.updated, 0);

/** Three orders before the restore, two of which settle after it; then two orders, two fundings and an account. */
const settleAndOrderAfterRestore = async (): Promise<void> => {
  const [delivered, refused] = [await buy(), await buy(), await buy()];
  await restore();
  await settle(old, delivered, { status: "success", upstream_reference: "UP-1" });
  await settle(old, refused, refusal);
  await fund("second", 700);
  await settle(old, await buy(), refusal);
  await buy(await old.anAccount(1_000));
};

/** Which calls fail is another choice in each run. */
const SEED = Date.now() % 1_000_000_000;

test(`a carry-over whose calls fail in every third case still copies the whole ledger (seed ${SEED})`, async () => {
  await settleAndOrderAfterRestore();
  const random = seeded(SEED);
  const faults: readonly WireFault[] = ["throttled", "answer_lost", "never_arrives", "conflict"];
  proxy.fault = () => (random() < 0.33 ? faults[Math.floor(random() * faults.length)] : undefined);
  const result = await carry();
  proxy.fault = () => undefined;
  expect(result.discrepancies).toEqual([]);
  const results = await recompute([...result.accountIds]);
  expect(new Map(results.map((each) => [each.account_id, each.result])).get(accountId)).toBe("corrected");
  expect(results.map((each) => each.result).toSorted()).toEqual(["corrected", "right"]);
  const [oldItems, restoredItems] = [await itemsOf(old), await itemsOf(restored)];
  for (const [pk, item] of oldItems) {
    // A wallet's version counts its own ledger's writes.
    const expected = String(pk).startsWith("wallet#")
      ? { balance_kobo: (await readWallet(old, accountOf(pk))).balance_kobo }
      : item;
    expect(restoredItems.get(pk)).toMatchObject(Object(expected));
  }
  expect(copied(await carry())).toBe(0);
});

const accountOf = (pk: unknown): string => String(pk).split("#")[1] ?? "";

test("a proposal that was rejected since the restore can be approved in neither ledger, and an open one is left out", async () => {
  const proposed = { action: "wallet adjust", input: "{}", consequence: "Gives", proposed_by: "Ada", proposer: "ada" };
  const refused = await putProposal(old, proposed, 72, () => audit(accountId));
  await restore();
  await rejectProposal(old, refused, { by: "Bola" }, audit(accountId));
  const later = await putProposal(old, { ...proposed, input: '{"id":2}' }, 72, () => audit(accountId));
  const { counts } = await carry();
  expect(counts.get("proposals")).toMatchObject({ updated: 1, skipped: 1, copied: 0 });
  expect(await openProposals(restored)).toEqual([]);
  expect(await readProposal(restored, refused.proposal_id)).toMatchObject({ state: "rejected", decided_by: "Bola" });
  expect(await readProposal(restored, later.proposal_id)).toBeUndefined();
});

test("what an erasure has removed of a person since the restore is removed in the restored ledger, once", async () => {
  const order = await buy();
  await settle(old, order, { status: "success" });
  const delivery = { pk: "delivery#1#order#success", state: "delivered" };
  const attempts = [{ number: 1, response_body: "Dear Ada" }, { number: 2 }];
  await old.db.put({ TableName: old.table, Item: { ...delivery, attempts } });
  await restore();
  const stored = (await itemsOf(old)).get(order.pk);
  const erased = [
    { ...transactionSchema.parse(stored), phone_number: "*********67", description: "MTN 1GB data for *********67" },
    { pk: `consent#${order.pk}`, created_at: order.created_at },
    { ...delivery, attempts: [{ number: 1 }, { number: 2 }] },
  ];
  for (const Item of erased) await old.db.put({ TableName: old.table, Item });
  const carried = await carry();
  expect(carried.discrepancies).toEqual([]);
  expect(copied(carried)).toBe(erased.length);
  const items = await itemsOf(restored);
  expect(erased.map(({ pk }) => items.get(pk))).toEqual(erased);
  expect(copied(await carry())).toBe(0);
});

test("a dry run of a carry-over writes nothing and predicts the copied items and the balances", async () => {
  await settleAndOrderAfterRestore();
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
  expect(wallets.map(({ account_id }) => account_id)).toContain(accountId);
  for (const { account_id, after_kobo } of wallets) {
    expect(after_kobo).toBe((await readWallet(old, account_id)).balance_kobo);
  }
});

test("a carry-over does not change a transaction that settled otherwise after it was read, and reports it", async () => {
  const transaction = await buy();
  await restore();
  await settle(old, transaction, refusal);
  const change = beforeTheFirstPut(() => settle(restored, transaction, { status: "success" }));
  const result = await carry();
  expect(change.isMade()).toBe(true);
  expect(await statusOf(transaction)).toBe("success");
  expect(result.discrepancies).toEqual([{ item: transaction.pk, what: "differs in status, failure" }]);
  // The old ledger's refund of it is not copied: it changed no balance of the restored one.
  const { lines, closing_kobo } = await readStatement(restored, accountId, ALL_TIMES);
  expect(lines.map(({ kind }) => kind)).toEqual(["data", "funding"]);
  expect((await readWallet(restored, accountId)).balance_kobo).toBe(closing_kobo);
});

test("a wallet that is restricted while its seal is carried over stays restricted, and is sealed", async () => {
  await restore();
  const sealedTo = isoTime(NOON_MS - 1);
  await sealWallet(old, accountId, sealedTo);
  const { db, table } = restored;
  const restriction = walletRestriction(table, accountId, true, NOON_MS);
  const change = beforeTheFirstPut(() => db.update(restriction.Update));
  await carry();
  expect(change.isMade()).toBe(true);
  expect(await readWallet(restored, accountId)).toMatchObject({ restricted: true, sealed_to: sealedTo });
});

test("a carry-over reports items of an unknown kind and unreadable ones, as docs/recovery.md quotes, and copies the others", async () => {
  await restore();
  const put = (Item: Record<string, unknown>) => old.db.put({ TableName: old.table, Item });
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
  const recovery = readFileSync("docs/recovery.md", "utf8");
  for (const { what } of discrepancies) expect(recovery).toContain(`| \`${what}\` |`);
  const items = await itemsOf(restored);
  expect([items.has("lock#1"), items.has("funding#BROKEN"), items.size > 3]).toEqual([false, false, true]);
});

test("a carry-over from a table that does not exist fails with a message", async () => {
  await restore();
  old = { ...old, table: "nowhere" };
  await expect(carry()).rejects.toThrow("There is no table nowhere");
});

test("an owner whose last account was removed before the moment, and who got another one after it, owns that one", async () => {
  const pk = ownerPk("hash");
  await old.db.put({ TableName: old.table, Item: { pk } });
  await restore();
  const accounts = new Set([accountId]);
  await old.db.put({ TableName: old.table, Item: { pk, accounts } });
  expect(copied(await carry())).toBe(1);
  expect((await itemsOf(restored)).get(pk)).toEqual({ pk, accounts });
});
