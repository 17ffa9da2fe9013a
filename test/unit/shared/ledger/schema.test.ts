import { describe, expect, test } from "vitest";
import {
  ACCOUNTS_LIST,
  accountEventDeliveryPk,
  accountIdOf,
  accountPeriodsList,
  accountPk,
  adjustmentPk,
  attestationsPk,
  auditKeyPattern,
  auditLogOf,
  casesList,
  checkpointPk,
  consentPk,
  deliveriesList,
  deliveryPk,
  EVENTS_LIST,
  endpointHealthPk,
  endpointKeyOf,
  endpointOf,
  endpointOfDelivery,
  entriesList,
  entriesPk,
  eventHashOf,
  eventPk,
  floatPaymentPk,
  fundingPk,
  isAccountPk,
  isEntryPk,
  isRefundPk,
  isStatementCasePk,
  isStatementPk,
  isTransactionPk,
  itemKindOf,
  keyOfUsage,
  keyUsagePk,
  notifiedPk,
  openList,
  openLists,
  orderDayPk,
  orderSumsPk,
  ownerPk,
  parkedDeliveries,
  parkedEndpointPk,
  periodLinesPk,
  periodPk,
  periodReplacementPk,
  personIdOf,
  personPk,
  phoneRetentionPk,
  placeOf,
  priceListPk,
  proposalPk,
  queuedOrders,
  recipientPk,
  refundPk,
  refundsList,
  sequenceKey,
  statementCasePk,
  statementPk,
  statementRowsPk,
  subscriptionPk,
  subscriptionsTo,
  transactionIdOf,
  transactionList,
  transactionPk,
  transactionPkOfConsent,
  transactionPkOfRefund,
  upstreamReferencePk,
  walletPk,
} from "../../../../shared/ledger/schema.ts";

/** Goal: keys and lists are those of the items that are stored already. */
const ID = "0123456789ABCDEFGHJKMNPQRS";
const transaction = transactionPk(ID);
const event = { endpoint: "2", transaction_pk: transaction };
const onRequest = { endpoint: "2", webhook_id: "evt_1" };
const endpoint = { accountId: "acc_1", endpoint: "2" };

test.each([
  ["an account", () => accountPk("acc_1"), "account#acc_1", "account"],
  ["a wallet", () => walletPk("acc_1"), "wallet#acc_1", "wallet"],
  ["a transaction", () => transactionPk(ID), `transaction#${ID}`, "transaction"],
  ["an upstream reference", () => upstreamReferencePk("UP-1"), "upstream-reference#UP-1", "upstream-reference"],
  ["a funding", () => fundingPk("Bank-1"), "funding#BANK-1", "funding"],
  ["an adjustment", () => adjustmentPk("acc_1", "Case-1"), "adjustment#acc_1#Case-1", "adjustment"],
  ["a closed month of the service", () => periodPk("2026-10"), "period#2026-10", "period"],
  ["a closed month of an account", () => periodPk("2026-10", "acc_1"), "period#2026-10#acc_1", "period"],
  [
    "the lines of one",
    () => periodLinesPk("2026-10", "acc_1", 5_000),
    "period-lines#2026-10#acc_1#5000",
    "period-lines",
  ],
  ["the replacement of one", () => periodReplacementPk("2026-10"), "period-replacement#2026-10", "period-replacement"],
  ["a checkpoint", () => checkpointPk("acc_1"), "checkpoint#acc_1", "checkpoint"],
  ["a consent", () => consentPk({ pk: transaction }), `consent#transaction#${ID}`, "consent"],
  ["an event", () => eventPk("hash"), "event#hash", "event"],
  ["a delivery", () => deliveryPk({ ...event, status: "success" }), `delivery#2#${ID}#success`, "delivery"],
  [
    "a repeated delivery",
    () => deliveryPk({ ...event, status: "failed", repeat: "r" }),
    `delivery#2#${ID}#failed#r`,
    "delivery",
  ],
  ["an endpoint's parked deliveries", () => parkedEndpointPk(endpoint), "parked#acc_1#2", "parked"],
  ["an endpoint's health", () => endpointHealthPk(endpoint), "endpoint-health#acc_1#2", "endpoint-health"],
  ["a delivery of an event on request", () => accountEventDeliveryPk(onRequest), "delivery#2#evt_1", "delivery"],
  ["a repeated one", () => accountEventDeliveryPk({ ...onRequest, repeat: "r" }), "delivery#2#evt_1#r", "delivery"],
  ["an owner", () => ownerPk("a-hash"), "owner#a-hash", "owner"],
  ["a person", () => personPk("a-hash"), "person#a-hash", "person"],
  ["a subscription", () => subscriptionPk("wallet.low", endpoint), "subscription#wallet.low#acc_1#2", "subscription"],
  [
    "the masking of phone numbers",
    () => phoneRetentionPk("acc_1#live"),
    "phone-retention#acc_1#live",
    "phone-retention",
  ],
  ["a refund", () => refundPk({ pk: transaction }), `refund#${ID}`, "refund"],
  ["a key's counters", () => keyUsagePk("key_1"), "key-usage#key_1", "key-usage"],
  ["an account's price rules", () => priceListPk("acc_1"), "price-list#acc_1", "price-list"],
  ["a recipient", () => recipientPk("a-hash"), "recipient#a-hash", "recipient"],
  ["what a person was notified of", () => notifiedPk("a-hash"), "notified#a-hash", "notified"],
  ["an account's costs", () => orderSumsPk("acc_1"), "order-sums#acc_1", "order-sums"],
  ["a day's costs", () => orderDayPk("acc_1", "2026-11-26"), "order-day#acc_1#2026-11-26", "order-day"],
  ["a payment to the upstream", () => floatPaymentPk("Bank-1"), "float-payment#BANK-1", "float-payment"],
  ["an upstream's statement", () => statementPk("2026-11-26"), "statement#2026-11-26", "statement"],
  [
    "rows of a file of one",
    () => statementRowsPk({ day: "2026-11-26", file: "f", chunk: 2 }),
    "statement-rows#2026-11-26#f#2",
    "statement-rows",
  ],
  ["a case of one", () => statementCasePk("2026-11-26", "c"), "statement-case#2026-11-26#c", "statement-case"],
  ["a proposal", () => proposalPk("prop_1"), "proposal#prop_1", "proposal"],
])("the key of %s begins with its kind", (_item, makePk, stored, kind) => {
  const pk = makePk();
  expect(pk).toBe(stored);
  expect(itemKindOf(pk)).toBe(kind);
  const kinds = { account: isAccountPk, transaction: isTransactionPk, refund: isRefundPk };
  const statements = { statement: isStatementPk, "statement-case": isStatementCasePk };
  for (const [name, isOfKind] of Object.entries({ ...kinds, ...statements })) {
    expect(isOfKind(pk), name).toBe(kind === name);
  }
});

test.each(["lock#1", "transactions#1", "transaction", "", "toString#1"])("the key %j is of no kind", (pk) => {
  expect(itemKindOf(pk)).toBeUndefined();
});

test("an id is read back from the key that was made of it", () => {
  expect(accountIdOf(accountPk("acc_1"))).toBe("acc_1");
  expect(endpointKeyOf(subscriptionPk("wallet.low", endpoint))).toEqual(endpoint);
  expect(endpointKeyOf(parkedEndpointPk(endpoint))).toEqual(endpoint);
  expect(endpointOfDelivery(deliveryPk({ ...event, status: "success" }))).toBe("2");
  expect(endpointOfDelivery(accountEventDeliveryPk(onRequest))).toBe("2");
  expect(transactionIdOf({ pk: transaction })).toBe(ID);
  expect(eventHashOf({ pk: eventPk("a-hash") })).toBe("a-hash");
  expect(keyOfUsage(keyUsagePk("key_1"))).toBe("key_1");
  expect(personIdOf({ pk: recipientPk("a-hash") })).toBe("a-hash");
  expect(transactionPkOfRefund({ pk: refundPk({ pk: transaction }) })).toBe(transaction);
  expect(transactionPkOfConsent({ pk: consentPk({ pk: transaction }) })).toBe(transaction);
  expect(endpointOf({ account_id: "acc_1", endpoint: "2" })).toEqual(endpoint);
});

describe("the list key", () => {
  test("the list of a live transaction is not that of a test transaction of the same account", () => {
    expect(transactionList("acc_1", "live")).toBe("acc_1#live");
    expect(transactionList("acc_1", "test")).toBe("acc_1#test");
  });

  test("the list of every other kind of item is its own", () => {
    const lists = [entriesList("acc_1"), deliveriesList("acc_1"), ACCOUNTS_LIST, EVENTS_LIST];
    expect(lists).toEqual(["acc_1#entries", "acc_1#deliveries", "accounts", "events"]);
    expect([refundsList("acc_1"), accountPeriodsList("acc_1"), casesList("2026-11-26")]).toEqual([
      ...["acc_1#refunds", "acc_1#periods", "statement-case#2026-11-26"],
    ]);
  });

  test("an open order is in one of 32 lists by the second character of its id, and what waits is in its own", () => {
    expect(openList({ pk: transaction })).toBe("live#1");
    expect(openLists).toHaveLength(32);
    expect(openLists).toContain("live#1");
    expect([queuedOrders("acc_1"), parkedDeliveries(endpoint), subscriptionsTo("wallet.low")]).toEqual([
      ...["queued#acc_1", "parked#acc_1#2", "subscription#wallet.low"],
    ]);
  });
});

test("the items of the audit table are those of a log and kind, sorted by their place", () => {
  expect([entriesPk("acc_1"), attestationsPk("acc_1")]).toEqual(["entry#acc_1", "attestation#acc_1"]);
  expect([entriesPk("acc_1"), attestationsPk("acc_1")].map(isEntryPk)).toEqual([true, false]);
  expect([auditKeyPattern("entry"), auditKeyPattern("attestation")]).toEqual(["entry#*", "attestation#*"]);
  expect(auditLogOf(attestationsPk("acc_1"))).toBe("acc_1");
  expect([1, 10, 2_000_000_000].map(sequenceKey)).toEqual(["0000000001", "0000000010", "2000000000"]);
  expect(["0000000001", "2000000000"].map(placeOf)).toEqual([1, 2_000_000_000]);
  expect(["0000000000", "000000001", "00000000010", "000000001x", "x0000000001"].map(placeOf)).toEqual([
    ...[undefined, undefined, undefined, undefined, undefined],
  ]);
});
