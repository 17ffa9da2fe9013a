import { beforeEach, describe, expect, test, vi } from "vitest";
import { setAccountStatus } from "../../../../shared/access/accounts.ts";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import type { Ledger } from "../../../../shared/ledger/ledger.ts";
import { walletPk } from "../../../../shared/ledger/schema.ts";
import { referenceOf } from "../../../../shared/ledger/transaction.ts";
import { writePurchasesSwitch } from "../../../../shared/orders/purchases-switch.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { log } from "../../../../shared/platform/log.ts";
import { isoTime, sleep } from "../../../../shared/platform/time.ts";
import { SEND_QUEUED_RESERVE_MS } from "../../../../shared/platform/time-budgets.ts";
import { enqueueMessageOf } from "../../../../shared/queued-orders/enqueue-or-defer.ts";
import { readUpstreamPace, UPSTREAM_PACE_PK } from "../../../../shared/queued-orders/upstream-pace.ts";
import { walletQueueJoin } from "../../../../shared/queued-orders/wallet-queue.ts";
import { beforeEachCall } from "../../../builders/dynamodb/before-each-call.ts";
import { copyTable } from "../../../builders/dynamodb/copy-table.ts";
import { type LedgerAtNoon, openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { claimAsSender, storedQueued, walletAndCount } from "../../../builders/ledger/queued-order.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { until } from "../../../builders/run/until.ts";
import { aSellingService, type SellingService } from "../../../builders/service/selling-service.ts";

/** Goal: an order that the upstream's rate limit refuses is sent later, once, in its account's order, or refunded. */

const NO_QUEUE = { tail: 0, head: 1, front: new Set<number>(), gaps: new Set<number>() };

let ledger: LedgerAtNoon;
beforeEach(async () => {
  ledger = await openLedgerAtNoon();
});

/** Keys at the upstream. */
const unreadable = (): string => {
  throw new Error("No answer");
};

const aService = (options?: { readonly queueMinutes: number }) => aSellingService(ledger, options);

/** The order "one" of an account with 1,000 NGN waits: the upstream refused it by its limit. */
const aQueuedOrder = async () => {
  const service = await aService();
  const accountId = await ledger.anAccount(1_000);
  service.refuse(1);
  await service.buy(accountId, "one");
  return { service, accountId };
};

describe("an order that the upstream's rate limit refuses", () => {
  test("waits debited and processing, with an estimate, and is delivered once by a later run", async () => {
    const service = await aService();
    const accountId = await ledger.anAccount(1_000);
    service.refuse(1);
    const response = await service.buy(accountId, "one");
    expect(response.data?.transaction.status).toBe("processing");
    expect(response.headers).toMatchObject({ "x-estimated-delivery": "61" });
    expect(await service.transaction(accountId, "one")).toMatchObject({
      status: "processing",
      open: `queued#${accountId}`,
    });
    expect(await walletAndCount(ledger, accountId)).toMatchObject({ balance_kobo: 500_00, queued_orders: 1 });

    expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 1, sent: 1, refunded: 0 });
    expect(await service.transaction(accountId, "one")).toMatchObject({ status: "success" });
    expect(await walletAndCount(ledger, accountId)).toMatchObject({ balance_kobo: 500_00, queued_orders: 0 });
    expect(service.arrived()).toHaveLength(1);

    const logged = captureLog();
    const pace = await readUpstreamPace(service.store);
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 0, sent: 0, refunded: 0 });
    // While nothing waits, a run notes nothing.
    expect(await readUpstreamPace(service.store)).toEqual(pace);
    expect(logged.lines()).toMatchObject([{ QueuedOrders: 0, OldestQueuedSeconds: 0 }]);
    expect(await walletAndCount(ledger, accountId)).not.toHaveProperty("open");
    expect(service.queued).toEqual([]);
  });

  test("is sent in the next runs if more accounts have queues than a run has time to read", async () => {
    const service = await aService({ queueMinutes: 60 });
    service.refuse(1);
    for (let count = 0; count < 25; count += 1) await service.buy(await ledger.anAccount(1_000), "one");
    // The queues of all accounts take as long as a run may send.
    let queuesRead = 0;
    beforeEachCall(ledger.db, "batchGet", () => {
      queuesRead += 1;
      ledger.nowMs += queuesRead <= 25 ? 1_000 : 0;
    });
    let waiting = 25;
    while (waiting > 0) {
      ledger.nowMs += MINUTE_MS;
      queuesRead = 0;
      const { queued, sent } = await service.instance().send(deadlineIn(MINUTE_MS, ledger.clock));
      // Also the orders of accounts that a run does not reach make others wait.
      expect(queued).toBe(waiting);
      // How many queues a run reads in its time depends on the order in which their reads end.
      expect(sent).toBeGreaterThan(0);
      expect(sent).toBeLessThan(25);
      waiting -= sent;
      expect(await readUpstreamPace(service.store)).toMatchObject({ queued_orders: waiting });
    }
  });

  test("is refunded if its plan was withdrawn in the meantime", async () => {
    const { service, accountId } = await aQueuedOrder();
    service.withdrawPlan();
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 1, sent: 0, refunded: 1 });
    expect(await service.transaction(accountId, "one")).toMatchObject({ failure: { code: "plan_unavailable" } });
  });

  test("stays as it is while purchases are off", async () => {
    const { service, accountId } = await aQueuedOrder();
    await writePurchasesSwitch(service.store, { purchases: "off", since: isoTime(ledger.nowMs), by: "ada" });
    ledger.nowMs += 20 * MINUTE_MS;
    expect(await service.instance({ upstreamKeys: unreadable }).send()).toEqual({ queued: 1, sent: 0, refunded: 0 });
    expect(await walletAndCount(ledger, accountId)).toMatchObject({ balance_kobo: 500_00, queued_orders: 1 });
    await writePurchasesSwitch(service.store, { purchases: "on", since: isoTime(ledger.nowMs), by: "ada" });
    expect(await service.sendAfter(0)).toEqual({ queued: 1, sent: 0, refunded: 1 });
  });
});

test("the late message that an order has to wait does not send it again from a ledger that was restored to before its wait", async () => {
  const service = await aService();
  const accountId = await ledger.anAccount(1_000);
  const transaction = await ledger.anOpenTransaction(accountId);
  const restored = { ...ledger, table: await copyTable(ledger.db, "ledger", ledger.table) };
  const message = enqueueMessageOf(ledger, transaction, { kind: "data", network_id: 1, plan_id: 101 });
  const applyIn = (inLedger: Ledger) => {
    service.queued.push({ message, delayS: 0 });
    return service.applyQueued(inLedger);
  };
  await applyIn(ledger);
  expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 1, sent: 1, refunded: 0 });
  await applyIn(restored);
  const alarm = vi.spyOn(log, "alarm");
  expect(await service.sendAfter(MINUTE_MS, restored)).toEqual({ queued: 1, sent: 0, refunded: 0 });
  expect(service.arrived()).toHaveLength(1);
  expect(alarm.mock.calls).toEqual([["order.not_sent_after_restore", { reference: referenceOf(transaction) }]]);
  expect(await readTransaction(restored, transaction.pk)).toMatchObject({
    status: "processing",
    open: expect.stringMatching(/^live#[0-9A-Z]$/),
  });
});

test("orders do not wait for an order that only a wallet's number counts", async () => {
  const service = await aService();
  const [counted, other] = [await ledger.anAccount(1_000), await ledger.anAccount(1_000)];
  await ledger.db.update(walletQueueJoin(ledger, counted, NO_QUEUE).Update);
  expect(await service.sendAfter(2 * MINUTE_MS)).toEqual({ queued: 0, sent: 0, refunded: 0 });
  ledger.nowMs += 1_000;
  expect((await service.buy(other, "one")).data?.transaction.status).toBe("success");
});

test("a run that can write neither the pace nor the end of a turn sends nevertheless", async () => {
  const { service, accountId } = await aQueuedOrder();
  beforeEachCall(ledger.db, "update", ({ Key }) => {
    if (Key?.pk === UPSTREAM_PACE_PK || Key?.pk === walletPk(accountId)) throw new Error("throttled");
  });
  const warn = vi.spyOn(log, "warn");
  expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 1, sent: 1, refunded: 0 });
  expect(await service.transaction(accountId, "one")).toMatchObject({ status: "success" });
  expect(new Set(warn.mock.calls.map(([event]) => event))).toEqual(
    new Set(["upstream_pace.not_noted", "queued_orders.turn_not_ended"]),
  );
});

test("a run waits for the end of a limit that its instance knows, and then sends", async () => {
  const service = await aService();
  let startedMs: number | undefined;
  const clock = () => ledger.nowMs + (startedMs === undefined ? 0 : performance.now() - startedMs);
  const sender = service.instance({ clock });
  service.refuse(1);
  const accountId = await ledger.anAccount(1_000);
  const limitedUntil = isoTime(ledger.nowMs + MINUTE_MS);
  await service.buy(accountId, "one", sender);
  ledger.nowMs += MINUTE_MS - 500;
  startedMs = performance.now();
  expect(await sender.send()).toEqual({ queued: 1, sent: 1, refunded: 0 });
  // It is claimed only then.
  const { sent_at } = await service.transaction(accountId, "one");
  expect([sent_at, limitedUntil].toSorted()).toEqual([limitedUntil, sent_at]);
});

test.each([
  ["refunded", 16 * MINUTE_MS],
  ["sent", MINUTE_MS],
])("no order is %s any more once purchases are switched off within a run", async (_, afterMs) => {
  const service = await aService();
  const accountId = await ledger.anAccount(1_000);
  const aside = await ledger.anAccount(1_000);
  service.refuseOrders(1);
  await service.buy(aside, "one");
  service.refuse(1);
  await service.buy(accountId, "one");
  service.duringTheNextRun(async () => {
    await writePurchasesSwitch(service.store, { purchases: "off", since: isoTime(ledger.nowMs), by: "ada" });
    ledger.nowMs += 11_000;
  });
  expect(await service.sendAfter(afterMs)).toEqual({ queued: 2, sent: 0, refunded: 0 });
  expect(service.arrived()).toEqual([]);
  expect(await walletAndCount(ledger, accountId)).toMatchObject({ balance_kobo: 500_00, queued_orders: 1 });
});

describe("a run that can send nothing", () => {
  test("because it has no time for a turn refunds nothing either, and each order waits on", async () => {
    const service = await aService();
    const [young, overdue, aside] = [
      await ledger.anAccount(1_000),
      await ledger.anAccount(1_000),
      await ledger.anAccount(1_000),
    ];
    service.refuseOrders(1);
    await service.buy(aside, "one");
    service.refuse(1);
    await service.buy(overdue, "one");
    ledger.nowMs += 15 * MINUTE_MS;
    service.refuse(1);
    await service.buy(young, "one");
    ledger.nowMs += MINUTE_MS;
    const { send } = service.instance();
    expect(await send(deadlineIn(SEND_QUEUED_RESERVE_MS))).toEqual({ queued: 3, sent: 0, refunded: 0 });
    expect(await send()).toEqual({ queued: 3, sent: 1, refunded: 2 });
  });

  test("because there is no key at the upstream leaves the orders in their queue, and refunds those that are due", async () => {
    const { service, accountId } = await aQueuedOrder();
    const { send } = service.instance({ upstreamKeys: () => "" });
    ledger.nowMs += MINUTE_MS;
    expect(await send()).toEqual({ queued: 1, sent: 0, refunded: 0 });
    expect(await service.transaction(accountId, "one")).toMatchObject({ queued: { number: 1 } });
    ledger.nowMs += 15 * MINUTE_MS;
    expect(await send()).toEqual({ queued: 1, sent: 0, refunded: 1 });
  });

  test("because the keys at the upstream cannot be read fails, and the order waits on", async () => {
    const { service } = await aQueuedOrder();
    ledger.nowMs += MINUTE_MS;
    await expect(service.instance({ upstreamKeys: unreadable }).send()).rejects.toThrow("No answer");
    expect(await service.sendAfter(0)).toEqual({ queued: 1, sent: 1, refunded: 0 });
  });

  test("because an order has no phone number sends those of other accounts", async () => {
    const service = await aService();
    const [broken, other] = [await ledger.anAccount(1_000), await ledger.anAccount(1_000)];
    service.refuse(1);
    await service.buy(broken, "one");
    await ledger.db.update({
      TableName: ledger.table,
      Key: { pk: (await service.transaction(broken, "one")).pk },
      UpdateExpression: "REMOVE phone_number",
    });
    const logged = captureLog();
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 1, sent: 0, refunded: 0 });
    expect(logged.lines()).toContainEqual(expect.objectContaining({ event: "order.sender_failed" }));
    await service.buy(other, "one");
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 2, sent: 1, refunded: 0 });
  });
});

test("10 orders are sent at once at most, and one before the upstream is known to take more", async () => {
  const service = await aService();
  const accountIds = await Promise.all(Array.from({ length: 14 }, () => ledger.anAccount(1_000)));
  service.refuse(1);
  for (const accountId of accountIds) await service.buy(accountId, "one");
  ledger.nowMs += MINUTE_MS;
  const underWay: number[] = [];
  const ten = Promise.withResolvers<void>();
  let count = 0;
  const beforeSending = async (): Promise<void> => {
    count += 1;
    underWay.push(count);
    if (count === 10) ten.resolve();
    if (underWay.length > 2) await ten.promise;
    // An eleventh one would begin.
    await sleep(300);
    count -= 1;
  };
  expect(await service.instance({ beforeSending }).send()).toEqual({ queued: 14, sent: 14, refunded: 0 });
  expect(underWay.slice(0, 2)).toEqual([1, 1]);
  expect(Math.max(...underWay)).toBe(10);
});

test("all orders of an account that waited for too long are refunded in one run, even while the limit is spent", async () => {
  const service = await aService();
  const accountId = await ledger.anAccount(16_000);
  const instance = service.instance();
  service.refuse(2);
  for (let order = 0; order < 30; order += 1) await service.buy(accountId, `order-${order}`, instance);
  ledger.nowMs += 16 * MINUTE_MS;
  await service.buy(accountId, "young", instance);
  // The order of another account spends the limit again.
  await service.buy(await ledger.anAccount(1_000), "other", instance);
  ledger.nowMs += 10_000;
  expect(await instance.send()).toEqual({ queued: 32, sent: 0, refunded: 30 });
  const wallet = await walletAndCount(ledger, accountId);
  expect(wallet).toMatchObject({ balance_kobo: 15_500_00, queued_orders: 1, queue_head: 31, queue_tail: 31 });
  // It would grow with each refund until the account's next claim.
  for (const attribute of ["queue_front", "queue_gaps"]) expect(wallet).not.toHaveProperty(attribute);
  expect(service.arrived()).toEqual([]);
});

test("an account whose refunds cannot be written takes the time of one refund from a run, and the others are sent", async () => {
  const service = await aService();
  const [broken, other] = [await ledger.anAccount(5_000), await ledger.anAccount(1_000)];
  service.refuse(1);
  const overdue = ["one", "two", "three"];
  for (const reference of overdue) await service.buy(broken, reference);
  ledger.nowMs += 15 * MINUTE_MS;
  service.refuse(1);
  await service.buy(other, "one");
  const attempted = new Set<string>();
  beforeEachCall(ledger.db, "transactWrite", ({ TransactItems = [] }) => {
    const [item, wallet] = TransactItems.map(({ Update }) => String(Update?.Key?.pk));
    if (wallet !== `wallet#${broken}`) return;
    attempted.add(String(item));
    throw new Error("throttled");
  });
  expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 4, sent: 1, refunded: 0 });
  expect(attempted.size).toBe(1);
  vi.restoreAllMocks();
  expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 3, sent: 0, refunded: 3 });
});

describe("what an instance of purchase found out about the upstream", () => {
  /** Orders of different accounts by one instance. Returns the accounts. */
  const buyEach = async (service: SellingService, count: number) => {
    const purchase = service.instance();
    const accountIds: string[] = [];
    for (let each = 0; each < count; each += 1) {
      const accountId = await ledger.anAccount(1_000);
      await service.buy(accountId, "one", purchase);
      accountIds.push(accountId);
    }
    return accountIds;
  };
  /** How many requests the upstream gets in the meantime, of a fault that is repeated. */
  const requests = async (service: SellingService, act: () => Promise<unknown>): Promise<number> => {
    const before = service.refusalsLeft();
    await act();
    return before - service.refusalsLeft();
  };

  test("holds back the sender: nothing is sent before the end of a limit of another instance, then one order first", async () => {
    const service = await aService();
    const sender = service.instance();
    await service.buy(await ledger.anAccount(1_000), "before", sender);
    ledger.nowMs += 5_000;
    service.refuse(99, 86_400);
    expect(await requests(service, () => buyEach(service, 3))).toBe(1);
    ledger.nowMs += 28_000;
    expect(await requests(service, () => service.sendAfter(0))).toBe(0);
    expect(await requests(service, () => sender.send())).toBe(0);
    ledger.nowMs += 32_000;
    // It has known since its first order that the upstream takes more than one.
    expect(await requests(service, () => sender.send())).toBe(1);
    expect(await requests(service, () => service.sendAfter(28_000))).toBe(0);
    service.simulator.state.faults.clear();
    expect(await service.sendAfter(32_000)).toEqual({ queued: 3, sent: 3, refunded: 0 });
  });

  test("holds back the sender while something else answers: one order a minute finds out, until the upstream answers", async () => {
    const service = await aService();
    service.answerForeign(99);
    const accountIds = await buyEach(service, 6);
    expect(service.refusalsLeft()).toBe(96);
    expect(await requests(service, () => service.sendAfter(28_000))).toBe(0);
    expect(await requests(service, () => service.sendAfter(32_000))).toBe(1);
    expect(await requests(service, () => service.sendAfter(28_000))).toBe(0);
    service.simulator.state.faults.clear();
    expect(await service.sendAfter(32_000)).toEqual({ queued: 2, sent: 2, refunded: 0 });
    const transactions = await Promise.all(accountIds.map((accountId) => service.transaction(accountId, "one")));
    expect(transactions.filter(({ status }) => status === "success")).toHaveLength(2);
    expect(await readUpstreamPace(service.store)).toMatchObject({ unrecognized_until: "1970-01-01T00:00:00.000Z" });
  });

  test("holds back the other instances of purchase: after the minute one order finds out whether something else answers", async () => {
    const service = await aService();
    service.answerForeign(99);
    await buyEach(service, 3);
    ledger.nowMs += MINUTE_MS;
    expect(await requests(service, () => buyEach(service, 4))).toBe(1);
  });
});

test("where orders do not wait, a refused order is refunded and the next one is refused before its debit, with Retry-After", async () => {
  const service = await aService({ queueMinutes: 0 });
  const accountId = await ledger.anAccount(1_000);
  const instance = service.instance();
  service.refuse(1);
  await expect(service.buy(accountId, "one", instance)).rejects.toMatchObject({ code: "delivery_failed" });
  await expect(service.buy(accountId, "two", instance)).rejects.toMatchObject({
    code: "provider_unavailable",
    details: { retryAfterS: 60 },
  });
  expect(await walletAndCount(ledger, accountId)).toMatchObject({ balance_kobo: 1_000_00 });
  await expect(service.transaction(accountId, "two")).rejects.toThrow("There is no two");
});

test.each([
  ["host", (url: string) => url.replace("127.0.0.1", "localhost")],
  ["path", (url: string) => `${url}/.`],
])(
  "an order that waits when the stage gets an upstream with another %s, which may have other plans under its ids, is refunded, even while the limit is spent",
  async (_part, changed) => {
    const { service, accountId } = await aQueuedOrder();
    const other = await ledger.anAccount(1_000);
    const baseUrl = changed(service.simulator.baseUrl);
    expect(baseUrl).not.toBe(service.simulator.baseUrl);
    const instance = service.instance({ baseUrl });
    // It waits behind the first one, and for the new upstream.
    await service.buy(other, "two", instance);
    ledger.nowMs += 10_000;
    expect(await instance.send()).toEqual({ queued: 2, sent: 0, refunded: 1 });
    ledger.nowMs += MINUTE_MS;
    expect(await instance.send()).toEqual({ queued: 1, sent: 1, refunded: 0 });
    const failure = { code: "provider_unavailable", cause: "upstream_changed" };
    expect(await service.transaction(accountId, "one")).toMatchObject({ status: "failed", failure });
    expect(await service.transaction(other, "two")).toMatchObject({ status: "success" });
    expect(await walletAndCount(ledger, accountId)).toMatchObject({ balance_kobo: 1_000_00, queued_orders: 0 });
  },
);

test("orders that wait when a stage lets none wait any more are refunded, and the next one is sent at once", async () => {
  const { service, accountId } = await aQueuedOrder();
  const changed = service.instance({ queueMinutes: 0 });
  ledger.nowMs += MINUTE_MS;
  const sentAtOnce = await service.buy(accountId, "two", changed);
  expect(sentAtOnce.data?.transaction.status).toBe("success");
  expect(await changed.send()).toEqual({ queued: 1, sent: 0, refunded: 1 });
  expect((await service.transaction(accountId, "one")).failure).toEqual({ code: "provider_unavailable" });
  expect(await walletAndCount(ledger, accountId)).toMatchObject({ balance_kobo: 500_00, queued_orders: 0 });
});

test("an order that another run claims keeps its account listed until the turn of that run is over", async () => {
  const { service, accountId } = await aQueuedOrder();
  ledger.nowMs += MINUTE_MS;
  const { pk } = await service.transaction(accountId, "one");
  expect(await claimAsSender(ledger, await storedQueued(ledger, pk))).toMatchObject({ kind: "claimed" });
  const { turn_until: end = "" } = await walletAndCount(ledger, accountId);
  await service.sendAfter(Date.parse(end) - 1 - ledger.nowMs);
  expect(await walletAndCount(ledger, accountId)).toMatchObject({ open: "queued", turn_until: end });
  await service.sendAfter(1);
  expect(await walletAndCount(ledger, accountId)).not.toHaveProperty("open");
});

test("a queued order has as long upstream as an order that is sent at once, so that its grace period holds", async () => {
  const { service } = await aQueuedOrder();
  await service.sendAfter(MINUTE_MS);
  expect(service.remainingMs).toHaveLength(2);
  for (const ms of service.remainingMs) expect(ms).toBeLessThanOrEqual(29_000);
});

test("of 75 accounts with 2 queued orders each none gets a turn before another, at 60 orders a minute, and none is refused", async () => {
  const service = await aService();
  const accountIds: string[] = [];
  while (accountIds.length < 75) accountIds.push(await ledger.anAccount(1_000));
  service.refuse(1);
  const instance = service.instance();
  for (const reference of ["one", "two"]) {
    for (const accountId of accountIds) await service.buy(accountId, reference, instance);
    ledger.nowMs += 1;
  }
  const turns = async () =>
    Promise.all(
      accountIds.map(async (accountId) => 2 - ((await walletAndCount(ledger, accountId)).queued_orders ?? 0)),
    );
  beforeEachCall(ledger.db, "transactWrite", () => {
    ledger.nowMs += 1;
  });
  for (const [already, sent] of [
    [0, 60],
    [60, 60],
    [120, 30],
  ] as const) {
    ledger.nowMs += MINUTE_MS;
    // As long by the ledger's clock as a slow machine needs.
    const run = service.instance().send(deadlineIn(MINUTE_MS, ledger.clock));
    expect(await run).toEqual({ queued: 150 - already, sent, refunded: 0 });
    const had = await turns();
    expect(Math.max(...had) - Math.min(...had)).toBeLessThanOrEqual(1);
    expect(service.arrived()).toHaveLength(already + sent);
    expect(service.simulator.state.rates.refused).toBe(0);
    // The simulator's minutes are those of this machine.
    service.simulator.state.rates.clear();
  }
});

describe("an account that cannot be read", () => {
  const failReadsOf = (accountId: string): void => {
    beforeEachCall(ledger.db, "batchGet", (input) => {
      if (JSON.stringify(input).includes(walletPk(accountId))) throw new Error("throttled");
    });
  };

  test("does not hold back the others: they are sent, the pace is noted, and its orders wait", async () => {
    const service = await aService();
    const [broken, other] = [await ledger.anAccount(1_000), await ledger.anAccount(1_000)];
    service.refuse(1);
    for (const accountId of [broken, other]) await service.buy(accountId, "one");
    failReadsOf(broken);
    const warn = vi.spyOn(log, "warn");
    expect(await service.sendAfter(6 * MINUTE_MS)).toEqual({ queued: 1, sent: 1, refunded: 0 });
    expect(await service.transaction(other, "one")).toMatchObject({ status: "success" });
    expect(warn.mock.calls).toMatchObject([["queued_orders.not_read", { account: broken }]]);
    expect(await readUpstreamPace(service.store)).toMatchObject({
      queued_orders: 0,
      next_run: isoTime(ledger.nowMs + MINUTE_MS),
    });
    vi.restoreAllMocks();
    expect(await walletAndCount(ledger, broken)).toMatchObject({ queued_orders: 1 });
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 1, sent: 1, refunded: 0 });
  });

  test("as its order that was set aside is of a later release, does not hold back others that were set aside", async () => {
    const service = await aService();
    const [broken, other] = [await ledger.anAccount(1_000), await ledger.anAccount(1_000)];
    service.refuseOrders(2);
    for (const accountId of [broken, other]) await service.buy(accountId, "one");
    const { pk } = await service.transaction(broken, "one");
    await ledger.db.update({
      TableName: ledger.table,
      Key: { pk },
      UpdateExpression: "SET queued.refusals = :refusals",
      ExpressionAttributeValues: { ":refusals": "many" },
    });
    const logged = captureLog();
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 1, sent: 1, refunded: 0 });
    expect(logged.lines("queued_orders.unreadable")).toMatchObject([{ record: pk }]);
  });

  test("is still counted in how long the oldest order waits, so that the alarm comes", async () => {
    const { service, accountId: broken } = await aQueuedOrder();
    failReadsOf(broken);
    const logged = captureLog();
    await service.sendAfter(8 * MINUTE_MS);
    expect(logged.text()).toContain('"OldestQueuedSeconds":480');
    vi.restoreAllMocks();
    await setAccountStatus({ ...ledger.tables, clock: ledger.clock }, broken, "restricted");
    service.refuse(1);
    await service.buy(await ledger.anAccount(1_000), "one");
    const later = captureLog();
    await service.sendAfter(MINUTE_MS);
    // Of a restricted account no order waits for the limit.
    expect(later.text()).toContain('"OldestQueuedSeconds":60');
  });
});

describe("a restricted account", () => {
  const setStatus = (accountId: string, status: "active" | "restricted") =>
    setAccountStatus({ ...ledger.tables, clock: ledger.clock }, accountId, status);

  test("has none of its queued orders sent, and those of others are; they go once it is unrestricted, in their order", async () => {
    const service = await aService();
    const [restricted, other] = [await ledger.anAccount(5_000), await ledger.anAccount(1_000)];
    service.refuse(1);
    for (const reference of ["one", "two"]) await service.buy(restricted, reference);
    await service.buy(other, "one");
    await setStatus(restricted, "restricted");
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 3, sent: 1, refunded: 0 });
    expect(await service.arrivedOf(restricted, ["one", "two"])).toEqual([]);
    // Nobody waits for orders that are not sent.
    ledger.nowMs += 1_000;
    expect((await service.buy(await ledger.anAccount(1_000), "one")).data?.transaction.status).toBe("success");
    await setStatus(restricted, "active");
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 2, sent: 2, refunded: 0 });
    expect(await service.arrivedOf(restricted, ["one", "two"])).toEqual(["one", "two"]);
  });

  test("has its queued orders refunded when their time is over, without an alarm", async () => {
    const { service, accountId } = await aQueuedOrder();
    await setStatus(accountId, "restricted");
    const alarm = vi.spyOn(log, "alarm");
    expect(await service.sendAfter(16 * MINUTE_MS)).toEqual({ queued: 1, sent: 0, refunded: 1 });
    expect(await service.transaction(accountId, "one")).toMatchObject({ failure: { code: "provider_unavailable" } });
    expect(await walletAndCount(ledger, accountId)).toMatchObject({ balance_kobo: 1_000_00, restricted: true });
    expect(alarm).not.toHaveBeenCalled();
  });
});

describe("an order that the upstream refuses by itself, although its limit is not spent", () => {
  test("is set aside: others are sent at once, and it is sent again by the next run", async () => {
    const service = await aService();
    const accountId = await ledger.anAccount(5_000);
    service.refuseOrders(1);
    const refused = await service.buy(accountId, "one");
    expect(refused.data?.transaction.status).toBe("processing");
    expect(refused.headers).not.toHaveProperty("x-estimated-delivery");
    expect((await service.buy(accountId, "two")).data?.transaction.status).toBe("success");
    expect((await service.buy(await ledger.anAccount(1_000), "one")).data?.transaction.status).toBe("success");
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 1, sent: 1, refunded: 0 });
    expect(await service.transaction(accountId, "one")).toMatchObject({ status: "success" });
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 0, sent: 0, refunded: 0 });
  });

  test("is refunded beside those of other accounts: one whose refund gets no answer does not hold them back", async () => {
    const service = await aService();
    service.refuseOrders(2);
    for (const accountId of [await ledger.anAccount(1_000), await ledger.anAccount(1_000)])
      await service.buy(accountId, "one");
    let refunds = 0;
    beforeEachCall(ledger.db, "transactWrite", async () => {
      refunds += 1;
      await until("both are being refunded", () => refunds >= 2);
    });
    expect(await service.sendAfter(16 * MINUTE_MS)).toEqual({ queued: 2, sent: 0, refunded: 2 });
  });

  test("is one of its account's in a run, the oldest, and is no longer one if another run has claimed it", async () => {
    const service = await aService();
    const accountId = await ledger.anAccount(5_000);
    service.refuseOrders(2);
    for (const reference of ["one", "two"]) {
      await service.buy(accountId, reference);
      ledger.nowMs += 1;
    }
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 2, sent: 1, refunded: 0 });
    expect(await service.arrivedOf(accountId, ["one", "two"])).toEqual(["one"]);
    const { pk } = await service.transaction(accountId, "two");
    beforeEachCall(ledger.db, "get", async ({ Key }) => {
      if (Key?.pk !== pk) return;
      vi.restoreAllMocks();
      await claimAsSender(ledger, await storedQueued(ledger, pk));
    });
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 0, sent: 0, refunded: 0 });
  });

  test("is never sent ahead of the orders in its account's queue, nor while its account is restricted", async () => {
    const service = await aService();
    const accountId = await ledger.anAccount(5_000);
    service.refuseOrders(1);
    await service.buy(accountId, "aside");
    service.refuse(1);
    await service.buy(accountId, "one");
    // The limit is free again within the run.
    service.refuse(1, 0);
    expect(await service.sendAfter(MINUTE_MS)).toMatchObject({ sent: 0 });
    expect(service.arrived()).toEqual([]);
    const store = { ...ledger.tables, clock: ledger.clock };
    await setAccountStatus(store, accountId, "restricted");
    expect(await service.sendAfter(MINUTE_MS)).toMatchObject({ sent: 0 });
    await setAccountStatus(store, accountId, "active");
    expect(await service.sendAfter(MINUTE_MS)).toMatchObject({ sent: 2 });
    expect(await service.arrivedOf(accountId, ["aside", "one"])).toEqual(["one", "aside"]);
  });
});
