import { describe, expect, test } from "vitest";
import { queues } from "../../../../infra/queues.ts";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { type Delivery, newDelivery } from "../../../../shared/webhooks/delivery.ts";
import type { EndpointState } from "../../../../shared/webhooks/endpoint-health.ts";
import {
  chooseDeliveries,
  nextRequeue,
  REQUEUE_AGAIN_MS,
  type Selection,
  selectionOf,
} from "../../../../shared/webhooks/requeue-deliveries.ts";
import { anEndpoint } from "../../../builders/webhooks/endpoint.ts";

const NOW = Date.parse("2026-11-22T09:30:00.000Z");
const inMinutes = (minutes: number): string => isoTime(NOW + minutes * MINUTE_MS);

const probe: Selection = { kind: "probe", failingSinceMs: NOW - 60 * MINUTE_MS };
const due: Selection = { kind: "due" };
const all: Selection = { kind: "all" };

/** A parked delivery with this many failed attempts, whose next one may be made this many minutes from now. */
const parked = (transaction: string, attempts = 0, nextInMinutes?: number): Delivery => ({
  ...newDelivery(
    { event: "transaction.updated", transaction_pk: transaction, status: "success", endpoint: "1" },
    { accountId: "acc_1", webhookId: `evt_${transaction}` },
    NOW,
  ),
  attempts: Array.from({ length: attempts }, (_, index) => ({
    ...{ number: index + 1, at: inMinutes(-60), outcome: "status", http_status: 500, duration_ms: 1 },
  })),
  ...(nextInMinutes !== undefined && { next_attempt_at: inMinutes(nextInMinutes) }),
  open: "parked#acc_1#1",
});
const transactionsOf = (deliveries: readonly Delivery[]) =>
  deliveries.map((delivery) => (delivery.event === "transaction.updated" ? delivery.transaction_pk : ""));

describe("the selection", () => {
  const failing = { since: inMinutes(-60), events: ["a", "b", "c"] };
  const endpoint = (changes: Partial<EndpointState>): EndpointState => ({ ...anEndpoint(), ...changes });

  test.each<[string, EndpointState | undefined, Selection]>([
    ["an endpoint that was removed", undefined, all],
    ["an endpoint that is off, although it was down", endpoint({ failing, status: "off" }), all],
    ["a healthy endpoint", endpoint({}), due],
    ["an endpoint at which two events fail", endpoint({ failing: { ...failing, events: ["a", "b"] } }), due],
    ["an endpoint that is down", endpoint({ failing }), probe],
  ])("the selection for %s is the right one", (_title, webhook, expected) => {
    expect(selectionOf(webhook)).toEqual(expected);
  });

  test("everything due is selected for an endpoint that works, also what was never attempted", () => {
    const deliveries = [parked("never"), parked("due", 4, 0), parked("later", 4, 1)];
    expect(transactionsOf(chooseDeliveries(due, deliveries, NOW))).toEqual(["never", "due"]);
  });

  test("everything is selected for an endpoint that is off, so that it becomes switched_off", () => {
    expect(transactionsOf(chooseDeliveries(all, [parked("never"), parked("later", 4, 60)], NOW))).toEqual([
      ...["never", "later"],
    ]);
  });

  test("the probe is the oldest due delivery with the fewest attempts", () => {
    const deliveries = [
      parked("failed", 2, -1),
      parked("not due", 0, 5),
      parked("first", 1, -1),
      parked("second", 1, -1),
    ];
    expect(transactionsOf(chooseDeliveries(probe, deliveries, NOW))).toEqual(["first"]);
    expect(transactionsOf(chooseDeliveries(probe, [...deliveries, parked("new")], NOW))).toEqual(["new"]);
    expect(chooseDeliveries(probe, [parked("later", 4, 60)], NOW)).toEqual([]);
  });
});

describe("the next requeue", () => {
  const keys = [{ pk: "delivery#1#success", listed_at: inMinutes(-60) }];
  const [key] = keys;
  const seen = { keys, next: undefined, waiting: [], sent: 0 };

  test("the next requeue for an endpoint that is down is after the probe interval, from the oldest delivery on", () => {
    expect(nextRequeue(probe, {}, { ...seen, next: key, sent: 1 }, NOW)).toEqual({
      listed_at: inMinutes(5),
    });
  });

  test("a requeue continues in the next run if the list did not end, and keeps when the first part is due", () => {
    const page = {
      ...seen,
      next: key,
      waiting: [{ next_attempt_at: inMinutes(3) }, { next_attempt_at: inMinutes(9) }],
    };
    expect(nextRequeue(due, {}, page, NOW)).toEqual({
      listed_at: inMinutes(0),
      after: key,
      rest_due_at: inMinutes(3),
    });
    const last = { ...seen, waiting: [{ next_attempt_at: inMinutes(5) }] };
    expect(nextRequeue(due, { rest_due_at: inMinutes(3) }, last, NOW)).toEqual({
      listed_at: inMinutes(3),
    });
  });

  test("the next requeue is when the first waiting delivery is due, or when what was sent is sent again", () => {
    const waiting = [{ next_attempt_at: inMinutes(120) }, { next_attempt_at: inMinutes(30) }];
    expect(nextRequeue(due, {}, { ...seen, waiting }, NOW)).toEqual({ listed_at: inMinutes(30) });
    expect(nextRequeue(due, {}, { ...seen, waiting, sent: 1 }, NOW)).toEqual({ listed_at: inMinutes(30) });
    const late = [{ next_attempt_at: inMinutes(600) }];
    expect(nextRequeue(due, {}, { ...seen, waiting: late, sent: 1 }, NOW)).toEqual({ listed_at: inMinutes(420) });
    expect(nextRequeue(all, {}, { ...seen, sent: 1 }, NOW)).toEqual({ listed_at: inMinutes(420) });
  });

  test("a message that keeps failing is a dead letter before its delivery is sent again", () => {
    const { receivesMax, visibilityTimeoutS } = queues.delivery;
    expect(REQUEUE_AGAIN_MS).toBeGreaterThan(receivesMax * visibilityTimeoutS * 1_000);
  });

  test("an empty list is read again after 15 minutes, because the index lags, and then daily", () => {
    const nothing = { ...seen, keys: [] };
    for (const selection of [probe, due, all]) {
      expect(nextRequeue(selection, {}, nothing, NOW)).toEqual({ listed_at: inMinutes(15), was_empty: true });
      expect(nextRequeue(selection, { was_empty: true }, nothing, NOW)).toEqual({
        listed_at: inMinutes(24 * 60),
        was_empty: true,
      });
    }
  });

  test("an index that shows only deliveries that are not parked any more counts as a list that is soon read again", () => {
    expect(nextRequeue(due, {}, seen, NOW)).toEqual({ listed_at: inMinutes(15) });
  });

  test("the end of a list that was read in several runs is no empty list", () => {
    expect(nextRequeue(due, { rest_due_at: inMinutes(3) }, { ...seen, keys: [] }, NOW)).toEqual({
      listed_at: inMinutes(3),
    });
  });
});
