import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { firstCheckpoint, readCheckpoint } from "../../../../shared/ledger/checkpoint.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { ACCOUNTS_LIST, accountPk, openLists, walletPk } from "../../../../shared/ledger/schema.ts";
import { referenceOf } from "../../../../shared/ledger/transaction.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import { type Deadline, deadlineIn } from "../../../../shared/platform/deadline.ts";
import { fromMovingStart } from "../../../../shared/platform/moving-start.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { enqueueOrder } from "../../../../shared/queued-orders/queue-store.ts";
import { reconcileLedger } from "../../../../shared/reconciliation/reconcile-ledger.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { proxyForTests } from "../../../builders/dynamodb/proxy-for-tests.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { type LedgerAtNoon, openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

/**
 * Goal: each run measures what is open, refunds abandoned checks, and reports the wallets that differ and no others.
 */
const proxy = await proxyForTests();
let ledger: LedgerAtNoon;
beforeEach(async () => {
  ledger = await openLedgerAtNoon(proxy.endpoint);
});
afterEach(() => void vi.restoreAllMocks());

const enough = (): Deadline => deadlineIn(120_000);

const anAccount = () => ledger.anAccount(2_000);
const addKobo = (accountId: string, kobo: number) => ledger.addToWallet(accountId, "balance_kobo", kobo);
/** As if another writer changed the wallet without an entry. */
const raiseVersion = (accountId: string) => ledger.addToWallet(accountId, "version", 1);

/** What a run returns, publishes as metrics, and logs. */
const run = async (deadline: Deadline = enough()) => {
  const log = captureLog();
  const result = await reconcileLedger(ledger, deadline);
  const metrics = Object.assign({}, ...log.lines().filter((line) => "_aws" in line));
  return { result, metrics, logged: log.text() };
};

describe("reconcileLedger", () => {
  test("a run that finds nothing returns and publishes zeros", async () => {
    const { result, metrics } = await run();
    expect(result).toEqual({ open: 0, refunded: 0, mismatches: 0 });
    expect(metrics).toMatchObject({
      OldestOpenSeconds: 0,
      StuckTransactions: 0,
      OldestUnrefundedSeconds: 0,
    });
  });

  test("mismatches are published by a run that reconciled a wallet, and not by one that did not", async () => {
    await anAccount();
    expect((await run()).metrics).toMatchObject({ LedgerMismatches: 0 });
    expect((await run()).metrics).not.toHaveProperty("LedgerMismatches");
  });

  test("ages are whole seconds, and a transaction that is open for exactly 15 minutes is not stuck yet", async () => {
    const accountId = await anAccount();
    await ledger.anOpenTransaction(accountId);
    ledger.nowMs += 500;
    await ledger.anOpenTransaction(accountId);
    ledger.nowMs = NOON_MS + 15 * MINUTE_MS;
    expect((await run()).metrics).toMatchObject({ OldestOpenSeconds: 900, StuckTransactions: 0 });
    ledger.nowMs += 1;
    expect(await run()).toMatchObject({
      result: { open: 2 },
      metrics: { OldestOpenSeconds: 900, StuckTransactions: 1, OldestUnrefundedSeconds: 0 },
    });
  });

  test("orders that were debited more than 24 hours ago are counted, by kind too, while there are some", async () => {
    const accountId = await anAccount();
    const linesOf = async () => {
      const log = captureLog();
      await reconcileLedger(ledger, enough());
      return log.lines().flatMap(({ OpenOver24Hours: count, Kind }) => (count === undefined ? [] : [[Kind, count]]));
    };
    await ledger.anOpenTransaction(accountId, { type: "airtime" });
    ledger.nowMs = NOON_MS + 24 * 60 * MINUTE_MS;
    await ledger.anOpenTransaction(accountId, { type: "airtime" });
    expect(await linesOf()).toEqual([[undefined, 0]]);
    ledger.nowMs += 1;
    expect(await linesOf()).toEqual([
      [undefined, 1],
      ["airtime", 1],
    ]);
  });

  test("an order that waits counts among those that were debited more than 24 hours ago, and not as sent or stuck", async () => {
    const accountId = await anAccount();
    for (const refusals of [undefined, 1]) {
      const order = await ledger.anOpenTransaction(accountId, { type: "data" });
      await enqueueOrder(ledger, { ...order, refusals }, { kind: "data", network_id: 1, plan_id: 101 }, enough());
      ledger.nowMs += 1;
    }
    ledger.nowMs = NOON_MS + DAY_MS;
    expect((await run()).metrics).toMatchObject({ OpenOver24Hours: 0 });
    ledger.nowMs += 1;
    expect((await run()).metrics).toMatchObject({ OpenOver24Hours: 1, Kind: "data" });
    ledger.nowMs += 1;
    expect(await run()).toMatchObject({
      result: { open: 0 },
      metrics: { OpenOver24Hours: 2, OldestOpenSeconds: 0, StuckTransactions: 0 },
    });
  });

  test("an identity check that is open for more than 5 minutes is refunded once, and a purchase stays open", async () => {
    const accountId = await anAccount();
    const purchase = await ledger.anOpenTransaction(accountId);
    const check = await ledger.anOpenTransaction(accountId, { type: "nin_verification" });
    ledger.nowMs += 1_000;
    await ledger.anOpenTransaction(accountId, { type: "bvn_retrieval" });
    ledger.nowMs = NOON_MS + 5 * MINUTE_MS + 1_000;
    expect(await run()).toMatchObject({ result: { refunded: 1 }, metrics: { OldestUnrefundedSeconds: 301 } });
    ledger.nowMs += 1;
    expect(await run()).toMatchObject({ result: { open: 2, refunded: 1 }, metrics: { OldestUnrefundedSeconds: 300 } });
    expect(await readTransaction(ledger, check.pk)).toMatchObject({
      status: "failed",
      failure: { code: "provider_timeout" },
    });
    expect(await readTransaction(ledger, purchase.pk)).toEqual(purchase);
    expect((await readWallet(ledger, accountId)).balance_kobo).toBe(150_000);
    expect((await run()).result).toEqual({ open: 1, refunded: 0, mismatches: 0 });
  });

  test("an open order of a later release's form raises an alarm, and holds back no refund", async () => {
    const accountId = await anAccount();
    const later = await ledger.anOpenTransaction(accountId, { type: "nin_verification" });
    await ledger.anOpenTransaction(accountId, { type: "nin_verification" });
    await ledger.makeUnreadable(later.pk);
    ledger.nowMs += 400_000;
    const { result, metrics, logged } = await run();
    expect(result).toMatchObject({ open: 1, refunded: 1 });
    expect(metrics).toMatchObject({ OldestUnrefundedSeconds: 400, Alarms: 1 });
    expect(logged).toContain(`"event":"open_order.unreadable","record":"${later.pk}"`);
  });

  test("a check whose refund meets conflicts for 3 s is left to the next run, and the others are refunded", async () => {
    const [busy, intact] = [await anAccount(), await anAccount()];
    const check = await ledger.anOpenTransaction(busy, { type: "nin_verification" });
    await ledger.anOpenTransaction(intact, { type: "nin_verification", created_at: isoTime(NOON_MS + 1_000) });
    ledger.nowMs += 400_000;
    proxy.fault = ({ operation, body }) =>
      operation === "TransactWriteItems" && body.includes(check.pk) ? "conflict" : undefined;
    const { result, logged } = await run();
    expect(result).toMatchObject({ open: 2, refunded: 1 });
    expect(logged).toContain(`"event":"identity_check.not_refunded","transaction":"${referenceOf(check)}"`);
    proxy.fault = () => undefined;
    expect((await run()).result).toMatchObject({ open: 1, refunded: 1 });
    expect((await readWallet(ledger, busy)).balance_kobo).toBe(200_000);
  });

  test("a run whose time is up during a refund tries no other", async () => {
    const accountId = await anAccount();
    await ledger.anOpenTransaction(accountId, { type: "nin_verification" });
    await ledger.anOpenTransaction(accountId, { type: "nin_verification" });
    ledger.nowMs += DAY_MS;
    let writes = 0;
    proxy.fault = ({ operation }) => {
      if (operation !== "TransactWriteItems") return undefined;
      writes += 1;
      return "conflict";
    };
    // Time for one attempt, and none after it.
    const deadline: Deadline = { remainingMs: () => (writes === 0 ? 20_000 : 0) };
    expect((await run(deadline)).result).toMatchObject({ open: 2, refunded: 0 });
    expect(writes).toBe(1);
  });

  test.each([
    ["the function has only its reserve left", (refunds: number) => (refunds < 2 ? 120_000 : 10_000), 0],
    ["the share of refunds and reconciliations is over", () => 120_000, 15_000],
  ])("a run refunds no other check once %s", async (_name, remainingMs, refundMs) => {
    const accountId = await anAccount();
    for (const type of ["nin_verification", "bvn_verification", "nin_retrieval", "bvn_retrieval"] as const)
      await ledger.anOpenTransaction(accountId, { type });
    ledger.nowMs += DAY_MS;
    let refunds = 0;
    proxy.fault = ({ operation }) => {
      if (operation === "TransactWriteItems") refunds += 1;
      if (operation === "TransactWriteItems") ledger.nowMs += refundMs;
      return undefined;
    };
    const { result } = await run({ remainingMs: () => remainingMs(refunds) });
    expect(result).toMatchObject({ open: 4, refunded: 2 });
    proxy.fault = () => undefined;
    expect((await run()).result).toMatchObject({ open: 2, refunded: 2 });
  });

  test("checks whose refunds take the time of each run keep no other from being refunded", async () => {
    const busy = [await anAccount(), await anAccount()];
    for (const accountId of [...busy, ...busy, await anAccount()]) {
      await ledger.anOpenTransaction(accountId, { type: "nin_verification", created_at: isoTime(ledger.nowMs) });
      ledger.nowMs += 1;
    }
    for (const accountId of busy) {
      await ledger.tables.db.delete({ TableName: ledger.table, Key: { pk: walletPk(accountId) } });
    }
    proxy.fault = ({ operation, body }) => {
      const isBusy = busy.some((accountId) => body.includes(walletPk(accountId)));
      if (operation === "TransactWriteItems" && isBusy) ledger.nowMs += 16_000;
      return undefined;
    };
    let refunded = 0;
    for (let minute = 0; minute < 5; minute += 1) {
      ledger.nowMs = NOON_MS + DAY_MS + minute * MINUTE_MS;
      refunded += (await run()).result.refunded;
    }
    expect(refunded).toBe(1);
  });

  test("of an account whose refund cannot be written, as its wallet is missing or unreadable, a run tries no other", async () => {
    const [broken, later, intact] = [await anAccount(), await anAccount(), await anAccount()];
    for (const accountId of [broken, broken, broken, later, intact]) {
      await ledger.anOpenTransaction(accountId, { type: "nin_verification", created_at: isoTime(ledger.nowMs) });
      ledger.nowMs += 1;
    }
    const wallet = { TableName: ledger.table, Key: { pk: walletPk(broken) } };
    const { Attributes } = await ledger.tables.db.delete({ ...wallet, ReturnValues: "ALL_OLD" });
    await changeItem({ db: ledger.tables.db, table: ledger.table }, walletPk(later), {
      sealed_to: "of a later release",
    });
    ledger.nowMs += DAY_MS;
    const { result, logged } = await run();
    expect(result).toMatchObject({ open: 5, refunded: 1 });
    expect(logged.match(/"level":"error","event":"identity_check\.not_refunded","transaction":"/g)).toHaveLength(2);
    expect((await readWallet(ledger, intact)).balance_kobo).toBe(200_000);
    await ledger.tables.db.put({ TableName: ledger.table, Item: Attributes });
    await run();
    expect((await readWallet(ledger, broken)).balance_kobo).toBe(200_000);
  });

  test("no reconciliation begins when 10 seconds are left to the function", async () => {
    const accountId = await anAccount();
    await run({ remainingMs: () => 10_000 });
    expect((await readCheckpoint(ledger, accountId)).reconciled_at).not.toBe(isoTime(ledger.nowMs));
    await run({ remainingMs: () => 10_001 });
    expect((await readCheckpoint(ledger, accountId)).reconciled_at).toBe(isoTime(ledger.nowMs));
  });

  test("a wallet is reconciled again after a day, and not a moment sooner", async () => {
    const accountId = await anAccount();
    await run();
    ledger.nowMs += DAY_MS - 1;
    await run();
    expect((await readCheckpoint(ledger, accountId)).reconciled_at).toBe(isoTime(NOON_MS));
    ledger.nowMs += 1;
    await run();
    expect((await readCheckpoint(ledger, accountId)).reconciled_at).toBe(isoTime(ledger.nowMs));
  });

  test("a run goes on after a wallet that cannot be reconciled, and logs which", async () => {
    const broken = await anAccount();
    await ledger.tables.db.delete({ TableName: ledger.table, Key: { pk: walletPk(broken) } });
    const accountId = await anAccount();
    expect((await run()).logged).toContain(broken);
    expect((await readCheckpoint(ledger, accountId)).reconciled_at).toBe(isoTime(ledger.nowMs));
  });

  test("a difference is a warning in the first run and a mismatch in each later one, also if it grows, until it is corrected", async () => {
    const accountId = await anAccount();
    const mismatches: unknown[] = [];
    const logged: string[] = [];
    for (const kobo of [50_000, 0, 100_000, -150_000, 1]) {
      // Without a difference it is due after a day.
      ledger.nowMs += kobo === 1 ? DAY_MS : MINUTE_MS;
      await addKobo(accountId, kobo);
      const { result, metrics, logged: lines } = await run();
      expect(metrics).toMatchObject({ LedgerMismatches: result.mismatches });
      mismatches.push(result.mismatches);
      logged.push(lines);
    }
    expect(mismatches).toEqual([0, 1, 1, 0, 0]);
    expect(logged[0]).toContain('"level":"warn","event":"wallet.difference"');
    expect(logged[0]).not.toContain("wallet.mismatch");
    expect(logged[2]).toContain(`"event":"wallet.mismatch","account":"${accountId}","difference_kobo":150000`);
  });

  test("a wallet that differed and is too busy in the next run raises an alarm at once", async () => {
    // No backoff.
    vi.spyOn(Math, "random").mockReturnValue(0);
    const accountId = await anAccount();
    await addKobo(accountId, 1);
    await run();
    ledger.beforeEachWalletRead(raiseVersion);
    ledger.nowMs += MINUTE_MS;
    expect((await run()).logged).toContain(`"event":"wallet.not_reconciled","account":"${accountId}","reason":"busy"`);
  });

  test.each([
    ["is too busy", () => ledger.beforeEachWalletRead(raiseVersion), false],
    [
      "gets no answer of AWS",
      () => {
        proxy.fault = ({ operation }) => (operation === "GetItem" ? "throttled" : undefined);
      },
      true,
    ],
  ])(
    "a wallet that %s raises an alarm in every run once it was not reconciled for 25 hours",
    async (_why, fail, isDelayed) => {
      // No backoff.
      vi.spyOn(Math, "random").mockReturnValue(0);
      const accountId = await anAccount();
      fail();
      ledger.nowMs += 25 * HOUR_MS;
      const { logged } = await run();
      expect(logged).not.toContain("wallet.not_reconciled");
      expect(logged.includes(`"event":"wallet.reconciliation_delayed","account":"${accountId}"`)).toBe(isDelayed);
      ledger.nowMs += 1;
      expect((await run()).logged).toContain(`"event":"wallet.not_reconciled","account":"${accountId}"`);
    },
  );

  test("a wallet whose time is up does not stop the run, which goes on with the next one", async () => {
    const slow = await anAccount();
    ledger.nowMs += 1;
    const other = await anAccount();
    ledger.beforeEachWalletRead(async (accountId) => {
      if (accountId !== slow) return;
      ledger.nowMs += 11_000;
      await raiseVersion(slow);
    });
    await ledger.anOpenTransaction(slow);
    ledger.nowMs = NOON_MS + HOUR_MS;
    // The run of this minute begins with the slow one.
    while (fromMovingStart([slow, other], ledger.nowMs)[0] !== slow) ledger.nowMs += MINUTE_MS;
    await run();
    expect((await readCheckpoint(ledger, slow)).reconciled_at).not.toBe(isoTime(ledger.nowMs));
    expect((await readCheckpoint(ledger, other)).reconciled_at).toBe(isoTime(ledger.nowMs));
  });

  test("a run reads the checkpoints of wallets that are not due a hundred at a time", async () => {
    const reconciled = { reconciled_at: isoTime(NOON_MS) };
    const items = Array.from({ length: 101 }, (_, index) => {
      const account_id = `acc_${index}`;
      const account = { pk: accountPk(account_id), list_key: ACCOUNTS_LIST, account_id, created_at: isoTime(NOON_MS) };
      return [account, { ...firstCheckpoint(account_id), ...reconciled }];
    });
    await putItems(ledger.tables.db, ledger.table, items.flat());
    proxy.calls.length = 0;
    await run();
    expect(proxy.calls.map(({ operation }) => operation)).toEqual([
      ...[...openLists, "queued", "accounts"].map(() => "Query"),
      ...["BatchGetItem", "BatchGetItem"],
    ]);
  });

  test("a checkpoint that cannot be parsed raises an alarm for its wallet, and the others are reconciled", async () => {
    const broken = await anAccount();
    const intact = await anAccount();
    const Item = { ...(await readCheckpoint(ledger, broken)), balance_kobo: "?" };
    await ledger.tables.db.put({ TableName: ledger.table, Item });
    const { logged } = await run();
    expect(logged).toContain(`"event":"wallet.not_reconciled","account":"${broken}"`);
    expect(logged).not.toContain(`"account":"${intact}"`);
    expect((await readCheckpoint(ledger, intact)).reconciled_at).toBe(isoTime(ledger.nowMs));
  });

  test("a run whose checkpoints cannot be read names each wallet", async () => {
    const accountIds = [await anAccount(), await anAccount()];
    proxy.fault = ({ operation }) => (operation === "BatchGetItem" ? "throttled" : undefined);
    const { logged } = await run();
    for (const accountId of accountIds) {
      expect(logged).toContain(`"event":"wallet.reconciliation_delayed","account":"${accountId}"`);
    }
  });

  test("many open orders leave the refunds and the wallets their time", async () => {
    const accountId = await anAccount();
    const check = await ledger.anOpenTransaction(accountId, { type: "nin_verification" });
    ledger.nowMs += HOUR_MS;
    let hasRead = false;
    proxy.fault = ({ operation }) => {
      if (operation === "BatchGetItem" && !hasRead) {
        hasRead = true;
        ledger.nowMs += MINUTE_MS;
      }
      return undefined;
    };
    expect((await run()).result).toMatchObject({ open: 1, refunded: 1 });
    expect(await readTransaction(ledger, check.pk)).toMatchObject({ status: "failed" });
    expect((await readCheckpoint(ledger, accountId)).reconciled_at).toBe(isoTime(ledger.nowMs));
  });

  test("each minute's run begins with another wallet, so that slow ones that fail do not keep it from the others", async () => {
    captureLog();
    const begun: string[] = [];
    const unreached: unknown[] = [];
    for (let count = 0; count < 3; count += 1) {
      ledger.nowMs += 1;
      await anAccount();
    }
    ledger.beforeEachWalletRead(async (accountId) => {
      begun.push(accountId);
      ledger.nowMs += 31_000;
      throw new Error("No answer");
    });
    for (let minute = 0; minute < 6; minute += 1) {
      ledger.nowMs = NOON_MS + DAY_MS + minute * MINUTE_MS;
      unreached.push((await run()).result.unreached);
    }
    expect(new Set(begun).size).toBe(3);
    expect(unreached[0]).toBe(2);
  });

  test("a run that is killed during a reconciliation has published its metrics of open transactions", async () => {
    const accountId = await anAccount();
    await ledger.anOpenTransaction(accountId);
    ledger.nowMs += HOUR_MS;
    const log = captureLog();
    const isReading = new Promise<void>((resolve) => {
      ledger.beforeEachWalletRead(() => {
        resolve();
        return new Promise(() => {});
      });
    });
    void reconcileLedger(ledger, enough());
    await isReading;
    expect(log.text()).toContain('"OldestOpenSeconds":3600,"StuckTransactions":1,"OldestUnrefundedSeconds":0');
  });
});
