import { expect, vi } from "vitest";
import { queues } from "../../infra/queues.ts";
import { MINUTE_MS } from "../../shared/contract/values/durations.ts";
import { openTransactions } from "../../shared/ledger/find-transactions.ts";
import type { AuditedLedger, Ledger } from "../../shared/ledger/ledger.ts";
import { referenceOf, type Transaction } from "../../shared/ledger/transaction.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { DECISION_AGE_MS } from "../../shared/upstream-events/apply-upstream-event.ts";
import { matchEvent, resolveTransaction } from "../../shared/upstream-events/operator-resolution.ts";
import { listEvents } from "../../shared/upstream-events/stored-event.ts";
import { WAIT_MS_MAX } from "../../test/builders/run/until.ts";
import { FACE_VALUES } from "../../test/builders/upstream/upstream-costs.ts";
import type { EventDelivery, Order, SimulatorState } from "../../tools/simulator/state.ts";
import { orderEvent, sendEvent } from "../../tools/simulator/webhooks.ts";
import { inParallel } from "./results.ts";

/** The transactions that an operator sees as open. */
export const openNow = (ledger: Ledger): Promise<readonly Transaction[]> =>
  openTransactions(ledger, { from: "0000", to: isoTime(ledger.clock() + MINUTE_MS) });

/** On a busy machine the handling of a message fails some times; each time it becomes visible again after 3 minutes. */
export const QUEUED_MS_MAX = 3 * 1_000 * queues.outcomes.visibilityTimeoutS + WAIT_MS_MAX;

/**
 * Waits until the upstream's own events have settled their transactions. An event that was not answered with 200 is
 * sent again. Resolves with the number of those events.
 */
export const waitForUpstreamEvents = async (ledger: Ledger, upstream: SimulatorState): Promise<number> => {
  const resent = new Set<Order>();
  await vi.waitFor(
    async () => {
      const knownReferences = new Set((await openNow(ledger)).map(({ upstream_reference }) => upstream_reference));
      const open = upstream.purchases.filter(({ upstreamReference }) => knownReferences.has(upstreamReference));
      for (const order of open) {
        const isRefused = upstream.deliveries.filter(isAbout(order)).every(({ status }) => status !== 200);
        if (order.status === "processing" || !isRefused) continue;
        resent.add(order);
        await sendEvent(upstream, orderEvent(order, order.status));
      }
      expect(open).toEqual([]);
    },
    { timeout: QUEUED_MS_MAX, interval: 2_000 },
  );
  return resent.size;
};

const isAbout =
  ({ upstreamReference }: Order) =>
  ({ body }: EventDelivery): boolean =>
    body.includes(upstreamReference);

/** An indeterminate debit that was written is refunded a minute later. */
const REFUND_MS = MINUTE_MS;

/** Waits until no transaction is open that a response reported as failed. */
export const waitForRefunds = async (ledger: Ledger, reportedFailed: ReadonlySet<string>): Promise<void> => {
  await vi.waitFor(
    async () => {
      const open = await openNow(ledger);
      expect(open.map(referenceOf).filter((reference) => reportedFailed.has(reference))).toEqual([]);
    },
    { timeout: REFUND_MS + WAIT_MS_MAX, interval: 500 },
  );
};

const EVENTS_AT_ONCE = 8;

/** Delivers and reports the open orders whose responses were lost. Resolves with these orders. */
export const sendMissingEvents = async (
  upstream: SimulatorState,
  open: readonly Transaction[],
): Promise<readonly Order[]> => {
  const openReferences = new Set(open.map(referenceOf));
  const orders = upstream.purchases.filter(({ reference }) => reference !== null && openReferences.has(reference));
  await inParallel(orders.length, EVENTS_AT_ONCE, async (index) => {
    const order = orders[index];
    if (order === undefined) return;
    upstream.settle(order, "success");
    const [delivery] = await sendEvent(upstream, orderEvent(order, order.status));
    expect(delivery?.status).toBe(200);
  });
  return orders;
};

/** Waits until each order is settled or its event is escalated to the operator. */
export const waitForDecisions = async (ledger: Ledger, orders: readonly Order[]): Promise<void> => {
  await vi.waitFor(
    async () => {
      const escalated = new Set((await listEvents(ledger, "0000")).map(({ reference }) => reference));
      const open = new Set((await openNow(ledger)).map(referenceOf));
      const undecided = orders.filter(
        ({ reference, upstreamReference }) => open.has(reference ?? "") && !escalated.has(upstreamReference),
      );
      expect(undecided).toEqual([]);
    },
    { timeout: DECISION_AGE_MS + 120_000, interval: 2_000 },
  );
};

/**
 * Resolves the rest as an operator does with the upstream's list of orders: an escalated event is matched with the
 * order of its reference, and an order that the upstream never got has failed.
 */
export const resolveRest = async (ledger: AuditedLedger, upstream: SimulatorState): Promise<number> => {
  const decision = { by: "load test", why: "the upstream's list" };
  const open = new Map((await openNow(ledger)).map((transaction) => [referenceOf(transaction), transaction]));
  for (const event of await listEvents(ledger, "0000")) {
    const order = upstream.purchases.find(({ upstreamReference }) => upstreamReference === event.reference);
    const transaction = open.get(order?.reference ?? "");
    if (transaction === undefined) throw new Error(`The upstream does not know ${event.reference}`);
    await matchEvent({ ledger, costs: FACE_VALUES }, event, transaction, decision);
  }
  for (const transaction of await openNow(ledger)) await resolveTransaction(ledger, transaction, "failed", decision);
  return open.size;
};
