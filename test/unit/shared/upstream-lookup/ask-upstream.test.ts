import { expect, test } from "vitest";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { type ProfileChanges, profileOf } from "../../../../shared/upstream/profile.ts";
import { canAsk } from "../../../../shared/upstream-lookup/ask-upstream.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";

const lookup = { path: "/transactions/{reference}" };
const queued = { order: { kind: "data", network_id: 1, plan_id: 101 }, table: "ledger" } as const;

test.each<[string, boolean, Partial<Transaction>, ProfileChanges]>([
  ["an open order that has our reference", true, {}, { lookup }],
  ["an order of an upstream that cannot be asked", false, {}, {}],
  ["a test order", false, { mode: "test" }, { lookup }],
  ["an ended order", false, { status: "success" }, { lookup }],
  ["an identity check", false, { type: "nin_verification" }, { lookup, reference: "all" }],
  ["a queued order", false, { queued }, { lookup }],
  ["an order without our reference", false, { type: "airtime" }, { lookup }],
  ["an order that has the upstream's", true, { type: "airtime", upstream_reference: "U-1" }, { lookup }],
  ["an order whose reference is no part of a path", false, { type: "airtime", upstream_reference: ".." }, { lookup }],
])("whether the upstream can be asked for %s is %s", (_order, can, changes, profile) => {
  expect(canAsk(profileOf(profile), aTransaction(changes))).toBe(can);
});
