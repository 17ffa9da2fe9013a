import { expect, test } from "vitest";
import { koboSchema } from "../../../../shared/contract/values/money.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { bookedOrderOf } from "../../../../shared/upstream-statement/booked-orders.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";
import { FACE_VALUES } from "../../../builders/upstream/upstream-costs.ts";

const DAY = { from: "2026-11-20T23:00:00.000Z", to: "2026-11-21T23:00:00.000Z" };
const booked = (changes: Partial<Transaction>) =>
  bookedOrderOf(aTransaction({ created_at: DAY.from, ...changes }), DAY, { costs: FACE_VALUES, hashPhone: () => "h" });
const queued: Transaction["queued"] = { order: { kind: "airtime", network: "mtn" }, table: "ledger" };

test.each<[string, boolean, Partial<Transaction>]>([
  ["that was sent as the day began", true, {}],
  ["that was delivered", true, { status: "success" }],
  ["that failed", false, { status: "failed" }],
  ["that waits to be sent", false, { queued }],
  ["that was sent in the day, and waited before", true, { created_at: "2026-11-20T22:59:59.999Z", sent_at: DAY.from }],
  ["that was sent as the day ended", false, { sent_at: DAY.to }],
])("the day's statement must list an order %s: %s", (_what, isDue, changes) => {
  expect(booked(changes).is_due).toBe(isDue);
});

test("the amount is the one that the upstream said, and else what it should be", () => {
  expect(booked({}).amount_kobo).toBe(500_00);
  expect(booked({ upstream_amount_kobo: koboSchema.parse(485_00) }).amount_kobo).toBe(485_00);
});
