import { describe, expect, test } from "vitest";
import { functionSpecs } from "../../../../functions/specs.ts";
import { scheduledFunctions } from "../../../../infra/schedules.ts";
import type { Route } from "../../../../shared/contract/route.ts";
import { routes } from "../../../../shared/contract/routes.ts";
import * as budgets from "../../../../shared/platform/time-budgets.ts";

/** Asserts that each value is less than the next one. */
const expectAscending = (values: Readonly<Record<string, number>>): void => {
  const entries = Object.entries(values);
  for (const [index, [name, value]] of entries.entries()) {
    const [nextName = "", nextValue = Number.POSITIVE_INFINITY] = entries[index + 1] ?? [];
    expect(value, `${name} (${value}) < ${nextName} (${nextValue})`).toBeLessThan(nextValue);
  }
};

const orderFunctions = ["purchase", "check-identity"] as const;

describe("the time of an order", () => {
  test("upstream deadline < upstream deadline and settlement < function < API Gateway", () => {
    expectAscending({
      connect: budgets.UPSTREAM_CONNECT_MS_MAX,
      upstream: budgets.UPSTREAM_MS_MAX,
      upstreamAndSettlement: budgets.UPSTREAM_MS_MAX + budgets.UPSTREAM_RESERVE_MS,
      function: budgets.API_FUNCTION_TIMEOUT_S * 1_000,
      gateway: budgets.API_GATEWAY_TIMEOUT_S * 1_000,
    });
  });

  test("answer < queue < settlement < upstream: each step leaves what the following steps need", () => {
    expectAscending({
      answer: budgets.RESPONSE_RESERVE_MS,
      queue: budgets.QUEUE_RESERVE_MS,
      settlement: budgets.SETTLE_RESERVE_MS,
      upstream: budgets.UPSTREAM_RESERVE_MS,
      busyWallet: budgets.UPSTREAM_RESERVE_MS + budgets.UPSTREAM_SHARE_MS,
      function: budgets.API_FUNCTION_TIMEOUT_S * 1_000,
    });
  });

  test("the queue's reserve holds one whole attempt of the SDK", () => {
    const attemptMs = budgets.AWS_CONNECT_MS_MAX + budgets.AWS_RESPONSE_MS_MAX;
    expect(budgets.QUEUE_RESERVE_MS - budgets.RESPONSE_RESERVE_MS).toBeGreaterThanOrEqual(attemptMs);
  });

  test("the upstream's share of a busy wallet's order is enough to send it", () => {
    expectAscending({
      least: budgets.UPSTREAM_MS_MIN,
      share: budgets.UPSTREAM_SHARE_MS,
      most: budgets.UPSTREAM_MS_MAX,
    });
  });

  test("an operator's decision waits until the order's own request, or the sender of a queued order, has ended", () => {
    const graceMs = budgets.ORDER_GRACE_MS - budgets.CLOCK_DIFFERENCE_MS_MAX;
    expect(graceMs).toBeGreaterThanOrEqual(budgets.API_FUNCTION_TIMEOUT_S * 1_000);
    expect(graceMs).toBeGreaterThanOrEqual(budgets.CLAIMED_ORDER_MS_MAX);
  });

  test.each(orderFunctions)("%s has the longest time that a function with an API route may have", (name) => {
    expect(functionSpecs[name].timeoutS).toBe(budgets.API_FUNCTION_TIMEOUT_S);
  });

  test.each([...new Set(Object.values<Route>(routes).map((route) => route.function))])(
    "%s ends before API Gateway gives up",
    (name) => {
      const spec = Object.entries(functionSpecs).find(([known]) => known === name)?.[1];
      expect(spec?.timeoutS).toBeLessThanOrEqual(budgets.API_FUNCTION_TIMEOUT_S);
    },
  );
});

test("counting a request, and waiting for another invocation's work, leave an order the time for its debit and the upstream", () => {
  const leftMs = budgets.API_FUNCTION_TIMEOUT_S * 1_000 - budgets.RATE_COUNT_RETRY_MS_MAX - budgets.JOIN_MS_MAX;
  expect(leftMs).toBeGreaterThan(budgets.UPSTREAM_SHARE_MS + budgets.UPSTREAM_RESERVE_MS);
});

test("a check whose number KMS hashes in the last attempt has the time for its debit and the upstream", () => {
  const hashMs = budgets.AWS_ATTEMPTS_MAX * (budgets.AWS_CONNECT_MS_MAX + budgets.AWS_RESPONSE_MS_MAX);
  const leftMs =
    budgets.API_FUNCTION_TIMEOUT_S * 1_000 - budgets.RATE_COUNT_RETRY_MS_MAX - budgets.JOIN_MS_MAX - hashMs;
  expect(leftMs).toBeGreaterThan(budgets.UPSTREAM_SHARE_MS + budgets.UPSTREAM_RESERVE_MS);
});

test("a lost packet < connect < one webhook attempt < deliver-webhook's time-out, with time for its writes", () => {
  expectAscending({
    // A connection's first packet is sent again after 1 s (RFC 6298).
    lostPacket: 1_000,
    connect: budgets.WEBHOOK_CONNECT_MS_MAX,
    attempt: budgets.WEBHOOK_MS_MAX,
    withWrites: budgets.WEBHOOK_MS_MAX + 2 * budgets.CONTENTION_RETRY_MS_MAX,
    function: functionSpecs["deliver-webhook"].timeoutS * 1_000,
  });
});

describe("the time of a scheduled run", () => {
  test("a fetch of the catalog fits into its function's time, with the upstream's reserve", () => {
    const fetchMs = budgets.UPSTREAM_MS_MAX + budgets.UPSTREAM_RESERVE_MS;
    expect(fetchMs).toBeLessThan(functionSpecs["refresh-catalog"].timeoutS * 1_000);
  });

  test("one wallet or refund < all wallets, and wallets and phone numbers end before the next run", () => {
    expectAscending({
      refund: budgets.REFUND_MS_MAX,
      wallet: budgets.RECONCILE_WALLET_MS_MAX,
      wallets: budgets.RECONCILE_WALLETS_MS_MAX,
    });
    const runMs = budgets.RECONCILE_WALLETS_MS_MAX + budgets.MASK_PHONES_MS_MAX;
    expect(runMs).toBeLessThanOrEqual(budgets.SCHEDULE_MS);
    const behindMs = budgets.ADD_SUMS_MS_MAX + budgets.VERIFY_PERIODS_MS_MAX + budgets.RUN_RESERVE_MS;
    expect(runMs + behindMs).toBeLessThan(functionSpecs["reconcile-ledger"].timeoutS * 1_000);
  });

  test("the last requeue of parked deliveries ends within the run, and the run before the next one", () => {
    const lastLookMs = budgets.BATCH_READ_RETRY_MS_MAX + budgets.CONTENTION_RETRY_MS_MAX;
    const runMs = budgets.REQUEUE_ENDPOINTS_MS_MAX + lastLookMs + budgets.RUN_RESERVE_MS;
    expect(runMs).toBeLessThan(budgets.SCHEDULE_MS);
    const checksMs = budgets.REQUEUE_ENDPOINTS_MS_MAX + 2 * budgets.CHECK_BALANCES_MS_MAX + budgets.RUN_RESERVE_MS;
    expect(checksMs).toBeLessThanOrEqual(functionSpecs["requeue-deliveries"].timeoutS * 1_000);
    expect(functionSpecs["requeue-deliveries"].timeoutS * 1_000).toBeLessThanOrEqual(budgets.SCHEDULE_MS);
  });

  test("an order that is claimed last is sent and settled within the run, and the run ends before the next one", () => {
    const lastMs = budgets.CLAIM_MS_MAX + budgets.UPSTREAM_MS_MAX + budgets.UPSTREAM_RESERVE_MS;
    expect(lastMs).toBeLessThanOrEqual(budgets.CLAIMED_ORDER_MS_MAX + budgets.QUEUE_RESERVE_MS);
    expect(budgets.CLAIMED_ORDER_MS_MAX).toBeLessThan(budgets.SEND_QUEUED_RESERVE_MS);
    expect(budgets.SEND_QUEUED_RESERVE_MS).toBeLessThan(functionSpecs["send-queued-orders"].timeoutS * 1_000);
    expect(functionSpecs["send-queued-orders"].timeoutS * 1_000).toBeLessThanOrEqual(budgets.SCHEDULE_MS);
  });

  test("the last question of a run is answered, queued and noted before the next run", () => {
    const lastMs = budgets.LOOKUP_MS_MAX + budgets.UPSTREAM_RESERVE_MS;
    expect(lastMs).toBeLessThan(budgets.ASK_RESERVE_MS);
    // The reading of many orders leaves most of the time for questions.
    const readMs = 2 * budgets.READ_OPEN_MS_MAX + budgets.ASK_RESERVE_MS;
    expect(readMs).toBeLessThan(functionSpecs["ask-upstream"].timeoutS * 1_000);
    expect(functionSpecs["ask-upstream"].timeoutS * 1_000).toBeLessThanOrEqual(budgets.SCHEDULE_MS);
  });

  test("the turn of a claimed order has time for its claim and the connection, and is over for other processes before the next run", () => {
    const claimMs = budgets.CLAIM_MS_MAX - budgets.QUEUE_RESERVE_MS + budgets.AWS_CONNECT_MS_MAX;
    expect(budgets.TURN_BEGIN_MS_MAX).toBeGreaterThan(
      claimMs + budgets.AWS_RESPONSE_MS_MAX + budgets.UPSTREAM_CONNECT_MS_MAX,
    );
    expect(budgets.TURN_BEGIN_MS_MAX + budgets.CLOCK_DIFFERENCE_MS_MAX).toBeLessThan(budgets.SEND_QUEUED_RESERVE_MS);
    expect(2 * budgets.OPEN_LANES_MS_MAX).toBeLessThan(budgets.SENDING_MS);
    expect(budgets.SENDING_MS + budgets.SEND_QUEUED_RESERVE_MS).toBe(
      functionSpecs["send-queued-orders"].timeoutS * 1_000,
    );
  });

  test("a refund keeps the queue's reserve and has time for attempts", () => {
    expect(budgets.REFUND_MS_MAX - budgets.QUEUE_RESERVE_MS).toBeGreaterThan(budgets.AWS_RESPONSE_MS_MAX);
  });

  test.each(scheduledFunctions)("%s runs for at least one interval", (name) => {
    expect(functionSpecs[name].timeoutS * 1_000).toBeGreaterThanOrEqual(budgets.SCHEDULE_MS);
  });
});
