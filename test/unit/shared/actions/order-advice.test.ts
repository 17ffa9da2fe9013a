import { expect, test } from "vitest";
import { adviceOn } from "../../../../shared/actions/order-advice.ts";
import { errorCodes } from "../../../../shared/contract/errors.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { stateOf, transitions } from "../../../../shared/ledger/transaction-state.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";

const order = { kind: "airtime", network: "mtn" } as const;
const toOperator = {
  ...{ isForOwner: false, isRefunded: false, isPaidAgain: false, isContradicted: false, isOverdue: false },
  ...{ isOfAnotherLedger: false, carriesOurs: true },
};
const queued = { order, table: "ledger", number: 1 };

/** What of an order is said about what, and one sentence of it. */
const cases: readonly [string, Partial<Transaction>, readonly string[], RegExp][] = [
  ["success", { status: "success" }, ["happened", "customer", "avoid", "upstream"], /was delivered\. Dial \*323#/],
  ["success", { status: "success", type: "airtime" }, ["happened", "customer", "avoid", "upstream"], /\*310#/],
  [
    "success",
    { status: "success", resolved_by: "operator" },
    ["happened", "customer", "avoid", "upstream"],
    /^An operator resolved it as delivered/,
  ],
  ["failed", { status: "failed" }, ["happened", "customer", "upstream"], /amount is back in the wallet/],
  ["failed", { status: "failed", debit: "void" }, ["happened", "customer"], /the wallet was not debited/],
  [
    "failed",
    { status: "failed", failure: { code: "validation_failed", fields: ["phone_number"] } },
    ["happened", "customer", "upstream"],
    /Please check phone number, and try again\. Reference order-1\.$/,
  ],
  ["queued", { queued }, ["happened", "wait", "customer", "avoid", "resolve"], /not sent yet/],
  [
    "set_aside",
    { queued: { order, table: "ledger", refusals: 1 } },
    ["happened", "wait", "customer", "avoid", "resolve"],
    /refused this order for now/,
  ],
  [
    "claimed",
    { claim: "1" },
    ["happened", "unknown", "wait", "customer", "avoid", "upstream", "resolve"],
    /its turn came/,
  ],
  [
    "sent",
    { upstream_reference: "UP-1" },
    ["happened", "unknown", "wait", "customer", "avoid", "upstream", "resolve"],
    /Ask how UP-1 \(08031234567, NGN 500\.00, 2026-11-21 09:30:00 UTC\) ended/,
  ],
  ["sent", { type: "nin_verification" }, ["happened", "wait", "avoid"], /refunded by itself/],
  [
    "failed",
    { type: "nin_verification", status: "failed", failure: { code: "record_not_found" } },
    ["happened"],
    /^No record was found\./,
  ],
  ["sent", { mode: "test" }, ["happened"], /A test order/],
];

test.each(cases)("an order that is %s, %j, is described", (state, changes, about, sentence) => {
  const transaction = aTransaction(changes);
  expect(stateOf(transaction)).toBe(state);
  const advice = adviceOn(transaction, toOperator);
  expect(advice.map((each) => each.about)).toEqual(about);
  expect(advice.map(({ text }) => text).find((text) => sentence.test(text))).toBeDefined();
});

test("an order that an operator refunded is not said to be delivered, paid or to be refunded", () => {
  for (const type of ["data", "nin_verification"] as const) {
    const advice = adviceOn(aTransaction({ type, status: "success" }), { ...toOperator, isRefunded: true });
    expect(advice[0]?.text).toMatch(/an operator refunded it\. The amount is back/);
    expect(advice.some(({ text }) => /was delivered|paid|refunds it/.test(text))).toBe(false);
  }
});

test.each(["success", "failed"] as const)(
  "of an order that is %s, and that an event contradicts, neither delivery nor refund is promised, and nobody is to try again",
  (status) => {
    const advice = adviceOn(aTransaction({ status }), { ...toOperator, isContradicted: true });
    expect(advice.map(({ about }) => about)).toEqual(["happened", "unknown", "customer", "avoid", "upstream"]);
    expect(advice[0]?.text).toMatch(/delivered\..* The upstream has reported the opposite since\.$/);
    expect(advice.find(({ about }) => about === "customer")?.text).toMatch(
      / is being looked into\. Reference order-1\.$/,
    );
    expect(advice.some(({ text }) => /try again|costs nothing/i.test(text))).toBe(false);
  },
);

test("of an order that is open again in a restored ledger an event contradicts nothing", () => {
  const order = aTransaction();
  expect(adviceOn(order, { ...toOperator, isContradicted: true })).toEqual(adviceOn(order, toOperator));
});

test("an order that had failed and whose amount was taken again is said to be delivered", () => {
  const advice = adviceOn(aTransaction({ status: "failed" }), {
    ...toOperator,
    isPaidAgain: true,
    isContradicted: true,
  });
  expect(advice[0]?.text).toMatch(/an adjustment has taken its amount again\.$/);
  expect(advice.some(({ text }) => /was delivered\. Dial/.test(text))).toBe(true);
  expect(advice.some(({ text }) => /try again|costs nothing|back in the wallet/i.test(text))).toBe(false);
});

test("every state that a transition leads to is described", () => {
  const states = new Set(Object.values(transitions).map(({ to }) => to));
  expect(new Set(cases.map(([state]) => state))).toEqual(states);
});

test("no cause of an end leaves a sentence without its words", () => {
  for (const type of ["data", "nin_verification"] as const) {
    for (const code of errorCodes) {
      const texts = adviceOn(aTransaction({ type, status: "failed", failure: { code } }), toOperator).map(
        ({ text }) => text,
      );
      expect(texts.length).toBeGreaterThan(0);
      for (const text of texts) expect(text).not.toMatch(/[{}]| {2}|undefined/);
    }
  }
});

test("an order that may have been delivered is never said to be safe to place again, and an owner reads nothing of the upstream", () => {
  const advice = adviceOn(aTransaction(), { ...toOperator, isForOwner: true });
  expect(advice.map(({ about }) => about)).toEqual(["happened", "unknown", "wait", "customer", "avoid"]);
  expect(advice.some(({ text }) => /try again/i.test(text))).toBe(false);
  expect(advice.find(({ about }) => about === "avoid")?.text).toMatch(/Do not place it again under another reference/);
});

test("after the time until which to wait, a purchase that was sent needs a person, and one that waits is not said to be sent", () => {
  const waitFor = (changes: Partial<Transaction>): string | undefined =>
    adviceOn(aTransaction(changes), { ...toOperator, isOverdue: true }).find(({ about }) => about === "wait")?.text;
  expect(waitFor({})).toMatch(/^That time is over: an operator has to/);
  expect(waitFor({ queued })).toMatch(/^That time is over: the next run refunds it/);
  expect(waitFor({ type: "nin_verification" })).toMatch(/refunded by itself/);
});

test("an order without an upstream's reference is named by our own", () => {
  const upstream = adviceOn(aTransaction(), toOperator).find(({ about }) => about === "upstream");
  expect(upstream?.text).toContain("our reference DATA_0123456789ABCDEFGHJKMNPQRS");
});

test("an order that the upstream got without our reference is named by what the upstream knows of it, as of its sending", () => {
  const changes = { type: "airtime", sent_at: "2026-11-21T09:42:00.000Z" } as const;
  const upstreamText = (more: Partial<Transaction>) =>
    adviceOn(aTransaction({ ...changes, ...more }), { ...toOperator, carriesOurs: false }).find(
      ({ about }) => about === "upstream",
    )?.text;
  const facts = "(08031234567, NGN 500.00, 2026-11-21 09:42:00 UTC)";
  expect(upstreamText({})).toBe(`Ask how the order without our reference ${facts} ended.`);
  expect(upstreamText({ upstream_reference: "UP-1" })).toBe(`Ask how UP-1 ${facts} ended.`);
});

test("an order that waits, or did so for too long, is said to wait for its account or purchases too, not for the upstream alone", () => {
  const happened = (changes: Partial<Transaction>): string | undefined =>
    adviceOn(aTransaction(changes), toOperator).find(({ about }) => about === "happened")?.text;
  expect(happened({ queued })).toMatch(/no more orders now, the account is restricted, or purchases are off\.$/);
  expect(happened({ status: "failed", failure: { code: "provider_unavailable" } })).toMatch(/^It waited for too long,/);
});

test("an order that was refunded because the service got another upstream is not said to have waited for too long", () => {
  const failed = aTransaction({
    status: "failed",
    failure: { code: "provider_unavailable", cause: "upstream_changed" },
  });
  expect(adviceOn(failed, toOperator)).toContainEqual({
    about: "happened",
    text: "It was never sent: the service got another upstream while it waited. The amount is back in the wallet.",
  });
  expect(adviceOn({ ...failed, resolved_by: "operator" }, toOperator)).toContainEqual({
    about: "happened",
    text: "An operator resolved it as failed. The amount is back in the wallet.",
  });
});
