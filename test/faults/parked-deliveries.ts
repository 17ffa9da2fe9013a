import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "#zod";
import { MINUTE_MS } from "../../shared/contract/values/durations.ts";
import { getItems } from "../../shared/ledger/get-item.ts";
import { listKeys } from "../../shared/ledger/query-index.ts";
import { deliveriesList } from "../../shared/ledger/schema.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { deliverySchema } from "../../shared/webhooks/delivery.ts";
import { aTransaction } from "../builders/ledger/transaction.ts";
import { ENDPOINT } from "../builders/webhooks/endpoint.ts";
import { strictSettings } from "../strict/settings.ts";
import { advance } from "./system/clock.ts";
import { type System, startSystem } from "./system/system.ts";
import { type AppEndpoint, openAppEndpoint, openTestAccount } from "./test-account.ts";

/** New events come together, 36 minutes apart. */
const EVERY_MINUTES = 36;
const EVENTS_TOGETHER = 50;

let system: System;
let endpoint: AppEndpoint;
let healthy: AppEndpoint;
beforeAll(async () => {
  system = await startSystem();
  endpoint = await openAppEndpoint();
  healthy = await openAppEndpoint();
});
afterAll(async () => {
  await endpoint.stop();
  await healthy.stop();
  await system.stop();
});

let transactions = 0;

/** Enqueues the webhook of a transaction that was settled just now. */
const anEvent = async (account_id: string): Promise<void> => {
  transactions += 1;
  const pk = `transaction#${String(transactions).padStart(26, "0")}`;
  const created_at = isoTime(Date.now());
  const { open: _open, ...settled } = aTransaction({ pk, account_id, created_at, status: "success" });
  const Item = { ...settled, list_key: `${account_id}#live` };
  await system.db.put({ TableName: system.ledger.table, Item });
  const event = { event: "transaction.updated", transaction_pk: pk, status: "success", endpoint: ENDPOINT } as const;
  await system.deliveryQueue.send(event, account_id);
};

const body = z.object({ data: z.object({ reference: z.string() }) });
const referencesOf = ({ received }: AppEndpoint): ReadonlySet<string> =>
  new Set(received.map((each) => body.parse(JSON.parse(each.body)).data.reference));

const aMinute = async (): Promise<void> => {
  advance(MINUTE_MS);
  await system.runSchedule("requeue-deliveries");
  await system.eventSources.deliver("concurrent");
};

const deliveriesOf = async (accountId: string) => {
  const keys = await listKeys(system.ledger, deliveriesList(accountId), { from: "0000", to: "9999" });
  return getItems(system.ledger, keys, deliverySchema);
};

/**
 * Goal: an endpoint that is down for hours costs probes, not one message for each of its events, and gets all of them
 * once it has recovered; another account notices nothing. Method: the functions with real stores, and simulated minutes.
 */
export const parkedDeliveries = (outageMinutes: number): void => {
  const events = (outageMinutes / EVERY_MINUTES) * EVENTS_TOGETHER;
  test(`an endpoint that is down for ${outageMinutes} minutes with ${events} events is only probed, and then gets each of them`, async () => {
    // Indexes lag; the queue is in order, because posts are counted.
    const inOrder = { duplicates: 0, late: 0, reordered: false };
    system.setStrict({ ...strictSettings.lag, queues: inOrder }, 20_261_122);
    const { accountId } = await openTestAccount(system, endpoint);
    const { accountId: healthyId } = await openTestAccount(system, healthy);
    endpoint.failNext(Number.POSITIVE_INFINITY);
    let inQueueMax = 0;
    for (let minute = 0; minute < outageMinutes; minute += 1) {
      if (minute % EVERY_MINUTES === 0) {
        for (let event = 0; event < EVENTS_TOGETHER; event += 1) await anEvent(accountId);
        await anEvent(healthyId);
        const before = healthy.received.length;
        await system.eventSources.deliver("concurrent");
        expect(healthy.received.length).toBeGreaterThan(before);
      }
      await aMinute();
      // The first events were posted before the endpoint was known to be down.
      if (minute >= EVERY_MINUTES) inQueueMax = Math.max(inQueueMax, system.eventSources.waiting());
    }

    const probesMax = outageMinutes / 5 + EVENTS_TOGETHER + 20;
    expect(endpoint.received.length).toBeGreaterThan(outageMinutes / 7);
    expect(endpoint.received.length).toBeLessThanOrEqual(probesMax);
    expect(inQueueMax).toBeLessThanOrEqual(5);
    const atNight = await deliveriesOf(accountId);
    expect(atNight).toHaveLength(events);
    expect(new Set(atNight.map(({ state }) => state))).toEqual(new Set(["pending"]));

    endpoint.failNext(0);
    endpoint.received.length = 0;
    for (let minute = 0; minute < 60 && referencesOf(endpoint).size < events; minute += 1) await aMinute();
    // Those that were probes may wait for their own next attempt.
    const withinTheHour = referencesOf(endpoint).size;
    for (let hour = 0; hour < 11 * 6 && referencesOf(endpoint).size < events; hour += 1) {
      advance(9 * MINUTE_MS);
      await aMinute();
    }
    expect(referencesOf(endpoint).size).toBe(events);
    expect(withinTheHour).toBeGreaterThan(0.9 * events);
    expect(endpoint.received.length).toBeLessThan(events + 50);
    expect(await system.eventSources.deadLetters()).toEqual([]);
  });
};
