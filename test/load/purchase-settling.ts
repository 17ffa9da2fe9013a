import { expect, vi } from "vitest";
import { openTransactions } from "../../shared/ledger/find-transactions.ts";
import type { Ledger } from "../../shared/ledger/ledger.ts";
import { referenceOf, type Transaction } from "../../shared/ledger/transaction.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { matchEvent, resolveTransaction } from "../../shared/upstream-events/operator-resolution.ts";
import { listEvents } from "../../shared/upstream-events/stored-event.ts";
import type { Delivery, Order, SimulatorState } from "../../tools/simulator/state.ts";
import { eventOf, sendEvent } from "../../tools/simulator/webhooks.ts";
import { inParallel } from "./figures.ts";

/** All that an operator sees as open. */
export const openNow = (ledger: Ledger): Promise<readonly Transaction[]> =>
  openTransactions(ledger, { from: "0000", to: isoTime(ledger.clock() + 60_000) });

/**
 * The upstream's own events come by themselves, a moment after its answer. One that was not answered 200 in 5 s is sent again, as a
 * provider does. Resolves with how many that were.
 */
export const waitForNamed = async (ledger: Ledger, upstream: SimulatorState): Promise<number> => {
  const again = new Set<Order>();
  await vi.waitFor(
    async () => {
      const named = new Set((await openNow(ledger)).map(({ upstream_reference }) => upstream_reference));
      const open = upstream.purchases.filter(({ upstreamReference }) => named.has(upstreamReference));
      for (const order of open) {
        const isRefused = upstream.deliveries.filter(isAbout(order)).every(({ status }) => status !== 200);
        if (order.status === "processing" || !isRefused) continue;
        again.add(order);
        await sendEvent(upstream, eventOf(order, order.status));
      }
      expect(open).toEqual([]);
    },
    { timeout: 120_000, interval: 2_000 },
  );
  return again.size;
};

const isAbout =
  ({ upstreamReference }: Order) =>
  ({ body }: Delivery): boolean =>
    body.includes(upstreamReference);

/** A debit in doubt that arrived after all is taken back a minute later. */
const TAKEN_BACK_MS = 60_000;

/** Nothing is open of which an app was told that it failed. */
export const waitForTakenBack = async (ledger: Ledger, toldFailed: ReadonlySet<string>): Promise<void> => {
  await vi.waitFor(
    async () => {
      const open = await openNow(ledger);
      expect(open.map(referenceOf).filter((reference) => toldFailed.has(reference))).toEqual([]);
    },
    { timeout: TAKEN_BACK_MS + 20_000, interval: 500 },
  );
};

const EVENTS_AT_ONCE = 8;

/** The upstream tells how those ended whose answers were lost; the ones that it still held up it delivers now. Resolves with which. */
export const tellTheLost = async (
  upstream: SimulatorState,
  open: readonly Transaction[],
): Promise<readonly Order[]> => {
  const openReferences = new Set(open.map(referenceOf));
  const lost = upstream.purchases.filter(({ reference }) => reference !== null && openReferences.has(reference));
  await inParallel(lost.length, EVENTS_AT_ONCE, async (index) => {
    const one = lost[index];
    if (one === undefined) return;
    upstream.settle(one, "success");
    const [delivery] = await sendEvent(upstream, eventOf(one, one.status));
    expect(delivery?.status).toBe(200);
  });
  return lost;
};

/** An event about a reference that nobody knows is decided once it is 3 minutes old. */
const DECIDED_MS = 180_000;

/** Waits until each of these orders has ended, or the event about it waits for the operator. */
export const waitForDecisions = async (ledger: Ledger, told: readonly Order[]): Promise<void> => {
  await vi.waitFor(
    async () => {
      const kept = new Set((await listEvents(ledger, "0000")).map(({ reference }) => reference));
      const open = new Set((await openNow(ledger)).map(referenceOf));
      const undecided = told.filter(
        ({ reference, upstreamReference }) => open.has(reference ?? "") && !kept.has(upstreamReference),
      );
      expect(undecided).toEqual([]);
    },
    { timeout: DECIDED_MS + 120_000, interval: 2_000 },
  );
};

/**
 * The operator ends the rest by what the upstream's own list says: an event that waits belongs to the order of its reference; an
 * order that the upstream never got has failed.
 */
export const resolveRest = async (ledger: Ledger, upstream: SimulatorState): Promise<number> => {
  const decision = { by: "load test", why: "the upstream's list" };
  const open = new Map((await openNow(ledger)).map((transaction) => [referenceOf(transaction), transaction]));
  for (const event of await listEvents(ledger, "0000")) {
    const order = upstream.purchases.find(({ upstreamReference }) => upstreamReference === event.reference);
    const row = open.get(order?.reference ?? "");
    if (row === undefined) throw new Error(`The upstream does not know ${event.reference}`);
    await matchEvent(ledger, event, row, decision);
  }
  for (const row of await openNow(ledger)) await resolveTransaction(ledger, row, "failed", decision);
  return open.size;
};
