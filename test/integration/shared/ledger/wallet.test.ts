import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { koboSchema } from "../../../../shared/contract/values/money.ts";
import type { Ledger, Writes } from "../../../../shared/ledger/ledger.ts";
import { transactUnlessRefused } from "../../../../shared/ledger/transact.ts";
import {
  emptyCheckCount,
  emptyRunStart,
  emptyWallet,
  readWallet,
  type Wallet,
  walletClosing,
  walletNotRestricted,
  walletQueueGap,
  walletReopening,
  walletRestriction,
} from "../../../../shared/ledger/wallet.ts";
import { walletCorrection } from "../../../../shared/ledger/wallet-correction.ts";
import { sealWallet } from "../../../../shared/ledger/wallet-seal.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

/** Goal: what changes a wallet beside its balance is written only under its conditions, and changes nothing else. */
let ledger: Ledger;
beforeAll(async () => {
  ledger = await openLedgerAtNoon();
});

const NOON = isoTime(NOON_MS);
const LATER = isoTime(NOON_MS + 1);

const aWallet = async (changes: Partial<Wallet> = {}): Promise<Wallet> => {
  const Item = { ...emptyWallet(`acc_${randomUUID()}`, NOON_MS), ...changes };
  await ledger.db.put({ TableName: ledger.table, Item });
  return Item;
};
const stored = ({ account_id }: Wallet) => readWallet(ledger, account_id);
/** False if its condition fails. A wallet is never the first item of a transaction of writes. */
const write = (wallet: Writes[number]) => {
  const Key = { pk: "nothing" };
  const first = { TableName: ledger.table, Key, ConditionExpression: "attribute_not_exists(pk)" };
  return transactUnlessRefused(ledger, [{ ConditionCheck: first }, wallet]);
};
const nobody = emptyWallet("acc_nobody", NOON_MS);

test("an empty wallet has no money and no line", () => {
  expect(nobody).toEqual({
    ...{ pk: "wallet#acc_nobody", account_id: "acc_nobody", balance_kobo: 0, version: 0, updated_at: NOON },
  });
});

test("a seal resolves with the wallet that it leaves, only rises, and fails for other reasons with their errors", async () => {
  const wallet = await aWallet({ balance_kobo: koboSchema.parse(500), version: 3 });
  const { account_id: accountId } = wallet;
  expect(await sealWallet(ledger, accountId, NOON)).toEqual({ balance_kobo: 500, version: 3, sealed_to: NOON });
  expect(await sealWallet(ledger, accountId, NOON)).toBeUndefined();
  expect(await sealWallet(ledger, accountId, LATER)).toMatchObject({ sealed_to: LATER });
  expect(await stored(wallet)).toEqual({ ...wallet, sealed_to: LATER });
  await expect(sealWallet(ledger, "acc_nobody", NOON)).rejects.toThrow("acc_nobody has no wallet");
  await expect(readWallet(ledger, "acc_nobody")).rejects.toThrow();
  await expect(sealWallet({ ...ledger, table: "absent" }, accountId, NOON)).rejects.toThrow(
    expect.objectContaining({ name: "ResourceNotFoundException" }),
  );
});

test("a restriction keeps its first time until it ends, and needs a wallet", async () => {
  const wallet = await aWallet();
  const restrict = (isRestricted: boolean, nowMs = NOON_MS, of = wallet) =>
    write(walletRestriction(ledger.table, of.account_id, isRestricted, nowMs));
  const isFree = () => write(walletNotRestricted(ledger, wallet.account_id));
  expect(await isFree()).toBe(true);
  expect([await restrict(true), await restrict(true, NOON_MS + 1)]).toEqual([true, true]);
  expect(await stored(wallet)).toEqual({ ...wallet, restricted: true, restricted_at: NOON });
  expect(await isFree()).toBe(false);
  expect(await restrict(false)).toBe(true);
  expect(await stored(wallet)).toEqual(wallet);
  expect([await restrict(true, NOON_MS, nobody), await restrict(false, NOON_MS, nobody)]).toEqual([false, false]);
  expect(await write(walletNotRestricted(ledger, "acc_nobody"))).toBe(false);
});

const restricted = { restricted: true, restricted_at: NOON } as const;
const threshold = { low_balance_threshold_kobo: koboSchema.parse(1) };

test("a wallet that is restricted, empty and not listed is closed without its threshold, and reopened as restricted", async () => {
  const wallet = await aWallet({ ...restricted, version: 2 });
  await ledger.db.put({ TableName: ledger.table, Item: { ...wallet, ...threshold } });
  expect(await write(walletClosing(ledger.table, wallet))).toBe(true);
  expect(await stored(wallet)).toEqual({ ...wallet, closed: true });
  expect(await write(walletReopening(ledger.table, wallet.account_id))).toBe(true);
  expect(await stored(wallet)).toEqual(wallet);
  expect(await write(walletReopening(ledger.table, "acc_nobody"))).toBe(false);
});

test.each<[string, Partial<Wallet>]>([
  ["is not restricted", {}],
  ["has a kobo", { ...restricted, balance_kobo: koboSchema.parse(1) }],
  ["has queued orders", { ...restricted, open: "queued", listed_at: NOON }],
  ["has a line more than was read", { ...restricted, version: 3 }],
])("a wallet that %s is not closed", async (_name, changes) => {
  const wallet = await aWallet({ version: 2, ...changes });
  expect(await write(walletClosing(ledger.table, { ...wallet, version: 2 }))).toBe(false);
  expect(await stored(wallet)).toEqual(wallet);
});

test("checks that found nobody are counted, and of several beginnings of a run the one with the most others counts", async () => {
  const wallet = await aWallet();
  const TableName = ledger.table;
  const start = (from: number, found: number, of = wallet) =>
    write({ Update: { TableName, ...emptyRunStart(of.account_id, { from, found }) } });
  const count = (of = wallet) => write({ Update: { TableName, ...emptyCheckCount(of.account_id) } });
  expect([await count(), await count(), await count(nobody)]).toEqual([true, true, false]);
  expect([await start(4, 2), await start(5, 2), await start(6, 3), await start(1, 1, nobody)]).toEqual([
    ...[true, false, true, false],
  ]);
  expect(await stored(wallet)).toEqual({ ...wallet, empty_checks: 2, empty_run_from: 6, empty_run_found: 3 });
});

describe("a number that leaves the queue", () => {
  test("changes no balance without a refund, and with one is its line too", async () => {
    const wallet = await aWallet({ queue_tail: 9 });
    const refund = { amount: koboSchema.parse(500), bookedAt: NOON };
    expect(await write(walletQueueGap(ledger, wallet.account_id, 7))).toBe(true);
    expect(await stored(wallet)).toEqual({ ...wallet, queue_gaps: new Set([7]) });
    expect(await write(walletQueueGap(ledger, wallet.account_id, 8, refund))).toBe(true);
    const refunded = { ...wallet, balance_kobo: 500, version: 1, queue_gaps: new Set([7, 8]) };
    expect(await stored(wallet)).toEqual(refunded);
    expect(await write(walletQueueGap(ledger, "acc_nobody", 7))).toBe(false);
  });

  test("is not refunded at a sealed time", async () => {
    const wallet = await aWallet({ sealed_to: NOON });
    const refund = (bookedAt: string) =>
      write(walletQueueGap(ledger, wallet.account_id, 7, { amount: koboSchema.parse(500), bookedAt }));
    expect([await refund(NOON), await refund(LATER)]).toEqual([false, true]);
  });
});

describe("the correction of a wallet after a restore", () => {
  const state = { balanceKobo: 700, versions: 5, queued: new Set<number>() };
  const left = { balance_kobo: 700, version: 5, updated_at: NOON };
  const queue = {
    queue_tail: 4,
    queue_head: 2,
    queue_front: new Set([1]),
    queue_gaps: new Set([3]),
    queue_front_at: NOON,
  };
  const listed = { open: "queued", listed_at: NOON, turn_until: LATER } as const;

  test("sets balance and version, and empties its queue behind the last number that was given", async () => {
    const [plain, queued] = [await aWallet({ version: 2 }), await aWallet({ version: 2, ...queue, ...listed })];
    expect(await write(walletCorrection(ledger, plain, state))).toBe(true);
    expect(await stored(plain)).toEqual({ ...plain, ...left });
    expect(await write(walletCorrection(ledger, queued, state))).toBe(true);
    const { pk, account_id } = queued;
    expect(await stored(queued)).toEqual({ pk, account_id, ...left, queue_tail: 4, queue_head: 5 });
  });

  test("puts the queued orders in front, in whatever order they were counted, and lists the wallet", async () => {
    const [none, some] = [await aWallet(), await aWallet({ ...queue, ...listed, listed_at: LATER })];
    const queued = { ...state, queued: new Set([6, 3]) };
    const inFront = { queue_front: new Set([3, 6]), queue_front_at: NOON, queue_tail: 6, queue_head: 7 };
    expect(await write(walletCorrection(ledger, none, queued))).toBe(true);
    expect(await stored(none)).toEqual({ ...none, ...left, ...inFront, open: "queued", listed_at: NOON });
    expect(await write(walletCorrection(ledger, some, queued))).toBe(true);
    const { pk, account_id } = some;
    expect(await stored(some)).toEqual({ pk, account_id, ...left, ...inFront, open: "queued", listed_at: LATER });
  });

  test("fits the wallet of an account with as many queued orders as wait in a day", async () => {
    const wallet = await aWallet();
    const numbers = Array.from({ length: 300_000 }, (_, index) => index + 2);
    const queued = new Set(numbers.filter((number) => number !== 4).toReversed());
    expect(await write(walletCorrection(ledger, wallet, { ...state, queued }))).toBe(true);
    expect(await stored(wallet)).toEqual({
      ...{ ...wallet, ...left, open: "queued", listed_at: NOON },
      ...{ queue_tail: 300_001, queue_head: 2, queue_gaps: new Set([4]) },
    });
  });

  test("is refused if a line or a number was added since it was read", async () => {
    const wallet = await aWallet({ version: 2, queue_tail: 4 });
    const { queue_tail: _, ...without } = wallet;
    for (const read of [{ ...wallet, version: 1 }, { ...wallet, queue_tail: 3 }, without]) {
      expect(await write(walletCorrection(ledger, read, state))).toBe(false);
    }
    expect(await stored(wallet)).toEqual(wallet);
  });
});
