import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from "vitest";
import { readCheckpoint } from "../../../../shared/ledger/checkpoint.ts";
import { fundWallet, recordEntry } from "../../../../shared/ledger/ledger-entry.ts";
import { walletPk } from "../../../../shared/ledger/schema.ts";
import { settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { readStatement } from "../../../../shared/ledger/statement.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import { type Deadline, deadlineIn } from "../../../../shared/platform/deadline.ts";
import { koboFromNaira } from "../../../../shared/platform/money.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { reconcileLedger } from "../../../../shared/reconciliation/reconcile-ledger.ts";
import {
  confirmedReconciliation,
  reconcileAndCheckpoint,
  reconcileWallet,
} from "../../../../shared/reconciliation/reconcile-wallet.ts";
import { type DynamoDbProxy, startDynamoDbProxy } from "../../../builders/dynamodb-proxy.ts";
import { type LedgerAtNoon, NOON_MS, openLedgerAtNoon } from "../../../builders/ledger-at-noon.ts";

/** Goal: a proof sums up exactly what moved its wallet, and a watch of the ledger says exactly what it found. */
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
let proxy: DynamoDbProxy;
let ledger: LedgerAtNoon;
beforeAll(async () => {
  proxy = await startDynamoDbProxy(inject("dynamodbEndpoint"));
});
beforeEach(async () => {
  ledger = await openLedgerAtNoon(proxy.endpoint);
});
afterEach(() => {
  proxy.fault = () => undefined;
  vi.restoreAllMocks();
});
afterAll(() => proxy.stop());

const enough = (): Deadline => deadlineIn(120_000);

const anAccount = () => ledger.anAccount(2_000);
const anOrder = (accountId: string, changes?: Partial<Transaction>) => ledger.anOpenTransaction(accountId, changes);
const aDelivery = async (accountId: string): Promise<void> => {
  await settleTransaction(ledger, await anOrder(accountId), { status: "success" }, enough());
};
const addKobo = (accountId: string, kobo: number) => ledger.addToWallet(accountId, "balance_kobo", kobo);
const keepProof = async (accountId: string): Promise<void> => {
  const reading = await reconcileAndCheckpoint(ledger, await readCheckpoint(ledger, accountId));
  expect(reading.kind).toBe("reconciled");
};

describe("a proof", () => {
  test("counts what was funded, adjusted either way, spent, open and given back", async () => {
    const accountId = await anAccount();
    await recordEntry(ledger, { kind: "adjustment", account_id: accountId, entry_id: "a", amount_kobo: 700 });
    await recordEntry(ledger, { kind: "adjustment", account_id: accountId, entry_id: "b", amount_kobo: -300 });
    await aDelivery(accountId);
    await anOrder(accountId);
    const failed = { status: "failed", failure: { code: "delivery_failed" } } as const;
    await settleTransaction(ledger, await anOrder(accountId), failed, enough());
    const kobo = 200_000 + 700 - 300 - 50_000 - 50_000;
    expect(await reconcileWallet(ledger, accountId)).toEqual({
      balance_kobo: kobo,
      expected_kobo: kobo,
      difference_kobo: 0,
    });
  });

  test("of an account never proved starts at the beginning", async () => {
    const beginning = "1970-01-01T00:00:00.000Z";
    expect(await readCheckpoint(ledger, "acc_1")).toEqual({
      pk: "proof#acc_1",
      account_id: "acc_1",
      sum_kobo: 0,
      up_to: beginning,
      version: 0,
      open_keys: [],
      proved_at: beginning,
      difference_kobo: 0,
    });
  });
});

describe("what money hangs on", () => {
  test("is read strongly: an order whose answer was lost, an entry, and all that a proof sums up", async () => {
    const accountId = await anAccount();
    const entry = { accountId, fundingId: "second", amountKobo: koboFromNaira(1) };
    await fundWallet(ledger, entry);
    const reads: string[] = [];
    let writes = 0;
    proxy.fault = ({ operation, body }) => {
      if (operation === "GetItem" || operation === "BatchGetItem") reads.push(body);
      if (operation !== "TransactWriteItems") return undefined;
      writes += 1;
      // Two writes of ours, each of which the SDK tries twice.
      return writes <= 4 ? "answer_lost" : undefined;
    };
    await anOrder(accountId);
    await fundWallet(ledger, entry);
    await reconcileWallet(ledger, accountId);
    // The order, the funding of an earlier release, the checkpoint, the entry, the checkpoint, the two entries, the orders, the wallet.
    expect(reads).toHaveLength(8);
    for (const read of reads) expect(read).toContain('"ConsistentRead":true');
  });
});

describe("the checkpoint", () => {
  test("takes in what is an hour old, and nothing that is younger", async () => {
    const accountId = await anAccount();
    ledger.nowMs += 1;
    await aDelivery(accountId);
    ledger.nowMs = NOON_MS + HOUR_MS;
    await keepProof(accountId);
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({
      sum_kobo: 200_000,
      up_to: isoTime(NOON_MS),
      proved_at: isoTime(ledger.nowMs),
      difference_kobo: 0,
    });
    ledger.nowMs += 1;
    await keepProof(accountId);
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({ sum_kobo: 150_000, up_to: isoTime(NOON_MS + 1) });
    expect(await reconcileWallet(ledger, accountId)).toMatchObject({ expected_kobo: 150_000, difference_kobo: 0 });
  });

  test("does not move with a proof that found a difference, and keeps the difference", async () => {
    const accountId = await anAccount();
    await addKobo(accountId, 1);
    ledger.nowMs += DAY_MS;
    await keepProof(accountId);
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({
      sum_kobo: 0,
      up_to: "1970-01-01T00:00:00.000Z",
      proved_at: isoTime(ledger.nowMs),
      difference_kobo: 1,
    });
  });
});

describe("an entry of a clock that is slow", () => {
  test("is not dated before the checkpoint, and so is part of every later proof", async () => {
    const accountId = await anAccount();
    ledger.nowMs += DAY_MS;
    await keepProof(accountId);
    ledger.nowMs = NOON_MS - HOUR_MS;
    await fundWallet(ledger, { accountId, fundingId: `late-${accountId}`, amountKobo: koboFromNaira(300) });
    const adjustment = { kind: "adjustment", account_id: accountId, entry_id: "late", amount_kobo: -100 } as const;
    await recordEntry(ledger, adjustment);
    ledger.nowMs = NOON_MS + 2 * DAY_MS;
    expect(await reconcileWallet(ledger, accountId)).toMatchObject({ expected_kobo: 229_900, difference_kobo: 0 });
    const { lines } = await readStatement(ledger, accountId, { from: "0000", to: "9999" });
    expect(lines.map(({ at }) => at)).toEqual([NOON_MS, NOON_MS + 1, NOON_MS + 1].map(isoTime));
  });
});

describe("confirmedProof", () => {
  const confirm = async (accountId: string) => {
    let pauses = 0;
    const pause = async () => {
      pauses += 1;
    };
    return { proof: await confirmedReconciliation(ledger, accountId, pause), pauses };
  };
  /** The first `count` answers of the index by owner have nothing of the account's entries. */
  const lag = (accountId: string, count: number): void => {
    const send = ledger.db.send.bind(ledger.db);
    let answers = 0;
    vi.spyOn(ledger.db, "send").mockImplementation(async (command) => {
      const answer: unknown = await send(command);
      if (!JSON.stringify(command.input).includes(`${accountId}#entries`)) return answer;
      answers += 1;
      return answers <= count ? { Items: [] } : answer;
    });
  };

  test("finds no difference where the index lags in its first round", async () => {
    const accountId = await anAccount();
    // Of what is older than an hour, and of what is newer.
    lag(accountId, 2);
    expect(await confirm(accountId)).toMatchObject({ proof: { difference_kobo: 0 }, pauses: 0 });
  });

  test("needs no pause where there is no difference, and one before a difference is reported", async () => {
    const accountId = await anAccount();
    expect(await confirm(accountId)).toMatchObject({ proof: { difference_kobo: 0 }, pauses: 0 });
    await addKobo(accountId, 1);
    expect(await confirm(accountId)).toMatchObject({ proof: { difference_kobo: 1 }, pauses: 1 });
  });

  test("reports a difference that grows between two readings", async () => {
    const accountId = await anAccount();
    await addKobo(accountId, 1);
    const growing = vi.fn(() => addKobo(accountId, 1));
    expect(await confirmedReconciliation(ledger, accountId, growing)).toMatchObject({ difference_kobo: 2 });
    expect(growing).toHaveBeenCalledTimes(1);
  });

  test("reports no difference that the second reading does not show", async () => {
    const accountId = await anAccount();
    await addKobo(accountId, 1);
    const mend = () => addKobo(accountId, -1);
    expect(await confirmedReconciliation(ledger, accountId, mend)).toMatchObject({ difference_kobo: 0 });
  });

  test("reads everything before it says that a wallet differs, and resets a checkpoint that lacks an entry", async () => {
    const accountId = await anAccount();
    ledger.nowMs += DAY_MS;
    await keepProof(accountId);
    // An entry as an earlier release booked it, from a machine whose clock was slow.
    const createdAt = isoTime(NOON_MS - HOUR_MS);
    const entry = { kind: "adjustment", account_id: accountId, entry_id: "slow", amount_kobo: 700 } as const;
    const Item = { ...entry, pk: `adjustment#${accountId}#slow`, owner: `${accountId}#entries`, created_at: createdAt };
    await ledger.tables.db.send(new PutCommand({ TableName: ledger.table, Item }));
    await addKobo(accountId, 700);
    expect(await reconcileWallet(ledger, accountId)).toMatchObject({ difference_kobo: 700 });
    expect(await confirm(accountId)).toMatchObject({ proof: { difference_kobo: 0 } });
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({ sum_kobo: 0 });
    await keepProof(accountId);
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({ sum_kobo: 200_700, up_to: isoTime(NOON_MS) });
    await addKobo(accountId, 1);
    expect(await confirm(accountId)).toMatchObject({ proof: { difference_kobo: 1 } });
    expect(await readCheckpoint(ledger, accountId)).toMatchObject({ sum_kobo: 200_700 });
  });
});

/** What a watch says it did, and what it measured. */
const watch = async (deadline: Deadline = enough()) => {
  const said: string[] = [];
  const spy = vi.spyOn(console, "log").mockImplementation((line: unknown) => void said.push(String(line)));
  const did = await reconcileLedger(ledger, deadline);
  spy.mockRestore();
  const measured = Object.assign({}, ...said.filter((line) => line.includes("_aws")).map((line) => JSON.parse(line)));
  return { did, measured, said: said.join() };
};

describe("a watch of the ledger", () => {
  test("that finds nothing says so", async () => {
    const { did, measured } = await watch();
    expect(did).toEqual({ open: 0, refunded: 0, mismatches: 0 });
    expect(measured).toMatchObject({
      OldestOpenSeconds: 0,
      StuckTransactions: 0,
      OldestUnrefundedSeconds: 0,
    });
  });

  test("counts mismatches in a run that proved a wallet, and publishes no count in one that did not", async () => {
    await anAccount();
    expect((await watch()).measured).toMatchObject({ LedgerMismatches: 0 });
    expect((await watch()).measured).not.toHaveProperty("LedgerMismatches");
  });

  test("measures ages in whole seconds, and an order of exactly 15 minutes is not stuck yet", async () => {
    const accountId = await anAccount();
    await anOrder(accountId);
    ledger.nowMs += 500;
    await anOrder(accountId);
    ledger.nowMs = NOON_MS + 15 * MINUTE_MS;
    expect((await watch()).measured).toMatchObject({ OldestOpenSeconds: 900, StuckTransactions: 0 });
    ledger.nowMs += 1;
    expect(await watch()).toMatchObject({
      did: { open: 2 },
      measured: { OldestOpenSeconds: 900, StuckTransactions: 1, OldestUnrefundedSeconds: 0 },
    });
  });

  test("refunds every kind of check that is older than 5 minutes, and tells the oldest's age", async () => {
    const accountId = await anAccount();
    await anOrder(accountId, { type: "nin_verification" });
    ledger.nowMs += 1_000;
    await anOrder(accountId, { type: "bvn_retrieval" });
    ledger.nowMs = NOON_MS + 5 * MINUTE_MS + 1_000;
    expect(await watch()).toMatchObject({ did: { refunded: 1 }, measured: { OldestUnrefundedSeconds: 301 } });
    ledger.nowMs += 1;
    expect(await watch()).toMatchObject({ did: { open: 1, refunded: 1 }, measured: { OldestUnrefundedSeconds: 300 } });
    expect((await readWallet(ledger, accountId)).balance_kobo).toBe(200_000);
    expect((await watch()).did).toEqual({ open: 0, refunded: 0, mismatches: 0 });
  });

  test("refunds all that are due at once", async () => {
    const accountId = await anAccount();
    for (const type of ["bvn_verification", "nin_retrieval"] as const) await anOrder(accountId, { type });
    ledger.nowMs += DAY_MS;
    expect((await watch()).did).toMatchObject({ open: 2, refunded: 2 });
  });

  test("whose time is up during a refund tries no other", async () => {
    const accountId = await anAccount();
    await anOrder(accountId, { type: "nin_verification" });
    await anOrder(accountId, { type: "nin_verification" });
    ledger.nowMs += DAY_MS;
    let writes = 0;
    proxy.fault = ({ operation }) => {
      if (operation !== "TransactWriteItems") return undefined;
      writes += 1;
      return "conflict";
    };
    // Time for one attempt, and none after it.
    const looks = [20_000];
    const deadline: Deadline = { remainingMs: () => looks.shift() ?? 0 };
    expect((await watch(deadline)).did).toMatchObject({ open: 2, refunded: 0 });
    expect(writes).toBe(1);
  });

  test("begins no proof when 10 seconds are left to the function", async () => {
    const accountId = await anAccount();
    await watch({ remainingMs: () => 10_000 });
    expect((await readCheckpoint(ledger, accountId)).proved_at).not.toBe(isoTime(ledger.nowMs));
    await watch({ remainingMs: () => 10_001 });
    expect((await readCheckpoint(ledger, accountId)).proved_at).toBe(isoTime(ledger.nowMs));
  });

  test("proves a wallet again after a day, and not a moment sooner", async () => {
    const accountId = await anAccount();
    await watch();
    ledger.nowMs += DAY_MS - 1;
    await watch();
    expect((await readCheckpoint(ledger, accountId)).proved_at).toBe(isoTime(NOON_MS));
    ledger.nowMs += 1;
    await watch();
    expect((await readCheckpoint(ledger, accountId)).proved_at).toBe(isoTime(ledger.nowMs));
  });

  test("reports a difference that two proofs in a row show, and none after it is mended", async () => {
    const accountId = await anAccount();
    await addKobo(accountId, 1);
    const first = await watch();
    expect(first).toMatchObject({ did: { mismatches: 0 }, measured: { LedgerMismatches: 0 } });
    expect(first.said).not.toContain("wallet.mismatch");
    const second = await watch();
    expect(second).toMatchObject({ did: { mismatches: 1 }, measured: { LedgerMismatches: 1 } });
    expect(second.said).toContain("wallet.mismatch");
    await addKobo(accountId, -1);
    expect((await watch()).did).toMatchObject({ mismatches: 0 });
    await addKobo(accountId, 1);
    ledger.nowMs += DAY_MS;
    expect((await watch()).did).toMatchObject({ mismatches: 0 });
  });

  test("goes on after a wallet that cannot be proved, and says which", async () => {
    const broken = await anAccount();
    await ledger.tables.db.send(new DeleteCommand({ TableName: ledger.table, Key: { pk: walletPk(broken) } }));
    const accountId = await anAccount();
    expect((await watch()).said).toContain(broken);
    expect((await readCheckpoint(ledger, accountId)).proved_at).toBe(isoTime(ledger.nowMs));
  });
});
