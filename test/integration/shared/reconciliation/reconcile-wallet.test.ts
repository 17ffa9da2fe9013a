import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DAY_MS, HOUR_MS } from "../../../../shared/contract/values/durations.ts";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { firstCheckpoint, readCheckpoint, writeCheckpoint } from "../../../../shared/ledger/checkpoint.ts";
import { fundWallet, recordEntry } from "../../../../shared/ledger/ledger-entry.ts";
import { entriesList } from "../../../../shared/ledger/schema.ts";
import { settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { voidDebit } from "../../../../shared/ledger/void-debit.ts";
import { type Deadline, deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import {
  confirmedReconciliation,
  reconcileAndCheckpoint,
  reconcileWallet,
} from "../../../../shared/reconciliation/reconcile-wallet.ts";
import { hideFromIndex } from "../../../builders/dynamodb/hide-from-index.ts";
import { proxyForTests } from "../../../builders/dynamodb/proxy-for-tests.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { type LedgerAtNoon, openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

/** Goal: a reconciliation finds every difference between a wallet and its entries and transactions, and no others. */
const proxy = await proxyForTests();
let ledger: LedgerAtNoon;
beforeEach(async () => {
  ledger = await openLedgerAtNoon(proxy.endpoint);
});
afterEach(() => void vi.restoreAllMocks());

const enough = (): Deadline => deadlineIn(120_000);

const anAccount = () => ledger.anAccount(2_000);
const FAILED = { status: "failed", failure: { code: "delivery_failed" } } as const;
const aDelivery = async (accountId: string): Promise<void> => {
  await settleTransaction(ledger, await ledger.anOpenTransaction(accountId), { status: "success" }, enough());
};
const addKobo = (accountId: string, kobo: number) => ledger.addToWallet(accountId, "balance_kobo", kobo);
const reconcile = async (accountId: string): Promise<void> => {
  const result = await reconcileAndCheckpoint(ledger, await readCheckpoint(ledger, accountId));
  expect(result.kind).toBe("reconciled");
};

/** As if another writer changed the wallet this often, without an entry. */
const raiseVersion = (accountId: string, by = 1) => ledger.addToWallet(accountId, "version", by);

/** Transactions that failed and were refunded, as many for each millisecond from now on as `perMoment`. */
const putRefunded = async (accountId: string, count: number, perMoment: number): Promise<void> => {
  const refunded = Array.from({ length: count }, (_, index) => {
    if (index % perMoment === 0) ledger.nowMs += 1;
    const { open: _open, ...transaction } = ledger.aTransaction(accountId, { status: "failed" });
    return transaction;
  });
  await putItems(ledger.tables.db, ledger.table, refunded);
  await raiseVersion(accountId, 2 * count);
};

/** The first two answers of the index that would have it lack this transaction. */
const hideTwice = ({ pk }: Transaction) => {
  let left = 2;
  return hideFromIndex(ledger.db, (item) => {
    if (item.pk === pk) left -= 1;
    return item.pk === pk && left >= 0;
  });
};

describe("reconcileWallet", () => {
  test("a reconciliation counts fundings, adjustments of either sign, and delivered, open and refunded transactions", async () => {
    const accountId = await anAccount();
    await recordEntry(ledger, { kind: "adjustment", account_id: accountId, entry_id: "a", amount_kobo: 700 });
    await recordEntry(ledger, { kind: "adjustment", account_id: accountId, entry_id: "b", amount_kobo: -300 });
    await aDelivery(accountId);
    await ledger.anOpenTransaction(accountId);
    await settleTransaction(ledger, await ledger.anOpenTransaction(accountId), FAILED, enough());
    const kobo = 200_000 + 700 - 300 - 50_000 - 50_000;
    expect(await reconcileWallet(ledger, accountId)).toEqual({
      balance_kobo: kobo,
      expected_kobo: kobo,
      difference_kobo: 0,
    });
  });

  test("a reconciliation that meets a write reads again only the open and the new transactions", async () => {
    const accountId = await ledger.anAccount(150_000);
    const transactions: Transaction[] = [];
    for (let count = 0; count < 130; count += 1) {
      ledger.nowMs += 1;
      transactions.push(await ledger.anOpenTransaction(accountId));
    }
    const [first, ...others] = transactions;
    for (const transaction of others) await settleTransaction(ledger, transaction, { status: "success" }, enough());
    ledger.nowMs = NOON_MS + 2 * HOUR_MS;

    // The open one fails and a second is opened while the base is read; a third one in the second round.
    const keysRead: number[] = [];
    const batchGet = ledger.db.batchGet.bind(ledger.db);
    vi.spyOn(ledger.db, "batchGet").mockImplementation(async (input) => {
      const answer = await batchGet(input);
      keysRead.push(input.RequestItems?.[ledger.table]?.Keys?.length ?? 0);
      if (keysRead.length === 2 && first !== undefined) {
        await settleTransaction(ledger, first, FAILED, enough());
        await ledger.anOpenTransaction(accountId);
      }
      if (keysRead.length === 4) await ledger.anOpenTransaction(accountId);
      return answer;
    });
    const reconciliation = { balance_kobo: 8_450_000, expected_kobo: 8_450_000, difference_kobo: 0 };
    expect(await reconcileWallet(ledger, accountId)).toEqual(reconciliation);
    // The funding and the transactions; the open one and the second; the second and the third.
    const [funding, one, other, ...rounds] = keysRead;
    expect([funding, new Set([one, other]), ...rounds]).toEqual([1, new Set([100, 30]), 2, 2]);
  });

  test("a transaction whose debit is void counts as no change, so that one reading of its wallet is exact", async () => {
    const accountId = await anAccount();
    await aDelivery(accountId);
    expect(await voidDebit(ledger, ledger.aTransaction(accountId), enough())).toMatchObject({ kind: "void" });
    const wallets: string[] = [];
    proxy.fault = ({ operation, body }) => {
      if (operation === "GetItem" && body.includes("wallet#")) wallets.push(body);
      return undefined;
    };
    expect(await reconcileWallet(ledger, accountId)).toEqual({
      balance_kobo: 150_000,
      expected_kobo: 150_000,
      difference_kobo: 0,
    });
    expect(wallets).toHaveLength(1);
    // The same once its base has passed over it.
    ledger.nowMs += 2 * HOUR_MS;
    const result = await reconcileAndCheckpoint(ledger, await readCheckpoint(ledger, accountId));
    expect(result).toMatchObject({ kind: "reconciled", base: { version: 2, balance_kobo: 150_000, open_keys: [] } });
    expect(wallets).toHaveLength(2);
  });

  test("a funding that another release stored under other names counts", async () => {
    const accountId = await anAccount();
    const { db, table: TableName } = ledger;
    const Item = {
      pk: `funding#${accountId}#early`,
      list_key: entriesList(accountId),
      account_id: accountId,
      funding_id: "early",
      amount_kobo: 700,
      created_at: isoTime(NOON_MS),
    };
    await db.put({ TableName, Item });
    await addKobo(accountId, 700);
    expect(await reconcileWallet(ledger, accountId)).toMatchObject({ balance_kobo: 200_700, difference_kobo: 0 });
  });
});

describe("reconcileWallet with an index that lags", () => {
  test("a transaction that the index lacks causes no difference", async () => {
    const accountId = await ledger.anAccount(100_000);
    const transaction = await ledger.anOpenTransaction(accountId);
    hideTwice(transaction);
    // What was made before a round is read by a later one too.
    proxy.fault = () => {
      ledger.nowMs += 1;
      return undefined;
    };
    expect(await reconcileWallet(ledger, accountId)).toMatchObject({ difference_kobo: 0 });
  });

  test("a difference is not hidden by a debit of the same amount that the index lacks", async () => {
    const accountId = await ledger.anAccount(100_000);
    const transaction = await ledger.anOpenTransaction(accountId);
    await addKobo(accountId, 50_000);
    hideTwice(transaction);
    expect(await reconcileWallet(ledger, accountId)).toMatchObject({ difference_kobo: 50_000 });
  });
});

describe("strong reads", () => {
  test("an entry, and everything that a reconciliation sums up, are read strongly", async () => {
    const accountId = await anAccount();
    const entry = { accountId, fundingId: "second", amountKobo: koboFromNaira(1) };
    await fundWallet(ledger, entry);
    const reads: string[] = [];
    let writes = 0;
    proxy.fault = ({ operation, body }) => {
      if (operation === "GetItem" || operation === "BatchGetItem") reads.push(body);
      if (operation !== "TransactWriteItems") return undefined;
      writes += 1;
      // Two writes, each of which the SDK tries twice.
      return writes <= 4 ? "answer_lost" : undefined;
    };
    await ledger.anOpenTransaction(accountId);
    await fundWallet(ledger, entry);
    await reconcileWallet(ledger, accountId);
    // The checkpoint, the entry, the checkpoint, the two entries, the orders, the wallet.
    expect(reads).toHaveLength(6);
    for (const read of reads) expect(read).toContain('"ConsistentRead":true');
  });
});

describe("reconcileAndCheckpoint", () => {
  test("a checkpoint includes what is an hour old, and nothing younger", async () => {
    const accountId = await anAccount();
    ledger.nowMs += 1;
    await aDelivery(accountId);
    ledger.nowMs = NOON_MS + HOUR_MS;
    await reconcile(accountId);
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({
      balance_kobo: 200_000,
      up_to: isoTime(NOON_MS),
      reconciled_at: isoTime(ledger.nowMs),
      difference_kobo: 0,
    });
    ledger.nowMs += 1;
    await reconcile(accountId);
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({
      balance_kobo: 150_000,
      up_to: isoTime(NOON_MS + 1),
    });
    expect(await reconcileWallet(ledger, accountId)).toMatchObject({ expected_kobo: 150_000, difference_kobo: 0 });
  });

  test("a checkpoint lists an open transaction by its key, and includes its refund once it has failed", async () => {
    const accountId = await ledger.anAccount(5_000);
    for (const hours of [1, 2, 4]) {
      ledger.nowMs = NOON_MS + hours * HOUR_MS;
      await aDelivery(accountId);
    }
    ledger.nowMs = NOON_MS + 3 * HOUR_MS;
    const open = await ledger.anOpenTransaction(accountId);
    // The last change is of the list that is read first.
    ledger.nowMs = NOON_MS + 5 * HOUR_MS;
    await recordEntry(ledger, { kind: "adjustment", account_id: accountId, entry_id: "a", amount_kobo: 700 });
    ledger.nowMs = NOON_MS + DAY_MS;
    await reconcile(accountId);
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({
      up_to: isoTime(NOON_MS + 5 * HOUR_MS),
      balance_kobo: 300_700,
      version: 6,
      open_keys: [open.pk],
      difference_kobo: 0,
    });
    await settleTransaction(ledger, open, FAILED, enough());
    const beforeRead = vi.fn(async () => {});
    ledger.beforeEachWalletRead(beforeRead);
    expect(await reconcileWallet(ledger, accountId)).toMatchObject({ expected_kobo: 350_700, difference_kobo: 0 });
    await reconcile(accountId);
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({
      up_to: isoTime(NOON_MS + 5 * HOUR_MS),
      balance_kobo: 350_700,
      version: 7,
      open_keys: [],
      difference_kobo: 0,
    });
    // One reading of the wallet for each was exact.
    expect(beforeRead).toHaveBeenCalledTimes(2);
  });

  test("a reconciliation that finds a difference stores it and does not move the checkpoint", async () => {
    const accountId = await anAccount();
    await addKobo(accountId, 1);
    ledger.nowMs += DAY_MS;
    await reconcile(accountId);
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({
      balance_kobo: 0,
      up_to: "1970-01-01T00:00:00.000Z",
      reconciled_at: isoTime(ledger.nowMs),
      difference_kobo: 1,
    });
  });
});

describe("a transaction that stays open", () => {
  const keysReadBy = async (callback: () => Promise<unknown>): Promise<number> => {
    const reads = vi.spyOn(ledger.db, "batchGet");
    await callback();
    const keys = reads.mock.calls.flatMap(([{ RequestItems }]) => RequestItems?.[ledger.table]?.Keys ?? []);
    reads.mockRestore();
    return keys.length;
  };

  test("a transaction that stays open does not make later reconciliations longer", async () => {
    const accountId = await ledger.anAccount(100_000);
    const open = await ledger.anOpenTransaction(accountId);
    const counts: number[] = [];
    for (let day = 0; day < 3; day += 1) {
      await putRefunded(accountId, 125, 25);
      ledger.nowMs += DAY_MS;
      counts.push(await keysReadBy(() => reconcile(accountId)));
    }
    // The day's transactions and the funding; the open one when it enters the checkpoint, and with the wallet.
    expect(counts).toEqual([128, 127, 127]);
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({ open_keys: [open.pk], difference_kobo: 0 });
    await settleTransaction(ledger, open, FAILED, enough());
    expect(await reconcileWallet(ledger, accountId)).toMatchObject({ expected_kobo: 10_000_000, difference_kobo: 0 });
  });

  test("the 101st open transaction of an account stops the checkpoint before its moment, until another one ends", async () => {
    const accountId = await ledger.anAccount(100_000);
    const transactions: Transaction[] = [];
    for (let count = 0; count < 102; count += 1) {
      if (count < 101) ledger.nowMs += 1;
      transactions.push(await ledger.anOpenTransaction(accountId));
    }
    // What ended behind them waits too.
    ledger.nowMs += 1;
    await aDelivery(accountId);
    const delivered = isoTime(ledger.nowMs);
    ledger.nowMs += DAY_MS;
    await reconcile(accountId);
    const [first, last] = [transactions[0], transactions[99]];
    const full = await readCheckpoint(ledger, accountId);
    expect(full).toMatchObject({ balance_kobo: 5_000_000, up_to: last?.created_at, difference_kobo: 0 });
    expect(full.open_keys).toHaveLength(100);
    if (first === undefined) throw new Error("There is no transaction");
    await settleTransaction(ledger, first, FAILED, enough());
    ledger.nowMs += DAY_MS;
    await reconcile(accountId);
    // Two transactions have the next moment, and the checkpoint can list one more.
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({ balance_kobo: 5_050_000, up_to: last?.created_at });
    expect(await reconcileWallet(ledger, accountId)).toMatchObject({ difference_kobo: 0 });
    // What has ended takes no place in the list.
    for (const ended of transactions.slice(100))
      await settleTransaction(ledger, ended, { status: "success" }, enough());
    await reconcile(accountId);
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({ balance_kobo: 4_900_000, up_to: delivered });
  });
});

describe("a reconciliation whose time is up", () => {
  /** Leaves time this many times. */
  const timeFor = (count: number): Deadline => {
    let left = count;
    return {
      remainingMs: () => {
        left -= 1;
        return left >= 0 ? 20_000 : 0;
      },
    };
  };

  test("a reconciliation whose time is up stores its base, and the next one goes on from there to the right sum", async () => {
    const accountId = await ledger.anAccount(100_000);
    // Two batches end between transactions of one moment.
    await putRefunded(accountId, 250, 40);
    ledger.nowMs += DAY_MS;
    const first = await readCheckpoint(ledger, accountId);
    expect(await reconcileAndCheckpoint(ledger, first, timeFor(2))).toMatchObject({ kind: "out_of_time" });
    const reached = await readCheckpoint(ledger, accountId);
    expect(reached).toMatchObject({
      up_to: isoTime(NOON_MS + 4),
      version: 1 + 2 * 160,
      reconciled_at: first.reconciled_at,
    });
    expect(await reconcileAndCheckpoint(ledger, reached, enough())).toMatchObject({
      kind: "reconciled",
      reconciliation: { difference_kobo: 0 },
    });
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({
      balance_kobo: 10_000_000,
      version: 501,
      reconciled_at: isoTime(ledger.nowMs),
    });
  });

  test.each([
    ["it reads what is younger than an hour", (accountId: string) => ledger.anOpenTransaction(accountId)],
    ["it waits for the index", (accountId: string) => raiseVersion(accountId)],
  ])("a reconciliation whose time is up while %s has no result", async (_what, change) => {
    const accountId = await anAccount();
    await change(accountId);
    const before = await readCheckpoint(ledger, accountId);
    expect(await reconcileAndCheckpoint(ledger, before, timeFor(0))).toMatchObject({ kind: "out_of_time" });
  });

  test("a reconciliation whose time is up stores nothing while the wallet differs", async () => {
    const accountId = await ledger.anAccount(100_000);
    await putRefunded(accountId, 250, 40);
    await addKobo(accountId, 1);
    ledger.nowMs += DAY_MS;
    await reconcile(accountId);
    const before = await readCheckpoint(ledger, accountId);
    await reconcileAndCheckpoint(ledger, before, timeFor(2));
    expect(await readCheckpoint(ledger, accountId)).toEqual(before);
  });
});

describe("a checkpoint", () => {
  test("a checkpoint that another run has replaced in the meantime is not overwritten", async () => {
    const accountId = await ledger.anAccount(100_000);
    ledger.nowMs += DAY_MS;
    const before = await readCheckpoint(ledger, accountId);
    await reconcileAndCheckpoint(ledger, before, enough());
    const moved = await readCheckpoint(ledger, accountId);
    ledger.nowMs += 1;
    await reconcileAndCheckpoint(ledger, before, enough());
    expect(await readCheckpoint(ledger, accountId)).toEqual(moved);
    await reconcileAndCheckpoint(ledger, moved, enough());
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({ reconciled_at: isoTime(ledger.nowMs) });
  });

  test("a checkpoint takes over the version of a restored wallet once the wallet has been quiet", async () => {
    const accountId = await ledger.anAccount(100_000);
    await raiseVersion(accountId);
    ledger.nowMs += DAY_MS;
    await reconcile(accountId);
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({ version: 2, difference_kobo: 0 });
    // From now on the wallet is reconciled although it is never quiet.
    const beforeRead = vi.fn(async () => {
      await aDelivery(accountId);
    });
    ledger.beforeEachWalletRead(async () => {
      if (beforeRead.mock.calls.length < 3) await beforeRead();
    });
    expect(await reconcileWallet(ledger, accountId)).toMatchObject({ difference_kobo: 0 });
    expect(beforeRead).toHaveBeenCalledTimes(3);
  });
});

test("a machine whose clock is behind the checkpoint asks for no range that ends before it begins", async () => {
  const accountId = await anAccount();
  ledger.nowMs += HOUR_MS;
  await reconcile(accountId);
  ledger.nowMs -= 1;
  const queries = vi.spyOn(ledger.db, "query");
  expect(await reconcileWallet(ledger, accountId)).toMatchObject({ difference_kobo: 0 });
  expect(queries).toHaveBeenCalled();
  for (const [range] of queries.mock.calls)
    expect(range).toMatchObject({ ExpressionAttributeValues: { ":to": "9999" } });
});

describe("confirmedReconciliation", () => {
  const confirmed = async (accountId: string, duringPause: () => Promise<unknown> = async () => {}) => {
    const pause = vi.fn(async () => void (await duringPause()));
    const resetCheckpoint = () => writeCheckpoint(ledger, firstCheckpoint(accountId));
    const reconciliation = await confirmedReconciliation(ledger, accountId, { pause, resetCheckpoint });
    return { difference: reconciliation?.difference_kobo, pauses: pause.mock.calls.length };
  };

  test("a difference is reported as a second reconciliation finds it, after one pause; no difference needs none", async () => {
    const accountId = await anAccount();
    expect(await confirmed(accountId)).toEqual({ difference: 0, pauses: 0 });
    await addKobo(accountId, 1);
    expect(await confirmed(accountId)).toEqual({ difference: 1, pauses: 1 });
    expect(await confirmed(accountId, () => addKobo(accountId, 1))).toEqual({ difference: 2, pauses: 1 });
    expect(await confirmed(accountId, () => addKobo(accountId, -2))).toEqual({ difference: 0, pauses: 1 });
  });

  test.each([1, 2, 3])(
    "a wallet that is too busy at the reconciliation with number %i has no result",
    async (busyAt) => {
      // No backoff.
      vi.spyOn(Math, "random").mockReturnValue(0);
      const accountId = await anAccount();
      await addKobo(accountId, 1);
      // The others read the wallet once, and a busy one in each of its 12 rounds.
      let reads = 0;
      ledger.beforeEachWalletRead(async () => {
        reads += 1;
        if (reads >= busyAt && reads < busyAt + 12) await raiseVersion(accountId);
      });
      expect((await confirmed(accountId)).difference).toBeUndefined();
    },
  );

  test("a mismatch is confirmed by reading everything, which resets a checkpoint that lacks an entry", async () => {
    const accountId = await anAccount();
    ledger.nowMs += DAY_MS;
    await reconcile(accountId);
    // An entry that was dated before the checkpoint.
    const createdAt = isoTime(NOON_MS - HOUR_MS);
    const entry = { kind: "adjustment", account_id: accountId, entry_id: "slow", amount_kobo: 700 } as const;
    const Item = {
      ...entry,
      pk: `adjustment#${accountId}#slow`,
      list_key: `${accountId}#entries`,
      created_at: createdAt,
    };
    await ledger.tables.db.put({ TableName: ledger.table, Item });
    await addKobo(accountId, 700);
    expect(await reconcileWallet(ledger, accountId)).toMatchObject({ difference_kobo: 700 });
    expect(await confirmed(accountId)).toMatchObject({ difference: 0 });
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({ balance_kobo: 0 });
    await reconcile(accountId);
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({ balance_kobo: 200_700, up_to: isoTime(NOON_MS) });
    await addKobo(accountId, 1);
    expect(await confirmed(accountId)).toMatchObject({ difference: 1 });
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({ balance_kobo: 200_700 });
  });
});
