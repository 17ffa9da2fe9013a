import { describe, expect, test } from "vitest";
import {
  createSequentialSettle,
  isOfClosedAccount,
  mayBeOfSendingBefore,
  NOT_DELIVERED,
  refundRefusedBy,
  settledTransaction,
  settlementSchema,
} from "../../../../shared/ledger/settle-transaction.ts";
import { emptyWallet } from "../../../../shared/ledger/wallet.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { emulatorClientAt } from "../../../builders/dynamodb/emulator-client.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const NOON = isoTime(NOON_MS);
const wallet = emptyWallet("acc_1", NOON_MS);

test("a failure that is reported of an order that was sent again may be of the sending before, and nothing else may", () => {
  const failed = { ...NOT_DELIVERED, reported_by: "lookup" } as const;
  const queued = { order: { kind: "data", network_id: 1, plan_id: 101 }, table: "ledger", refusals: 1 } as const;
  expect(mayBeOfSendingBefore({ refusals: 1 }, failed)).toBe(true);
  expect(mayBeOfSendingBefore({}, failed)).toBe(false);
  expect(mayBeOfSendingBefore({ refusals: 1, queued }, failed)).toBe(false);
  expect(mayBeOfSendingBefore({ refusals: 1 }, NOT_DELIVERED)).toBe(false);
  expect(mayBeOfSendingBefore({ refusals: 1 }, { status: "success", reported_by: "event" })).toBe(false);
});

test("a settlement is read with its facts as it was written, and a failure without a cost", () => {
  const facts = { upstream_reference: "U".repeat(100), upstream_amount_kobo: 480_00 };
  for (const status of ["success", "processing"]) {
    expect(settlementSchema.parse({ status, ...facts, cost_kobo: 470_00 })).toEqual({
      status,
      ...facts,
      cost_kobo: 470_00,
    });
    expect(settlementSchema.parse({ status })).toEqual({ status });
  }
  expect(settlementSchema.parse({ ...NOT_DELIVERED, ...facts, cost_kobo: 470_00 })).toEqual({
    ...NOT_DELIVERED,
    ...facts,
  });
  for (const other of [{ status: "failed" }, { status: "success", upstream_reference: "" }, { status: "sent" }]) {
    expect(settlementSchema.safeParse(other).success).toBe(false);
  }
  expect(settlementSchema.safeParse({ status: "success", upstream_reference: "U".repeat(101) }).success).toBe(false);
});

describe("refundRefusedBy", () => {
  const counted = { counted: { day: "2026-11-26", account: true, key_id: "key_1" } } as const;

  test("a refund is written anew for the wallet that refused it, and keeps the seal that another refusal showed", () => {
    const sealed = { ...wallet, sealed_to: NOON };
    expect(refundRefusedBy({}, { wallet: sealed }, {})).toEqual({ account: sealed, sealedTo: NOON });
    expect(refundRefusedBy({}, { wallet }, { sealedTo: NOON })).toEqual({
      account: wallet,
      sealedTo: NOON,
    });
    const key = { pk: "key-usage#key_1", account_id: "acc_1" };
    expect(refundRefusedBy({}, { items: [key] }, { account: wallet })).toMatchObject({
      account: wallet,
      key,
    });
  });

  test("a refund whose key has lost its counters is written anew without them, once", () => {
    const lost = { items: [] };
    expect(refundRefusedBy(counted, lost, { sealedTo: NOON })).toEqual({ sealedTo: NOON, key: {} });
    expect(refundRefusedBy(counted, lost, { key: {} })).toBeUndefined();
    expect(refundRefusedBy({ counted: { day: "2026-11-26" } }, lost, {})).toBeUndefined();
    expect(refundRefusedBy({}, lost, {})).toBeUndefined();
    expect(refundRefusedBy(counted, {}, {})).toBeUndefined();
    expect(refundRefusedBy(counted, { items: [{ pk: "transaction#1" }] }, {})).toBeUndefined();
  });
});

test("a refund is of a closed account if the wallet that refused it is closed", () => {
  expect(isOfClosedAccount({ wallet: { ...wallet, closed: true } })).toBe(true);
  expect(isOfClosedAccount({ wallet })).toBe(false);
  expect(isOfClosedAccount({})).toBe(false);
});

test("a settled transaction has its settlement, and its place in no list", () => {
  const { open: _open, listed_at: _listedAt, ...transaction } = aTransaction();
  const queued = { order: { kind: "airtime", network: "mtn" }, table: "t" } as const;
  expect(settledTransaction(aTransaction({ queued }), NOT_DELIVERED)).toEqual({ ...transaction, ...NOT_DELIVERED });
});

test("refunds of one wallet are settled in sequence, and everything else at once", async () => {
  let [running, most] = [0, 0];
  const settle = createSequentialSettle(async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return { kind: "applied" };
  });
  const ledger = { db: emulatorClientAt("http://127.0.0.1:1"), table: "t", clock: () => NOON_MS };
  const mostOf = async (
    ...settled: readonly (readonly [Parameters<typeof aTransaction>[0], typeof NOT_DELIVERED])[]
  ) => {
    most = 0;
    await Promise.all(settled.map(([changes, as]) => settle(ledger, aTransaction(changes), as, deadlineIn(1_000))));
    return most;
  };
  expect(await mostOf([{}, NOT_DELIVERED], [{}, NOT_DELIVERED])).toBe(1);
  expect(await mostOf([{}, NOT_DELIVERED], [{ account_id: "acc_2" }, NOT_DELIVERED])).toBe(2);
  expect(await mostOf([{}, NOT_DELIVERED], [{ mode: "test" }, NOT_DELIVERED])).toBe(2);
  expect(await mostOf([{}, { status: "success" }], [{}, NOT_DELIVERED], [{}, { status: "processing" }])).toBe(3);
});
