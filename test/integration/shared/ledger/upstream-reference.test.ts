import { beforeAll, expect, test } from "vitest";
import { koboSchema } from "../../../../shared/contract/values/money.ts";
import { findByUpstreamReference } from "../../../../shared/ledger/find-transactions.ts";
import { transactUnlessRefused } from "../../../../shared/ledger/transact.ts";
import {
  contraryEvent,
  noteEvent,
  readUpstreamReference,
  upstreamReferenceReservation,
} from "../../../../shared/ledger/upstream-reference.ts";
import { type LedgerAtNoon, openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { aTransaction, newTransactionPk } from "../../../builders/ledger/transaction.ts";

let ledger: LedgerAtNoon;
beforeAll(async () => {
  ledger = await openLedgerAtNoon();
});

test("the first event of each status is kept, and each is the contrary of the other", async () => {
  const first = { pk: "upstream-reference#U1", success_event_pk: "event#1" };
  expect(await readUpstreamReference(ledger, "U1")).toBeUndefined();
  expect(await noteEvent(ledger, "U1", "success", "event#1")).toEqual(first);
  expect(await noteEvent(ledger, "U1", "success", "event#2")).toEqual(first);
  const both = { ...first, failed_event_pk: "event#3" };
  expect(await noteEvent(ledger, "U1", "failed", "event#3")).toEqual(both);
  expect(await readUpstreamReference(ledger, "U1")).toEqual(both);
  expect([contraryEvent(both, "success"), contraryEvent(both, "failed")]).toEqual(["event#3", "event#1"]);
  expect(contraryEvent(first, "success")).toBeUndefined();
});

test("an upstream reference is one transaction's, and a heuristic match needs one that no event reported as failed", async () => {
  const reserve = (upstreamReference: string, transactionPk: string, by: "heuristic_match" | "decision") =>
    transactUnlessRefused(ledger, [upstreamReferenceReservation(ledger, { transactionPk, upstreamReference }, by)]);
  expect(await reserve("U2", "transaction#1", "heuristic_match")).toBe(true);
  expect(await reserve("U2", "transaction#1", "decision")).toBe(true);
  expect(await reserve("U2", "transaction#2", "decision")).toBe(false);
  await noteEvent(ledger, "U3", "failed", "event#1");
  expect(await reserve("U3", "transaction#1", "heuristic_match")).toBe(false);
  expect(await reserve("U3", "transaction#1", "decision")).toBe(true);
  expect(await readUpstreamReference(ledger, "U3")).toMatchObject({ transaction_pk: "transaction#1" });
});

test("an order is found by its upstream reference with what it cost and where it was counted, which its outcome needs", async () => {
  const priced = { face_kobo: koboSchema.parse(520_00), cost_kobo: koboSchema.parse(485_00) };
  const counted = { day: "2026-11-21", account: true, key_id: "key_1" } as const;
  const order = aTransaction({ pk: newTransactionPk(), upstream_reference: "U4", ...priced, counted });
  await ledger.db.put({ TableName: ledger.table, Item: order });
  const { pk, status, mode, write_token, account_id, amount_kobo } = order;
  expect(await findByUpstreamReference(ledger, "U4")).toEqual([
    { pk, status, mode, write_token, account_id, amount_kobo, ...priced, counted },
  ]);
});
