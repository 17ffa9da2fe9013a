import { BatchGetCommand, GetCommand, PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { readCheckpoint } from "../../../../shared/ledger/checkpoint.ts";
import type { Ledger } from "../../../../shared/ledger/ledger.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import { walletPk } from "../../../../shared/ledger/schema.ts";
import { settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { type Deadline, deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime, sleep } from "../../../../shared/platform/time.ts";
import { reconcileLedger } from "../../../../shared/reconciliation/reconcile-ledger.ts";
import {
  type Reconciliation,
  reconcileAndCheckpoint,
  reconcileWallet,
} from "../../../../shared/reconciliation/reconcile-wallet.ts";
import { type LedgerAtNoon, openLedgerAtNoon } from "../../../builders/ledger-at-noon.ts";
import { NOON_MS } from "../../../builders/noon.ts";

/**
 * Goal: the scheduled reconciliation finds every wallet that differs, reports none that is right, and always ends in
 * time.
 */
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const PRICE_KOBO = 50_000;
let ledger: LedgerAtNoon;
beforeEach(async () => {
  ledger = await openLedgerAtNoon();
});
afterEach(() => vi.restoreAllMocks());

const enough = (): Deadline => deadlineIn(120_000);

const anAccount = () => ledger.anAccount(100_000);

const settle = (transaction: Transaction, status: "success" | "failed") =>
  settleTransaction(
    ledger,
    transaction,
    status === "success" ? { status } : { status, failure: { code: "delivery_failed" } },
    enough(),
  );

const addKobo = (accountId: string, kobo: number) => ledger.addToWallet(accountId, "balance_kobo", kobo);
/** As if another writer changed the wallet so often, without an entry. */
const raiseVersion = (accountId: string, by = 1) => ledger.addToWallet(accountId, "version", by);

/** Transactions that failed and were refunded, as many for each millisecond from now on as `perMoment`. */
const putRefunded = async (accountId: string, count: number, perMoment: number): Promise<void> => {
  for (let index = 0; index < count; index += 1) {
    if (index % perMoment === 0) ledger.nowMs += 1;
    const { open: _open, ...Item } = ledger.aTransaction(accountId, { status: "failed" });
    await ledger.db.send(new PutCommand({ TableName: ledger.table, Item }));
  }
  await raiseVersion(accountId, 2 * count);
};

/** Does something before every read of a wallet. */
const beforeEachWalletRead = (callback: (accountId: string) => Promise<void>): void => {
  const send = ledger.db.send.bind(ledger.db);
  const prefix = walletPk("");
  vi.spyOn(ledger.db, "send").mockImplementation(async (command) => {
    const pk = command instanceof GetCommand ? String(command.input.Key?.pk) : "";
    if (pk.startsWith(prefix)) await callback(pk.slice(prefix.length));
    return send(command);
  });
};

const runReconciliation = async (deadline: Deadline = enough()) => {
  const logged: string[] = [];
  const spy = vi.spyOn(console, "log").mockImplementation((line: unknown) => void logged.push(String(line)));
  const result = await reconcileLedger(ledger, deadline);
  spy.mockRestore();
  return { result, logged: logged.join("\n") };
};

describe("a wallet that differs", () => {
  test("a difference that grows is logged by the first run and a mismatch in every later one", async () => {
    const accountId = await anAccount();
    const mismatches: unknown[] = [];
    const logged: string[] = [];
    for (let run = 0; run < 4; run += 1) {
      ledger.nowMs += MINUTE_MS;
      await addKobo(accountId, PRICE_KOBO);
      const { result, logged: lines } = await runReconciliation();
      mismatches.push(result.mismatches);
      logged.push(lines);
    }
    expect(mismatches).toEqual([0, 1, 1, 1]);
    expect(logged[0]).toContain('"level":"warn","event":"wallet.difference"');
    expect(logged[0]).not.toContain("wallet.mismatch");
    expect(logged[3]).toContain(`"event":"wallet.mismatch","account":"${accountId}","difference_kobo":200000`);
  });

  test("a difference is not hidden by a debit of the same amount that the index lacks", async () => {
    const accountId = await anAccount();
    const transaction = await ledger.anOpenTransaction(accountId);
    await addKobo(accountId, PRICE_KOBO);
    hideFromIndex([transaction.pk], 2);
    expect(await reconcileWallet(ledger, accountId)).toMatchObject({ difference_kobo: PRICE_KOBO });
  });
});

/** The first `count` answers of the index lack these keys. */
const hideFromIndex = (pks: readonly string[], count: number): void => {
  const send = ledger.db.send.bind(ledger.db);
  let answers = 0;
  vi.spyOn(ledger.db, "send").mockImplementation(async (command) => {
    const answer: unknown = await send(command);
    if (!(command instanceof QueryCommand)) return answer;
    const { Items = [], ...rest }: { Items?: { pk: string }[] } = Object(answer);
    if (!Items.some(({ pk }) => pks.includes(pk))) return answer;
    answers += 1;
    return answers > count ? answer : { ...rest, Items: Items.filter(({ pk }) => !pks.includes(pk)) };
  });
};

describe("a busy wallet", () => {
  test("a wallet that is right has no difference while the index lags", async () => {
    const accountId = await anAccount();
    const transaction = await ledger.anOpenTransaction(accountId);
    hideFromIndex([transaction.pk], 2);
    expect(await reconcileWallet(ledger, accountId)).toMatchObject({ difference_kobo: 0 });
  });

  test("a wallet is reconciled under 5 purchases a second, with an index that lags", async () => {
    const accountId = await anAccount();
    const real: Ledger = { ...ledger, clock: () => ledger.nowMs + Math.floor(performance.now()) };
    let isOver = false;
    const lagMs = 60;
    const made = new Map<string, number>();
    const traffic = async () => {
      while (!isOver) {
        const transaction = { ...ledger.aTransaction(accountId), created_at: isoTime(real.clock()) };
        await openTransaction(real, transaction, [], enough());
        made.set(transaction.pk, performance.now());
        await sleep(200);
      }
    };
    const send = ledger.db.send.bind(ledger.db);
    vi.spyOn(ledger.db, "send").mockImplementation(async (command) => {
      const answer: unknown = await send(command);
      if (!(command instanceof QueryCommand)) return answer;
      const { Items = [], ...rest }: { Items?: { pk: string }[] } = Object(answer);
      return { ...rest, Items: Items.filter(({ pk }) => performance.now() - (made.get(pk) ?? 0) > lagMs) };
    });
    const purchases = traffic();
    const reconciliations: (Reconciliation | undefined)[] = [];
    for (let count = 0; count < 3; count += 1) {
      // Each reconciliation begins when the index lacks the latest purchase.
      const before = made.size;
      await vi.waitFor(() => expect(made.size).toBeGreaterThan(before), { interval: 1 });
      reconciliations.push(await reconcileWallet(real, accountId));
    }
    isOver = true;
    await purchases;
    expect(reconciliations.map((reconciliation) => reconciliation?.difference_kobo)).toEqual([0, 0, 0]);
  }, 30_000);

  test("a wallet that differed and is too busy in the next run raises an alarm at once", async () => {
    const accountId = await anAccount();
    await addKobo(accountId, 1);
    await runReconciliation();
    beforeEachWalletRead(raiseVersion);
    ledger.nowMs += MINUTE_MS;
    expect((await runReconciliation()).logged).toContain(
      `"event":"wallet.not_reconciled","account":"${accountId}","reason":"busy"`,
    );
  }, 30_000);

  test("a wallet that was not reconciled for more than 25 hours raises an alarm in every run", async () => {
    const accountId = await anAccount();
    beforeEachWalletRead(raiseVersion);
    ledger.nowMs += 25 * HOUR_MS;
    expect((await runReconciliation()).logged).not.toContain("wallet.not_reconciled");
    ledger.nowMs += 1;
    expect((await runReconciliation()).logged).toContain(`"event":"wallet.not_reconciled","account":"${accountId}"`);
  }, 30_000);
});

describe("a transaction that stays open", () => {
  const keysReadBy = async (callback: () => Promise<unknown>): Promise<number> => {
    let count = 0;
    const send = ledger.db.send.bind(ledger.db);
    const spy = vi.spyOn(ledger.db, "send").mockImplementation(async (command) => {
      if (command instanceof BatchGetCommand) {
        count += command.input.RequestItems?.[ledger.table]?.Keys?.length ?? 0;
      }
      return send(command);
    });
    await callback();
    spy.mockRestore();
    return count;
  };

  test("a transaction that stays open does not make later reconciliations longer", async () => {
    const accountId = await anAccount();
    const open = await ledger.anOpenTransaction(accountId);
    const counts: number[] = [];
    for (let day = 0; day < 3; day += 1) {
      await putRefunded(accountId, 125, 25);
      ledger.nowMs += DAY_MS;
      counts.push(await keysReadBy(runReconciliation));
    }
    // The day's, the funding, and the open one: as one of all that are open, when it passes into the checkpoint, and
    // beside the wallet.
    expect(counts).toEqual([129, 128, 128]);
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({ open_keys: [open.pk], difference_kobo: 0 });
    await settle(open, "failed");
    expect(await reconcileWallet(ledger, accountId)).toMatchObject({ expected_kobo: 10_000_000, difference_kobo: 0 });
  });

  test("the 101st open transaction of an account stops the checkpoint before its moment, until another one ends", async () => {
    const accountId = await anAccount();
    const transactions: Transaction[] = [];
    for (let count = 0; count < 102; count += 1) {
      if (count < 101) ledger.nowMs += 1;
      transactions.push(await ledger.anOpenTransaction(accountId));
    }
    ledger.nowMs += DAY_MS;
    await runReconciliation();
    const [first, , , last] = [transactions[0], transactions[1], transactions[98], transactions[99]];
    const full = await readCheckpoint(ledger, accountId);
    expect(full).toMatchObject({ sum_kobo: 5_000_000, up_to: last?.created_at, difference_kobo: 0 });
    expect(full.open_keys).toHaveLength(100);
    if (first === undefined) throw new Error("There is no order");
    await settle(first, "failed");
    ledger.nowMs += DAY_MS;
    await runReconciliation();
    // Two orders are of the next moment: there is room for one.
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({ sum_kobo: 5_050_000, up_to: last?.created_at });
    expect(await reconcileWallet(ledger, accountId)).toMatchObject({ difference_kobo: 0 });
  });
});

describe("a reconciliation whose time is up", () => {
  /** Leaves time so many times. */
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
    const accountId = await anAccount();
    // Two batches end amid transactions of one moment.
    await putRefunded(accountId, 250, 40);
    ledger.nowMs += DAY_MS;
    const first = await readCheckpoint(ledger, accountId);
    expect(await reconcileAndCheckpoint(ledger, first, timeFor(2))).toMatchObject({ kind: "out_of_time" });
    const reached = await readCheckpoint(ledger, accountId);
    expect(reached).toMatchObject({ up_to: isoTime(NOON_MS + 4), version: 1 + 2 * 160, proved_at: first.proved_at });
    expect(await reconcileAndCheckpoint(ledger, reached, enough())).toMatchObject({
      kind: "reconciled",
      reconciliation: { difference_kobo: 0 },
    });
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({
      sum_kobo: 10_000_000,
      version: 501,
      proved_at: isoTime(ledger.nowMs),
    });
  });

  test("a reconciliation whose time is up stores nothing while the wallet differs", async () => {
    const accountId = await anAccount();
    await putRefunded(accountId, 250, 40);
    await addKobo(accountId, 1);
    ledger.nowMs += DAY_MS;
    await runReconciliation();
    const before = await readCheckpoint(ledger, accountId);
    await reconcileAndCheckpoint(ledger, before, timeFor(2));
    expect(await readCheckpoint(ledger, accountId)).toEqual(before);
  });

  test("a wallet whose time is up does not stop the run, which goes on with the next one", async () => {
    const slow = await anAccount();
    ledger.nowMs += 1;
    const other = await anAccount();
    beforeEachWalletRead(async (accountId) => {
      if (accountId !== slow) return;
      ledger.nowMs += 11_000;
      await raiseVersion(slow);
    });
    await putRefunded(slow, 1, 1);
    ledger.nowMs = NOON_MS + HOUR_MS;
    await runReconciliation();
    expect((await readCheckpoint(ledger, slow)).proved_at).not.toBe(isoTime(ledger.nowMs));
    expect((await readCheckpoint(ledger, other)).proved_at).toBe(isoTime(ledger.nowMs));
  });

  test("each minute's run begins with another wallet", async () => {
    const begun: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      ledger.nowMs += 1;
      await anAccount();
    }
    beforeEachWalletRead(async (accountId) => {
      begun.push(accountId);
      ledger.nowMs += 31_000;
    });
    for (let minute = 0; minute < 3; minute += 1) {
      ledger.nowMs = NOON_MS + DAY_MS + minute * MINUTE_MS;
      await runReconciliation();
    }
    expect(new Set(begun).size).toBe(3);
  });
});

describe("a checkpoint", () => {
  test("an earlier release's checkpoint is read: everything is summed up once more, and the version is stored", async () => {
    const accountId = await anAccount();
    ledger.nowMs += 1;
    await settle(await ledger.anOpenTransaction(accountId), "success");
    const provedAt = isoTime(ledger.nowMs - HOUR_MS);
    const Item = {
      pk: `proof#${accountId}`,
      account_id: accountId,
      sum_kobo: 10_000_000,
      up_to: isoTime(NOON_MS),
      proved_at: provedAt,
      difference_kobo: 0,
    };
    await ledger.db.send(new PutCommand({ TableName: ledger.table, Item }));
    expect(await reconcileWallet(ledger, accountId)).toMatchObject({ expected_kobo: 9_950_000, difference_kobo: 0 });
    ledger.nowMs += DAY_MS;
    await runReconciliation();
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({
      sum_kobo: 9_950_000,
      version: 2,
      open_keys: [],
      proved_at: isoTime(ledger.nowMs),
    });
  });

  test("a checkpoint that another run has moved meanwhile is not replaced", async () => {
    const accountId = await anAccount();
    ledger.nowMs += DAY_MS;
    const before = await readCheckpoint(ledger, accountId);
    await reconcileAndCheckpoint(ledger, before, enough());
    const moved = await readCheckpoint(ledger, accountId);
    ledger.nowMs += 1;
    await reconcileAndCheckpoint(ledger, before, enough());
    expect(await readCheckpoint(ledger, accountId)).toEqual(moved);
    await reconcileAndCheckpoint(ledger, moved, enough());
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({ proved_at: isoTime(ledger.nowMs) });
  });

  test("a checkpoint takes over the version of a restored wallet once the wallet has been quiet", async () => {
    const accountId = await anAccount();
    await raiseVersion(accountId);
    ledger.nowMs += DAY_MS;
    await runReconciliation();
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({ version: 2, difference_kobo: 0 });
    // From now on the wallet is reconciled although it is never quiet.
    const beforeRead = vi.fn(async () => {
      await settle(await ledger.anOpenTransaction(accountId), "success");
    });
    beforeEachWalletRead(async () => {
      if (beforeRead.mock.calls.length < 3) await beforeRead();
    });
    expect(await reconcileWallet(ledger, accountId)).toMatchObject({ difference_kobo: 0 });
    expect(beforeRead).toHaveBeenCalledTimes(3);
  });
});

describe("a run that is killed", () => {
  test("a run that is killed during a reconciliation has published what is open", async () => {
    const accountId = await anAccount();
    await ledger.anOpenTransaction(accountId);
    ledger.nowMs += HOUR_MS;
    const logged: string[] = [];
    vi.spyOn(console, "log").mockImplementation((line: unknown) => void logged.push(String(line)));
    const isReading = new Promise<void>((resolve) => {
      beforeEachWalletRead(() => {
        resolve();
        return new Promise(() => {});
      });
    });
    void reconcileLedger(ledger, enough());
    await isReading;
    expect(logged.join()).toContain('"OldestOpenSeconds":3600,"StuckTransactions":1,"OldestUnrefundedSeconds":0');
  });
});
