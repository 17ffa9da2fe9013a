import { expect, test } from "vitest";
import type { ReceivedWebhook } from "../../../../../tools/acceptance/simulator/table.ts";
import { assertReceived } from "../../../../../tools/acceptance/steps/webhooks.ts";

/** Goal: the step passes only with the webhooks of its own orders, signed, and the refused one again. */

const webhook = (reference: string, status: string, changes: Partial<ReceivedWebhook> = {}): ReceivedWebhook => ({
  ...{ webhook_id: `evt_${reference}`, reference, status, fault: "", at_ms: 0 },
  ...changes,
});
const first = webhook("AIRTIME_1", "success");
const second = webhook("AIRTIME_2", "failed");
const orders = [
  { reference: "AIRTIME_1", status: "success", count: 2 },
  { reference: "AIRTIME_2", status: "failed", count: 1 },
];

test.each([
  ["each as often as it must", [first, first, second]],
  ["one more often, because an attempt was repeated", [first, first, second, second]],
])("webhooks that came %s are right", (_, received) => {
  expect(() => assertReceived(received, orders)).not.toThrow();
});

test.each<readonly [string, readonly ReceivedWebhook[]]>([
  ["the webhook of AIRTIME_1 came 1 times instead of 2", [first, second]],
  ["the webhook of AIRTIME_2 came 0 times instead of 1", [first, first]],
  ["its receiver refuses it: No signature matches", [first, { ...first, fault: "No signature matches" }, second]],
  ["the webhook of AIRTIME_2 says success instead of failed", [first, first, { ...second, status: "success" }]],
  ["a webhook came of AIRTIME_3, which is no order", [first, first, second, webhook("AIRTIME_3", "success")]],
  ["the webhooks of 2 orders have 3 ids", [first, { ...first, webhook_id: "evt_other" }, second]],
])("the step fails: %s", (sentence, received) => {
  expect(() => assertReceived(received, orders)).toThrow(sentence);
});
