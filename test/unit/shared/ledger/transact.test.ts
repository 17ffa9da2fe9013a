import { ConditionalCheckFailedException, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { describe, expect, test } from "vitest";
import { entriesPk, keyUsagePk } from "../../../../shared/ledger/schema.ts";
import { classifyWriteError, transactUnlessRefused } from "../../../../shared/ledger/transact.ts";
import { emptyWallet } from "../../../../shared/ledger/wallet.ts";
import { emulatorClientAt } from "../../../builders/dynamodb/emulator-client.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const $metadata = {};
const transaction = aTransaction();
const Item = marshall(transaction);
const REFUSED = { Code: "ConditionalCheckFailed" };
const PASSED = { Code: "None" };
const cancelled = (...CancellationReasons: readonly { readonly Code?: string; readonly Item?: typeof Item }[]) =>
  new TransactionCanceledException({ $metadata, message: "", CancellationReasons: [...CancellationReasons] });
const errorNamed = (name: string): Error => Object.assign(new Error("The write was not made"), { name });

describe("classifyWriteError", () => {
  test("a failed condition of a single write has the stored transaction", () => {
    const error = new ConditionalCheckFailedException({ $metadata, message: "", Item });
    expect(classifyWriteError(error)).toMatchObject({ kind: "condition_failed", transaction });
  });

  test("a failed condition without an item has no transaction", () => {
    const error = new ConditionalCheckFailedException({ $metadata, message: "" });
    expect(classifyWriteError(error)).toMatchObject({ kind: "condition_failed", transaction: undefined });
    expect(classifyWriteError(cancelled(REFUSED, PASSED))).toMatchObject({
      kind: "condition_failed",
      transaction: undefined,
    });
  });

  test("an existing transaction has precedence over a conflict on the wallet", () => {
    const error = cancelled({ ...REFUSED, Item }, { Code: "TransactionConflict" });
    expect(classifyWriteError(error)).toMatchObject({ kind: "condition_failed", transaction });
  });

  test.each(["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded"])(
    "%s at one item is a conflict, whatever the other item's condition",
    (Code) => {
      expect(classifyWriteError(cancelled({ Code }, REFUSED))).toEqual({ kind: "conflict" });
      expect(classifyWriteError(cancelled(PASSED, { Code }))).toEqual({ kind: "conflict" });
    },
  );

  test("an earlier copy that is still in progress is neither indeterminate nor a failed condition", () => {
    expect(classifyWriteError(errorNamed("TransactionInProgressException"))).toEqual({ kind: "in_progress" });
  });

  test("a failed condition on the wallet alone has no transaction", () => {
    expect(classifyWriteError(cancelled(PASSED, REFUSED))).toMatchObject({
      kind: "condition_failed",
      transaction: undefined,
    });
  });

  const wallet = marshall(emptyWallet("acc_1", NOON_MS));
  const counters = { pk: keyUsagePk("key_1"), day_orders: 3 };
  const entry = marshall({ pk: entriesPk("acc_1") });

  test("failed conditions beside the transaction's have the stored wallet and all stored items", () => {
    const error = cancelled(PASSED, { ...REFUSED, Item: marshall(counters) }, REFUSED, { ...REFUSED, Item: wallet });
    expect(classifyWriteError(error)).toEqual({
      ...{ kind: "condition_failed", transaction: undefined, wallet: emptyWallet("acc_1", NOON_MS) },
      items: [counters, emptyWallet("acc_1", NOON_MS)],
    });
    const ofCounters = classifyWriteError(cancelled(PASSED, { ...REFUSED, Item: marshall(counters) }));
    expect(ofCounters).toEqual({ kind: "condition_failed", transaction: undefined, items: [counters] });
  });

  test("a place in the audit log that another entry took is a conflict, and says nothing of the other conditions", () => {
    const taken = { ...REFUSED, Item: entry };
    for (const error of [cancelled(taken), cancelled(taken, PASSED), cancelled(PASSED, taken)]) {
      expect(classifyWriteError(error)).toEqual({ kind: "conflict" });
    }
    expect(classifyWriteError(cancelled(PASSED, { ...REFUSED, Item: wallet }, taken))).toEqual({
      ...{ kind: "condition_failed", transaction: undefined, wallet: emptyWallet("acc_1", NOON_MS) },
      items: [emptyWallet("acc_1", NOON_MS)],
    });
  });

  test.each([
    "TransactionConflictException",
    "ThrottlingException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
  ])("%s of the whole request is a conflict", (name) => {
    expect(classifyWriteError(errorNamed(name))).toEqual({ kind: "conflict" });
  });

  test.each([
    ["a cancellation that gives no reasons", new TransactionCanceledException({ $metadata, message: "" })],
    ["a cancellation whose reasons name no code", cancelled({}, {})],
    ["a cancellation because an item is malformed", cancelled(PASSED, { Code: "ValidationError" })],
    ["a token that was sent with other parameters", errorNamed("IdempotentParameterMismatchException")],
    ["a time-out", errorNamed("TimeoutError")],
    ["something that is not an error", { name: "ThrottlingException" }],
    ["nothing at all", undefined],
  ])("%s leaves the write indeterminate", (_name, error) => {
    expect(classifyWriteError(error)).toEqual({ kind: "indeterminate", error });
  });
});

test("an operator's write that got no answer is an error, and not taken for a refused one", async () => {
  const db = emulatorClientAt("http://127.0.0.1:1");
  await expect(transactUnlessRefused({ db }, [])).rejects.toThrow("ECONNREFUSED");
});
