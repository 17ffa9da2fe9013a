import { beforeEach, describe, expect, test } from "vitest";
import { koboFromNaira, koboSchema } from "../../../../shared/contract/values/money.ts";
import { alertIfAmountDiffers, alertIfContradicted } from "../../../../shared/ledger/settlement-alerts.ts";
import { referenceOf } from "../../../../shared/ledger/transaction.ts";
import { upstreamCosts } from "../../../../shared/ledger/upstream-costs.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";
import { type CapturedLog, captureLog } from "../../../builders/run/captured-log.ts";
import { FACE_VALUES } from "../../../builders/upstream/upstream-costs.ts";

let log: CapturedLog;
beforeEach(() => {
  log = captureLog();
});

const failed = { status: "failed", failure: { code: "delivery_failed" } } as const;

describe("alertIfContradicted", () => {
  test("a settlement with the other final status raises an alarm with our reference, both statuses and the upstream's facts", () => {
    const facts = { upstream_reference: "U1", upstream_amount_kobo: koboFromNaira(480) };
    const transaction = aTransaction({ status: "success" });
    expect(alertIfContradicted(transaction, { ...failed, ...facts })).toBe(true);
    const fields = {
      transaction: referenceOf(transaction),
      stands: "success",
      says: "failed",
      amount_kobo: 500_00,
      ...facts,
    };
    expect(log.lines()).toEqual([expect.objectContaining({ event: "transaction.contradicted", Alarms: 1, ...fields })]);
  });

  test("the alarm has no phone number that the upstream's reference has", () => {
    alertIfContradicted(aTransaction({ status: "success" }), { ...failed, upstream_reference: "U-08031234567" });
    expect(log.lines()).toEqual([expect.objectContaining({ upstream_reference: "U-*********67" })]);
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
    alertIfAmountDiffers(FACE_VALUES, transaction, koboFromNaira(naira));
    const fields = { transaction: referenceOf(transaction), ours: 500_00, theirs: koboFromNaira(naira) };
    expect(log.lines()).toEqual([
      expect.objectContaining({ event: "transaction.amount_differs", Alarms: 1, ...fields }),
    ]);
  });

  test("an equal upstream amount, or another one in the sandbox, raises no alarm", () => {
    alertIfAmountDiffers(FACE_VALUES, aTransaction(), koboFromNaira(500));
    alertIfAmountDiffers(FACE_VALUES, aTransaction({ mode: "test" }), koboFromNaira(1));
    expect(log.lines()).toEqual([]);
  });

  const tolerant = upstreamCosts.parse({ tolerancePercent: 1 });
  const charged = upstreamCosts.parse({ amountIs: "charged", tolerancePercent: 1 });
  test.each([
    ["the face value of an order with another price", FACE_VALUES, { face_kobo: 500_00, amount_kobo: 485_00 }, 500],
    [
      "the price of an order whose face value is another one",
      FACE_VALUES,
      { face_kobo: 500_00, amount_kobo: 485_00 },
      485,
    ],
    [
      "the face value of an order whose charge is another one",
      FACE_VALUES,
      { amount_kobo: 500_00, cost_kobo: 485_00 },
      500,
    ],
    ["the price plus a tolerance that is one of charges", tolerant, { amount_kobo: 500_00 }, 500.01],
    ["the expected charge", charged, { amount_kobo: 500_00, cost_kobo: 485_00 }, 485],
    ["a charge within the tolerance", charged, { amount_kobo: 500_00, cost_kobo: 485_00 }, 489.85],
    ["a charge outside the tolerance", charged, { amount_kobo: 500_00, cost_kobo: 485_00 }, 489.86],
    ["the face value instead of the charge", charged, { amount_kobo: 500_00, cost_kobo: 485_00 }, 500],
    ["a charge without an expected discount", charged, { amount_kobo: 500_00 }, 485],
  ] as const)("%s raises an alarm only if it is unexpected", (name, costs, priced, naira) => {
    const kobo = (value: number) => koboSchema.parse(value);
    const transaction = {
      ...aTransaction(),
      ...Object.fromEntries(Object.entries(priced).map(([field, value]) => [field, kobo(value)])),
    };
    alertIfAmountDiffers(costs, transaction, koboFromNaira(naira));
    const isUnexpected = /^(the price|a charge outside|the face value instead|a charge without)/.test(name);
    expect(log.lines()).toHaveLength(isUnexpected ? 1 : 0);
  });
});
