import { beforeEach, describe, expect, test } from "vitest";
import { koboFromNaira } from "../../../../shared/contract/money.ts";
import { alertIfAmountDiffers, alertIfContradicted } from "../../../../shared/ledger/settlement-alerts.ts";
import { type CapturedLog, captureLog } from "../../../builders/captured-log.ts";
import { aTransaction } from "../../../builders/transaction.ts";

let log: CapturedLog;
beforeEach(() => {
  log = captureLog();
});

const failed = { status: "failed", failure: { code: "delivery_failed" } } as const;

describe("alertIfContradicted", () => {
  test("a settlement with the other final status raises an alarm with both statuses and the upstream's facts", () => {
    const facts = { upstream_reference: "U1", upstream_amount_kobo: koboFromNaira(480) };
    const transaction = aTransaction({ status: "success" });
    expect(alertIfContradicted(transaction, { ...failed, ...facts })).toBe(true);
    const fields = { transaction: transaction.pk, stands: "success", says: "failed", amount_kobo: 500_00, ...facts };
    expect(log.lines()).toEqual([expect.objectContaining({ event: "transaction.contradicted", Alarms: 1, ...fields })]);
  });

  test.each([
    ["the same final status", failed],
    ["the status processing", { status: "processing" }],
  ] as const)("a settlement with %s raises no alarm", (_what, settlement) => {
    expect(alertIfContradicted(aTransaction({ status: "failed" }), settlement)).toBe(false);
    expect(log.lines()).toEqual([]);
  });
});

describe("alertIfAmountDiffers", () => {
  test.each([499.99, 500.01])("an upstream amount of %d NGN for an order of 500 NGN raises an alarm", (naira) => {
    const transaction = aTransaction();
    alertIfAmountDiffers(transaction, koboFromNaira(naira));
    const fields = { transaction: transaction.pk, ours: 500_00, theirs: koboFromNaira(naira) };
    expect(log.lines()).toEqual([
      expect.objectContaining({ event: "transaction.amount_differs", Alarms: 1, ...fields }),
    ]);
  });

  test("an equal upstream amount, or another one in the sandbox, raises no alarm", () => {
    alertIfAmountDiffers(aTransaction(), koboFromNaira(500));
    alertIfAmountDiffers(aTransaction({ mode: "test" }), koboFromNaira(1));
    expect(log.lines()).toEqual([]);
  });
});
