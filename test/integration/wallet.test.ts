import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { type DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { koboSchema } from "../../shared/platform/money.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { auditOf, readActs } from "../../shared/wallet/audit.ts";
import type { Ledger } from "../../shared/wallet/ledger.ts";
import { getWallet } from "../../shared/wallet/read-account.ts";
import { setLowBalanceThreshold } from "../../shared/wallet/threshold.ts";
import { emptyWallet } from "../../shared/wallet/wallet.ts";
import { freshTables } from "../builders/tables.ts";

/** Goal: an account sees its one wallet as it is, with the threshold that its operator set. */
const NOON_MS = Date.parse("2026-11-21T12:00:00.000Z");

let db: DynamoDBDocumentClient;
let ledger: Ledger;
beforeAll(async () => {
  const tables = await freshTables();
  db = tables.db;
  ledger = { db, table: tables.ledgerTable, clock: () => NOON_MS };
});
afterEach(() => {
  vi.restoreAllMocks();
});

const amount = (naira: number) => koboSchema.parse(naira * 100);

const openWallet = async (accountId: string, naira: number): Promise<void> => {
  const Item = { ...emptyWallet(accountId, NOON_MS), balance_kobo: amount(naira) };
  await db.send(new PutCommand({ TableName: ledger.table, Item }));
};

const setThreshold = (accountId: string, naira: number | undefined) => {
  const act = auditOf({ subject: accountId, by: "ada", action: "wallet threshold" }, NOON_MS);
  return setLowBalanceThreshold(ledger, accountId, naira === undefined ? undefined : amount(naira), act);
};

const walletOf = async (accountId: string, mode: "live" | "test" = "live") =>
  (await getWallet(ledger)({ caller: { accountId, keyId: "key_1", mode } })).data.wallet;

test("a wallet is shown in NGN, read strongly, with either mode's key", async () => {
  await openWallet("acc_shown", 99_500.5);
  const send = vi.spyOn(db, "send");
  for (const mode of ["live", "test"] as const) {
    expect(await walletOf("acc_shown", mode)).toEqual({
      currency: "NGN",
      balance: 99_500.5,
      low_balance_threshold: null,
      updated_at: isoTime(NOON_MS),
    });
  }
  for (const [{ input }] of send.mock.calls) expect(input).toMatchObject({ ConsistentRead: true });
});

describe("a threshold", () => {
  const HELD = new TransactionCanceledException({
    $metadata: {},
    message: "held",
    CancellationReasons: [{ Code: "TransactionConflict" }],
  });

  test("is shown from when the operator set it until it is taken away, on record; balance and time stay", async () => {
    await openWallet("acc_set", 1_000);
    const before = await walletOf("acc_set");
    await setThreshold("acc_set", 250.5);
    expect(await walletOf("acc_set")).toEqual({ ...before, low_balance_threshold: 250.5 });
    await setThreshold("acc_set", undefined);
    expect(await walletOf("acc_set")).toEqual(before);
    expect(await readActs(ledger, "acc_set")).toHaveLength(2);
  });

  test("waits for the writes that hold the wallet", async () => {
    await openWallet("acc_held", 1_000);
    const send = vi.spyOn(db, "send");
    for (const _ of [1, 2, 3]) send.mockRejectedValueOnce(HELD);
    await setThreshold("acc_held", 10);
    expect(send).toHaveBeenCalledTimes(4);
    expect(await walletOf("acc_held")).toMatchObject({ balance: 1_000, low_balance_threshold: 10 });
  });

  test("is given up where the wallet is never free", async () => {
    await openWallet("acc_busy", 1_000);
    vi.spyOn(db, "send").mockRejectedValue(HELD);
    await expect(setThreshold("acc_busy", 10)).rejects.toBe(HELD);
  });

  test("of a wallet that is not there is refused, and nothing is on record", async () => {
    await expect(setThreshold("acc_none", 10)).rejects.toThrow("ConditionalCheckFailed");
    expect(await readActs(ledger, "acc_none")).toEqual([]);
  });
});
