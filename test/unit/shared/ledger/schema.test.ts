import { describe, expect, test } from "vitest";
import * as schema from "../../../../shared/ledger/schema.ts";

/** Goal: keys and lists are those of the items that are stored already. */
const ID = "0123456789ABCDEFGHJKMNPQRS";
const transaction = schema.transactionPk(ID);
const event = { endpoint: "2", transaction_pk: transaction };
const onRequest = { endpoint: "2", webhook_id: "evt_1" };
const endpoint = { accountId: "acc_1", endpoint: "2" };

test.each([
  ["an account", () => schema.accountPk("acc_1"), "account#acc_1", "account"],
  ["a wallet", () => schema.walletPk("acc_1"), "wallet#acc_1", "wallet"],
  ["a transaction", () => schema.transactionPk(ID), `transaction#${ID}`, "transaction"],
  ["an upstream reference", () => schema.upstreamReferencePk("UP-1"), "upstream-reference#UP-1", "upstream-reference"],
  ["a funding", () => schema.fundingPk("Bank-1"), "funding#BANK-1", "funding"],
  ["an adjustment", () => schema.adjustmentPk("acc_1", "Case-1"), "adjustment#acc_1#Case-1", "adjustment"],
  ["a closed month of the service", () => schema.periodPk("2026-10"), "period#2026-10", "period"],
  ["a closed month of an account", () => schema.periodPk("2026-10", "acc_1"), "period#2026-10#acc_1", "period"],
  [
    "the lines of one",
    () => schema.periodLinesPk("2026-10", "acc_1", 5_000),
    "period-lines#2026-10#acc_1#5000",
    "period-lines",
  ],
  [
    "the replacement of one",
    () => schema.periodReplacementPk("2026-10"),
    "period-replacement#2026-10",
    "period-replacement",
  ],
  ["a checkpoint", () => schema.checkpointPk("acc_1"), "checkpoint#acc_1", "checkpoint"],
  ["a consent", () => schema.consentPk({ pk: transaction }), `consent#transaction#${ID}`, "consent"],
  ["an event", () => schema.eventPk("hash"), "event#hash", "event"],
  ["a delivery", () => schema.deliveryPk({ ...event, status: "success" }), `delivery#2#${ID}#success`, "delivery"],
  [
    "a repeated delivery",
    () => schema.deliveryPk({ ...event, status: "failed", repeat: "r" }),
    `delivery#2#${ID}#failed#r`,
    "delivery",
  ],
  ["an endpoint's parked deliveries", () => schema.parkedEndpointPk(endpoint), "parked#acc_1#2", "parked"],
  ["an endpoint's health", () => schema.endpointHealthPk(endpoint), "endpoint-health#acc_1#2", "endpoint-health"],
  ["a delivery of an event on request", () => schema.accountEventDeliveryPk(onRequest), "delivery#2#evt_1", "delivery"],
  [
    "a repeated one",
    () => schema.accountEventDeliveryPk({ ...onRequest, repeat: "r" }),
    "delivery#2#evt_1#r",
    "delivery",
  ],
  ["an owner", () => schema.ownerPk("a-hash"), "owner#a-hash", "owner"],
  ["a person", () => schema.personPk("a-hash"), "person#a-hash", "person"],
  [
    "a subscription",
    () => schema.subscriptionPk("wallet.low", endpoint),
    "subscription#wallet.low#acc_1#2",
    "subscription",
  ],
  [
    "the masking of phone numbers",
    () => schema.phoneRetentionPk("acc_1#live"),
    "phone-retention#acc_1#live",
    "phone-retention",
  ],
  ["a refund", () => schema.refundPk({ pk: transaction }), `refund#${ID}`, "refund"],
  ["a key's counters", () => schema.keyUsagePk("key_1"), "key-usage#key_1", "key-usage"],
  ["an account's price rules", () => schema.priceListPk("acc_1"), "price-list#acc_1", "price-list"],
  ["a recipient", () => schema.recipientPk("a-hash"), "recipient#a-hash", "recipient"],
  ["what a person was notified of", () => schema.notifiedPk("a-hash"), "notified#a-hash", "notified"],
  ["an account's costs", () => schema.orderSumsPk("acc_1"), "order-sums#acc_1", "order-sums"],
  ["a day's costs", () => schema.orderDayPk("acc_1", "2026-11-26"), "order-day#acc_1#2026-11-26", "order-day"],
  ["a payment to the upstream", () => schema.floatPaymentPk("Bank-1"), "float-payment#BANK-1", "float-payment"],
  ["an upstream's statement", () => schema.statementPk("2026-11-26"), "statement#2026-11-26", "statement"],
  [
    "rows of a file of one",
    () => schema.statementRowsPk({ day: "2026-11-26", file: "f", chunk: 2 }),
    "statement-rows#2026-11-26#f#2",
    "statement-rows",
  ],
  ["a case of one", () => schema.statementCasePk("2026-11-26", "c"), "statement-case#2026-11-26#c", "statement-case"],
  ["a proposal", () => schema.proposalPk("prop_1"), "proposal#prop_1", "proposal"],
])("the key of %s begins with its kind", (_item, makePk, stored, kind) => {
  const pk = makePk();
  expect(pk).toBe(stored);
  expect(schema.itemKindOf(pk)).toBe(kind);
  const kinds = { account: schema.isAccountPk, transaction: schema.isTransactionPk, refund: schema.isRefundPk };
  const statements = { statement: schema.isStatementPk, "statement-case": schema.isStatementCasePk };
  for (const [name, isOfKind] of Object.entries({ ...kinds, ...statements })) {
    expect(isOfKind(pk), name).toBe(kind === name);
  }
});

test.each(["lock#1", "transactions#1", "transaction", "", "toString#1"])("the key %j is of no kind", (pk) => {
  expect(schema.itemKindOf(pk)).toBeUndefined();
});

test("an id is read back from the key that was made of it", () => {
  expect(schema.accountIdOf(schema.accountPk("acc_1"))).toBe("acc_1");
  expect(schema.endpointKeyOf(schema.subscriptionPk("wallet.low", endpoint))).toEqual(endpoint);
  expect(schema.endpointKeyOf(schema.parkedEndpointPk(endpoint))).toEqual(endpoint);
  expect(schema.endpointOfDelivery(schema.deliveryPk({ ...event, status: "success" }))).toBe("2");
  expect(schema.endpointOfDelivery(schema.accountEventDeliveryPk(onRequest))).toBe("2");
  expect(schema.transactionIdOf({ pk: transaction })).toBe(ID);
  expect(schema.eventHashOf({ pk: schema.eventPk("a-hash") })).toBe("a-hash");
  expect(schema.keyOfUsage(schema.keyUsagePk("key_1"))).toBe("key_1");
  expect(schema.personIdOf({ pk: schema.recipientPk("a-hash") })).toBe("a-hash");
  expect(schema.transactionPkOfRefund({ pk: schema.refundPk({ pk: transaction }) })).toBe(transaction);
  expect(schema.transactionPkOfConsent({ pk: schema.consentPk({ pk: transaction }) })).toBe(transaction);
  expect(schema.endpointOf({ account_id: "acc_1", endpoint: "2" })).toEqual(endpoint);
});

describe("the list key", () => {
  test("the list of a live transaction is not that of a test transaction of the same account", () => {
    expect(schema.transactionList("acc_1", "live")).toBe("acc_1#live");
    expect(schema.transactionList("acc_1", "test")).toBe("acc_1#test");
  });

  test("the list of every other kind of item is its own", () => {
    const lists = [
      schema.entriesList("acc_1"),
      schema.deliveriesList("acc_1"),
      schema.ACCOUNTS_LIST,
      schema.EVENTS_LIST,
    ];
    expect(lists).toEqual(["acc_1#entries", "acc_1#deliveries", "accounts", "events"]);
    expect([schema.refundsList("acc_1"), schema.accountPeriodsList("acc_1"), schema.casesList("2026-11-26")]).toEqual([
      ...["acc_1#refunds", "acc_1#periods", "statement-case#2026-11-26"],
    ]);
  });

  test("an open order is in one of 32 lists by the second character of its id, and what waits is in its own", () => {
    expect(schema.openList({ pk: transaction })).toBe("live#1");
    expect(schema.openLists).toHaveLength(32);
    expect(schema.openLists).toContain("live#1");
    expect([
      schema.queuedOrders("acc_1"),
      schema.parkedDeliveries(endpoint),
      schema.subscriptionsTo("wallet.low"),
    ]).toEqual([...["queued#acc_1", "parked#acc_1#2", "subscription#wallet.low"]]);
  });
});

test("the items of the audit table are those of a log and kind, sorted by their place", () => {
  expect([schema.entriesPk("acc_1"), schema.attestationsPk("acc_1")]).toEqual(["entry#acc_1", "attestation#acc_1"]);
  expect([schema.entriesPk("acc_1"), schema.attestationsPk("acc_1")].map(schema.isEntryPk)).toEqual([true, false]);
  expect([schema.auditKeyPattern("entry"), schema.auditKeyPattern("attestation")]).toEqual([
    "entry#*",
    "attestation#*",
  ]);
  expect(schema.auditLogOf(schema.attestationsPk("acc_1"))).toBe("acc_1");
  expect([1, 10, 2_000_000_000].map(schema.sequenceKey)).toEqual(["0000000001", "0000000010", "2000000000"]);
  expect(["0000000001", "2000000000"].map(schema.placeOf)).toEqual([1, 2_000_000_000]);
  expect(["0000000000", "000000001", "00000000010", "000000001x", "x0000000001"].map(schema.placeOf)).toEqual([
    ...[undefined, undefined, undefined, undefined, undefined],
  ]);
});
