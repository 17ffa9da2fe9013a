import { expect, test } from "vitest";
import { adviceOn } from "../../../../shared/actions/order-advice.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { aTransaction } from "../../../builders/transaction.ts";

const queued = { order: { kind: "airtime", network: "mtn" }, table: "ledger", number: 1 } as const;

/** What of an order is said about what, and one sentence of it. */
const cases: readonly [string, Partial<Transaction>, readonly string[], RegExp][] = [
  ["delivered", { status: "success" }, ["happened", "customer", "avoid", "upstream"], /was delivered\. Dial \*323#/],
  [
    "delivered airtime",
    { status: "success", type: "airtime" },
    ["happened", "customer", "avoid", "upstream"],
    /\*310#/,
  ],
  ["failed", { status: "failed" }, ["happened", "customer", "upstream"], /amount is back in the wallet/],
  ["never sent", { status: "failed", debit: "void" }, ["happened", "customer"], /the wallet was not debited/],
  ["queued", { queued }, ["happened", "wait", "customer", "avoid", "resolve"], /not sent yet/],
  [
    "sent, without an outcome",
    { upstream_reference: "UP-1" },
    ["happened", "unknown", "wait", "customer", "avoid", "upstream", "resolve"],
    /Ask how UP-1 \(08031234567, 500 NGN, 2026-11-21T09:30:00\.000Z\) ended/,
  ],
  ["a check under way", { type: "nin_verification" }, ["happened", "wait", "avoid"], /refunded by itself/],
  [
    "a check without a record",
    { type: "nin_verification", status: "failed", failure: { code: "record_not_found" } },
    ["happened"],
    /^No record was found, and/,
  ],
  ["of the sandbox", { mode: "test" }, ["happened"], /A test order/],
];

test.each(cases)("an order %s", (_, changes, about, sentence) => {
  const advice = adviceOn(aTransaction(changes), false);
  expect(advice.map((each) => each.about)).toEqual(about);
  expect(advice.map(({ text }) => text).find((text) => sentence.test(text))).toBeDefined();
});

test("an order that may have been delivered is never said to be safe to place again, and an owner reads nothing of the upstream", () => {
  const advice = adviceOn(aTransaction(), true);
  expect(advice.map(({ about }) => about)).toEqual(["happened", "unknown", "wait", "customer", "avoid"]);
  expect(advice.some(({ text }) => /try again/i.test(text))).toBe(false);
  expect(advice.find(({ about }) => about === "avoid")?.text).toMatch(/Do not place it again under another reference/);
});

test("an order without an upstream's reference is named by our own", () => {
  const upstream = adviceOn(aTransaction(), false).find(({ about }) => about === "upstream");
  expect(upstream?.text).toContain("our reference DATA_0123456789ABCDEFGHJKMNPQRS");
});
