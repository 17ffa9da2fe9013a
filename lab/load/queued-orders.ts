import { expect, vi } from "vitest";
import { isQueuedOrder, referenceOf, type Transaction } from "../../shared/ledger/transaction.ts";
import { sum } from "../../shared/platform/sum.ts";
import { sleep } from "../../shared/platform/time.ts";
import { capacityOf } from "../../test/builders/dynamodb/observe.ts";
import type { Fault } from "../../tools/simulator/faults.ts";
import type { SimulatorState } from "../../tools/simulator/state.ts";
import { createCallers } from "./callers.ts";
import { createClient } from "./client.ts";
import { expectBalancesMatchEntries, expectBalancesWereNeverNegative, readLedgerState } from "./ledger-state.ts";
import { byReference, expectResponsesMatch, expectUpstreamAgrees } from "./purchase-assertions.ts";
import { inParallel, reportResults, tally } from "./results.ts";
import { type LoadAccount, type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { openNow } from "./settle-purchases.ts";
import { shortMinute } from "./short-minute.ts";
import { expectNoUnexpectedErrors, strainOf } from "./unexpected-errors.ts";

/** Each has one key, and sends one order after the other. */
const CALLERS = 20;
const DRAIN_MS_MAX = 150_000;
const SETTLING_MS = 2_000;
/** What an operator gets to see if nothing can be sold, or orders wait for too long. */
const ALARMS_OF_A_STANDSTILL = [
  "upstream.account_error",
  "upstream.unreachable",
  "order.waited_too_long",
  "order.sender_failed",
] as const;
const path = "/vtu/";
const times = 1;

/** One request in 20 gets one of them. */
const faults: readonly Fault[] = [
  { kind: "drop_after_order", path, times },
  { kind: "drop_before_reading", path, times },
  { kind: "status", status: 500, takes_order: true, path, times },
  { kind: "status", status: 500, path, times },
  { kind: "html", takes_order: true, path, times },
  { kind: "html", path, times },
  // A definite refusal, after which the order is refunded.
  { kind: "status", status: 400, path, times },
];
const FAULT_EVERY = 20;

/**
 * Places more orders than the upstream takes in a minute, and waits until all were sent. The simulator and the sender
 * have minutes of a few seconds (short-minute.ts); everything else runs in its own time. With `disturbed` the upstream
 * fails for one request in 20, and the service is killed when half of the orders have arrived.
 */
export const runQueuedOrders = async (options: {
  readonly orders: number;
  readonly disturbed: boolean;
}): Promise<void> => {
  const { orders, disturbed } = options;
  const service = await startServiceProcess({
    script: "lab/load/queued-service.ts",
    simulator: { windowMs: shortMinute.ms, ordersPerWindow: shortMinute.orders },
    countsCalls: true,
  });
  const client = createClient(service.baseUrl);
  const stopped = new AbortController();
  try {
    const { admin, simulator, proxy } = service;
    const accounts: LoadAccount[] = [];
    while (accounts.length < CALLERS) accounts.push(await service.newAccount({ naira: 100_000, keys: 1 }));
    const disturbing = disturbed ? disturb(service, orders, stopped.signal) : undefined;
    proxy?.calls.splice(0);

    const callers = createCallers(
      client,
      accounts,
      () => undefined,
      () => undefined,
    );
    const begun = performance.now();
    const secondsSoFar = () => Math.round((performance.now() - begun) / 100) / 10;
    await inParallel(CALLERS, CALLERS, async (caller) => {
      for (let index = caller; index < orders; index += CALLERS) await callers.place(index);
    });
    const placedS = secondsSoFar();
    await disturbing;
    const countWaiting = async () => (await readLedgerState(admin.ledger)).transactions.filter(isQueuedOrder).length;
    await vi.waitFor(async () => expect(await countWaiting()).toBe(0), { timeout: DRAIN_MS_MAX, interval: 500 });
    const drainedS = secondsSoFar();
    stopped.abort();
    await untilSettled(service);

    const state = await readLedgerState(admin.ledger);
    const transactionsByReference = byReference(state.transactions);
    expectBalancesMatchEntries(state);
    await expectBalancesWereNeverNegative(admin.ledger);
    expectResponsesMatch(callers.placed, transactionsByReference);
    expectUpstreamAgrees(simulator.state, transactionsByReference);
    expect(await openNow(admin.ledger), "The operator sees every open transaction").toHaveLength(
      state.transactions.filter(({ status }) => status === "processing").length,
    );
    for (const event of ALARMS_OF_A_STANDSTILL) expect(alarmsOf(service)).not.toHaveProperty([event]);
    expectNoUnexpectedErrors(service);

    const arrived = simulator.state.purchases.map(({ reference }) => reference ?? "");
    const waited = state.transactions.filter(({ claim }) => claim !== undefined);
    expect(inversions(waited, arrived), "Orders that overtook another of their account").toBe(0);
    const fairness = sharesDuringContention(waited, arrived);
    expect(fairness.least, "The least share of an account, of a fair one").toBeGreaterThanOrEqual(0.9);
    expect(fairness.most, "The greatest share of an account, of a fair one").toBeLessThanOrEqual(1.1);
    if (!disturbed) {
      expect(arrived).toHaveLength(orders);
      expect(tally(state.transactions.map(({ status }) => status))).toEqual({ success: orders });
      expect(alarmsOf(service)).toEqual({});
      expect(callers.outcomes.filter((outcome) => outcome !== "success" && outcome !== "processing")).toEqual([]);
    }

    const calls = proxy?.calls ?? [];
    const { tableWriteUnits, indexWriteUnits } = capacityOf(calls);
    reportResults(disturbed ? "queued orders, disturbed" : "queued orders", {
      orders,
      accounts: CALLERS,
      "seconds of a minute": shortMinute.ms / 1_000,
      "seconds until all were placed": placedS,
      "seconds until all were sent": drainedS,
      answers: tally(callers.outcomes),
      statuses: tally(state.transactions.map(({ status }) => status)),
      waited: waited.length,
      "429 of the upstream": simulator.state.rates.refused,
      "orders in contention": fairness.deliveries,
      "least share": Math.round(fairness.least * 1_000) / 1_000,
      "greatest share": Math.round(fairness.most * 1_000) / 1_000,
      calls: tally(calls.map(({ operation }) => operation)),
      "write units an order": Math.round(((tableWriteUnits + indexWriteUnits) / orders) * 10) / 10,
      alarms: alarmsOf(service),
      ...strainOf(service),
    });
  } finally {
    stopped.abort();
    client.close();
    await service.stop();
  }
};

/** What was sent last is settled soon after; an order whose outcome is unknown stays open. */
const untilSettled = async ({ admin }: ServiceProcess): Promise<void> => {
  let [previous, open] = [-1, (await openNow(admin.ledger)).length];
  while (open > 0 && open !== previous) {
    await sleep(SETTLING_MS);
    [previous, open] = [open, (await openNow(admin.ledger)).length];
  }
};

const disturb = async (service: ServiceProcess, orders: number, signal: AbortSignal): Promise<void> => {
  const { state } = service.simulator;
  void addFaults(state, signal);
  while (state.requests.length < orders / 2 && !signal.aborted) await sleep(5);
  await service.killAndRestart();
};

const addFaults = async (state: SimulatorState, signal: AbortSignal): Promise<void> => {
  for (let added = 0; !signal.aborted; await sleep(2)) {
    if (state.requests.length < added * FAULT_EVERY) continue;
    const fault = faults[added % faults.length];
    if (fault !== undefined) state.faults.add(fault);
    added += 1;
  }
};

/** The alarms that the service logged, by event. */
const alarmsOf = (service: ServiceProcess): Readonly<Record<string, number>> =>
  tally(
    service
      .logLines()
      .filter((line) => line.includes('"Alarms":1'))
      .map((line) => /"event":"([^"]+)"/.exec(line)?.[1] ?? line),
  );

/** By account, the references of the orders that waited and arrived, in the order of their creation. */
const arrivalsByAccount = (waited: readonly Transaction[], arrived: readonly string[]) => {
  const positions = new Map(arrived.map((reference, position) => [reference, position]));
  const byAccount = new Map<string, number[]>();
  for (const transaction of waited.toSorted((one, other) => one.created_at.localeCompare(other.created_at))) {
    const position = positions.get(referenceOf(transaction));
    if (position === undefined) continue;
    byAccount.set(transaction.account_id, [...(byAccount.get(transaction.account_id) ?? []), position]);
  }
  return byAccount;
};

/** Pairs of an account's orders that arrived in the other order than they were created. */
const inversions = (waited: readonly Transaction[], arrived: readonly string[]): number => {
  let count = 0;
  for (const positions of arrivalsByAccount(waited, arrived).values()) {
    for (const [index, position] of positions.entries()) {
      count += positions.slice(index + 1).filter((later) => later < position).length;
    }
  }
  return count;
};

/**
 * While all accounts have queued orders: after each had its first arrival, and until the first of them has none left.
 * Each account's arrivals, as a share of the mean.
 */
const sharesDuringContention = (waited: readonly Transaction[], arrived: readonly string[]) => {
  const accounts = [...arrivalsByAccount(waited, arrived).values()];
  const begin = Math.max(...accounts.map((positions) => Math.min(...positions)));
  const end = Math.min(...accounts.map((positions) => Math.max(...positions)));
  const counts = accounts.map((positions) => positions.filter((each) => each > begin && each <= end).length);
  const deliveries = sum(counts);
  const fair = deliveries / accounts.length;
  return { deliveries, least: Math.min(...counts) / fair, most: Math.max(...counts) / fair };
};
