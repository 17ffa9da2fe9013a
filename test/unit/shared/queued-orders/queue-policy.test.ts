import { expect, test } from "vitest";
import type { Mode } from "../../../../shared/contract/transaction.ts";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import {
  attentionAgeS,
  orderToSendOf,
  queuePolicy,
  upstreamOrderOf,
} from "../../../../shared/queued-orders/queue-policy.ts";
import { NO_ORDERS_QUEUED } from "../../../../shared/queued-orders/upstream-pace.ts";
import type { UpstreamOrder } from "../../../../shared/upstream/upstream.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const phoneNumber = "08031234567";
const amountKobo = koboFromNaira(500);

test.each<UpstreamOrder>([
  { kind: "data", networkId: 1, planId: 101, phoneNumber },
  { kind: "airtime", network: "mtn", amountKobo, phoneNumber },
])("the order %j is sent later as it was ordered", (order) => {
  const queued = {
    order: orderToSendOf(order, { baseUrl: "https://upstream.example.com/v1" }),
    table: "ledger",
    number: 1,
  };
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

test.each<[string, Mode, { queueMinutes?: number; limitS?: number; queueUntilMs?: number }]>([
  ["never", "test", { limitS: 5 }],
  ["never", "live", { queueMinutes: 0, limitS: 5 }],
  ["behind_others", "live", {}],
  ["behind_others", "live", { queueUntilMs: NOON_MS }],
  ["always", "live", { queueUntilMs: NOON_MS + 1 }],
  ["always", "live", { limitS: 5 }],
])("an order is queued %s in %s mode with %j", (policy, mode, { queueMinutes = 60, limitS = 0, queueUntilMs = 0 }) => {
  const pace = { ...NO_ORDERS_QUEUED, queue_until: isoTime(queueUntilMs) };
  const deps = { ledger: { clock: () => NOON_MS }, gate: { pace: () => pace }, queueMinutes };
  expect(queuePolicy(deps, { waitS: () => limitS }, mode)).toBe(policy);
});
