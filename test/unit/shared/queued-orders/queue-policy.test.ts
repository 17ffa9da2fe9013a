import { expect, test } from "vitest";
import { koboFromNaira } from "../../../../shared/contract/money.ts";
import { attentionAgeS, orderToSendOf, upstreamOrderOf } from "../../../../shared/queued-orders/queue-policy.ts";
import type { UpstreamOrder } from "../../../../shared/upstream/upstream.ts";
import { aTransaction } from "../../../builders/transaction.ts";

const phoneNumber = "08031234567";
const amountKobo = koboFromNaira(500);

test.each<UpstreamOrder>([
  { kind: "data", networkId: 1, planId: 101, phoneNumber },
  { kind: "airtime", network: "mtn", amountKobo, phoneNumber },
])("the order %j is sent later as it was ordered", (order) => {
  const queued = { order: orderToSendOf(order), table: "ledger", number: 1 };
  const transaction = { ...aTransaction({ phone_number: phoneNumber, amount_kobo: amountKobo }), queued };
  expect(upstreamOrderOf(transaction)).toEqual(order);
});

test("airtime that costs another amount is sent with its face value, and an order without a phone number is not sent", () => {
  const queued = { order: { kind: "airtime", network: "mtn" }, table: "ledger", number: 1 } as const;
  const discounted = aTransaction({ amount_kobo: koboFromNaira(490), face_kobo: amountKobo });
  expect(upstreamOrderOf({ ...discounted, queued })).toMatchObject({ amountKobo });
  expect(() => upstreamOrderOf({ ...discounted, phone_number: undefined, queued })).toThrow("no phone number");
});

test.each([
  [60, 1_800],
  [10, 300],
  [1, 300],
])("of %i minutes that an order may wait, it needs attention after %i seconds", (queueMinutes, ageS) => {
  expect(attentionAgeS(queueMinutes)).toBe(ageS);
});
