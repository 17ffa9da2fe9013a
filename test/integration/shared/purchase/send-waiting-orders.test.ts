import { TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { catalogMemory } from "../../../../shared/catalog/catalog-memory.ts";
import { snapshotOf } from "../../../../shared/catalog/snapshot.ts";
import type { Mode } from "../../../../shared/contract/transaction.ts";
import { findByCallerReference, readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import type { Ledger } from "../../../../shared/ledger/ledger.ts";
import { referenceOf } from "../../../../shared/ledger/transaction.ts";
import { type ClaimedOrder, claimOrder, isWaitingOrder } from "../../../../shared/ledger/waiting-order.ts";
import { readWallet, walletWaitingOrder } from "../../../../shared/ledger/wallet.ts";
import { orderGate } from "../../../../shared/orders/order-gate.ts";
import type { OutcomeMessage } from "../../../../shared/orders/outcome-queue.ts";
import { waitMessageOf } from "../../../../shared/orders/place-order.ts";
import { writePurchasesSwitch } from "../../../../shared/orders/purchases-switch.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { loadKeyedHashes } from "../../../../shared/platform/keyed-hashes.ts";
import { log } from "../../../../shared/platform/log.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { buyData } from "../../../../shared/purchase/buy-data.ts";
import { sendWaitingOrders } from "../../../../shared/purchase/send-waiting-orders.ts";
import { type HttpUpstream, httpUpstream } from "../../../../shared/upstream/http-upstream.ts";
import { sandboxUpstream } from "../../../../shared/upstream/sandbox.ts";
import { applyOutcomeMessage } from "../../../../shared/upstream-events/apply-upstream-event.ts";
import { aCatalog, aPlan } from "../../../builders/catalog.ts";
import { copyTable } from "../../../builders/copy-table.ts";
import { type LedgerAtNoon, openLedgerAtNoon } from "../../../builders/ledger-at-noon.ts";
import { aSimulator, LIVE_KEY, SOME_PHONE } from "../../../builders/upstream-simulator.ts";

/** Goal: an order that the upstream's rate limit refuses is sent later, once, in its account's order, or refunded. */
const key = "k".repeat(32);
const keyedHashes = loadKeyedHashes({ value: async () => key, refetch: async () => key });
const MINUTE_MS = 60_000;

let ledger: LedgerAtNoon;
beforeEach(async () => {
  ledger = await openLedgerAtNoon();
});

const aService = async ({ waitingMinutes = 15 } = {}) => {
  const simulator = await aSimulator();
  const queued: { message: OutcomeMessage; delayS: number }[] = [];
  const cache = { db: ledger.tables.db, table: ledger.tables.cacheTable };
  const store = { ...cache, initially: "on" as const };
  let plans = [aPlan({ id: 101 })];
  /** Called by a run once it has read the waiting orders. */
  let beforeTurns = async (): Promise<void> => {};
  /** How long each order had when it was sent. */
  const remainingMs: number[] = [];
  /** A new instance of each function: nothing is cached in it. */
  const instance = (inLedger: Ledger = ledger) => {
    const liveKey = { value: async () => LIVE_KEY, refetch: async () => LIVE_KEY };
    const client = httpUpstream({ baseUrl: simulator.baseUrl, liveKey, clock: ledger.clock });
    const upstream: HttpUpstream = {
      ...client,
      buy: (order, reference, deadline) => {
        remainingMs.push(deadline.remainingMs());
        return client.buy(order, reference, deadline);
      },
    };
    const common = {
      ledger: inLedger,
      cache,
      outcomeQueue: { send: async (message: OutcomeMessage, delayS: number) => void queued.push({ message, delayS }) },
      gate: orderGate(store, ledger.clock, "vtu"),
      catalog: catalogMemory(
        {
          read: async () => {
            await beforeTurns();
            return snapshotOf(aCatalog(1, { data_plans: plans }), ledger.nowMs);
          },
        },
        ledger.clock,
      ),
      waitingMinutes,
    };
    return {
      buy: buyData({ ...common, keyedHashes, upstreams: { live: upstream, test: sandboxUpstream } }),
      send: () => sendWaitingOrders({ ...common, upstream }, deadlineIn(60_000)),
    };
  };
  return {
    simulator,
    queued,
    store,
    remainingMs,
    duringTheNextRun: (act: () => Promise<void>) => {
      beforeTurns = async () => {
        beforeTurns = async () => {};
        await act();
      };
    },
    withdrawPlan: () => {
      plans = [aPlan({ id: 102 })];
    },
    /** One order by a new instance of `purchase`, or by this one. */
    buy: (accountId: string, reference: string, { buy } = instance(), mode: Mode = "live") =>
      buy({
        input: { network_id: 1, plan_id: 101, phone_number: SOME_PHONE, reference },
        caller: { accountId, keyId: "key_1", mode },
        deadline: deadlineIn(29_000),
      }),
    instance,
    /** One run of the sender by a new instance, so much later. */
    sendAfter: (ms: number, inLedger: Ledger = ledger) => {
      ledger.nowMs += ms;
      return instance(inLedger).send();
    },
    refuse: (times: number, retryAfterS = 60) =>
      simulator.state.faults.add({ kind: "rate_limited", times, retry_after_s: retryAfterS, method: "POST" }),
    transaction: async (accountId: string, reference: string) => {
      const found = await findByCallerReference(ledger, await keyedHashes(), { accountId, mode: "live" }, reference);
      if (found === undefined) throw new Error(`There is no ${reference}`);
      return found;
    },
    arrived: () => simulator.state.purchases.map(({ reference }) => reference),
  };
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
      open: `waiting#${accountId}`,
    });
    expect(await readWallet(ledger, accountId)).toMatchObject({ balance_kobo: 500_00, waiting_orders: 1 });

    expect(await service.sendAfter(MINUTE_MS)).toEqual({ waiting: 1, sent: 1, refunded: 0 });
    expect(await service.transaction(accountId, "one")).toMatchObject({ status: "success" });
    expect(await readWallet(ledger, accountId)).toMatchObject({ balance_kobo: 500_00, waiting_orders: 0 });
    expect(service.arrived()).toHaveLength(1);

    expect(await service.sendAfter(MINUTE_MS)).toEqual({ waiting: 0, sent: 0, refunded: 0 });
    expect(await readWallet(ledger, accountId)).not.toHaveProperty("waiting_orders");
    expect(service.queued).toEqual([]);
  });

  test("is not overtaken by the next orders of its account, and they are sent in their order", async () => {
    const service = await aService();
    const accountId = await ledger.anAccount(5_000);
    service.refuse(1);
    const references = ["one", "two", "three", "four"];
    for (const reference of references) {
      await service.buy(accountId, reference);
      ledger.nowMs += 1;
    }
    expect(service.arrived()).toEqual([]);
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ waiting: 4, sent: 4, refunded: 0 });
    const sent = await Promise.all(references.map((reference) => service.transaction(accountId, reference)));
    expect(sent.map(({ status }) => status)).toEqual(["success", "success", "success", "success"]);
    expect(service.arrived()).toEqual(sent.map(referenceOf));
  });

  test("waits on after a second refusal, and is refunded after 15 minutes", async () => {
    const service = await aService();
    const accountId = await ledger.anAccount(1_000);
    service.refuse(2);
    await service.buy(accountId, "one");
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ waiting: 1, sent: 0, refunded: 0 });
    expect(await readWallet(ledger, accountId)).toMatchObject({ balance_kobo: 500_00, waiting_orders: 1 });
    expect(await service.sendAfter(14 * MINUTE_MS + 1_000)).toEqual({ waiting: 1, sent: 0, refunded: 1 });
    expect(await service.transaction(accountId, "one")).toMatchObject({
      status: "failed",
      failure: { code: "provider_unavailable" },
    });
    expect(await readWallet(ledger, accountId)).toMatchObject({ balance_kobo: 1_000_00, waiting_orders: 0 });
    expect(service.arrived()).toEqual([]);
  });

  test("is not overtaken by the next orders of its account, even if the limit is free again within the same run", async () => {
    const service = await aService();
    const [accountId, other] = [await ledger.anAccount(5_000), await ledger.anAccount(5_000)];
    service.refuse(1);
    for (const reference of ["one", "two"]) {
      await service.buy(accountId, reference);
      ledger.nowMs += 1;
    }
    await service.buy(other, "three");
    // The request and its one repetition.
    service.refuse(2, 0);
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ waiting: 3, sent: 1, refunded: 0 });
    expect(await service.transaction(other, "three")).toMatchObject({ status: "success" });
    expect(await readWallet(ledger, accountId)).toMatchObject({ waiting_orders: 2 });
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ waiting: 2, sent: 2, refunded: 0 });
    const [, ...own] = service.arrived();
    const sent = await Promise.all(["one", "two"].map((reference) => service.transaction(accountId, reference)));
    expect(own).toEqual(sent.map(referenceOf));
  });

  test("is refunded if its plan was withdrawn meanwhile", async () => {
    const service = await aService();
    const accountId = await ledger.anAccount(1_000);
    service.refuse(1);
    await service.buy(accountId, "one");
    service.withdrawPlan();
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ waiting: 1, sent: 0, refunded: 1 });
    expect(await service.transaction(accountId, "one")).toMatchObject({ failure: { code: "plan_unavailable" } });
  });

  test("stays as it is while purchases are off", async () => {
    const service = await aService();
    const accountId = await ledger.anAccount(1_000);
    service.refuse(1);
    await service.buy(accountId, "one");
    await writePurchasesSwitch(service.store, { purchases: "off", since: isoTime(ledger.nowMs), by: "ada" });
    expect(await service.sendAfter(20 * MINUTE_MS)).toEqual({ waiting: 1, sent: 0, refunded: 0 });
    expect(await readWallet(ledger, accountId)).toMatchObject({ balance_kobo: 500_00, waiting_orders: 1 });
    await writePurchasesSwitch(service.store, { purchases: "on", since: isoTime(ledger.nowMs), by: "ada" });
    expect(await service.sendAfter(0)).toEqual({ waiting: 1, sent: 0, refunded: 1 });
  });
});

describe("an order that waited at the time of a backup", () => {
  const REFERENCE = "one";
  /** An order waits at the moment of a backup, is sent after it, and the backup is adopted without a carry-over. */
  const aRestoredService = async () => {
    const service = await aService();
    const accountId = await ledger.anAccount(1_000);
    service.refuse(1);
    await service.buy(accountId, REFERENCE);
    const table = await copyTable(ledger.db, "ledger", ledger.table);
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ waiting: 1, sent: 1, refunded: 0 });
    Object.assign(ledger, { table });
    return { service, accountId };
  };

  test.each([0, 60])(
    "is neither sent again nor refunded %i minutes later, and raises an alarm once",
    async (minutes) => {
      const { service, accountId } = await aRestoredService();
      const alarm = vi.spyOn(log, "alarm");
      expect(await service.sendAfter(minutes * MINUTE_MS)).toEqual({ waiting: 1, sent: 0, refunded: 0 });
      expect(await service.transaction(accountId, REFERENCE)).toMatchObject({ status: "processing", open: "live" });
      expect(await readWallet(ledger, accountId)).toMatchObject({ balance_kobo: 500_00, waiting_orders: 0 });
      expect(service.arrived()).toHaveLength(1);
      expect(await service.sendAfter(MINUTE_MS)).toEqual({ waiting: 0, sent: 0, refunded: 0 });
      const reference = `DATA_${(await service.transaction(accountId, REFERENCE)).pk.slice("transaction#".length)}`;
      expect(alarm.mock.calls).toEqual([["order.not_sent_after_restore", { reference }]]);
      expect(service.queued).toEqual([]);
    },
  );

  test("does not begin to wait in the copy if its claim there gets no answer", async () => {
    const { service, accountId } = await aRestoredService();
    const send = ledger.db.send.bind(ledger.db);
    const broken = vi.spyOn(ledger.db, "send").mockImplementation(async (command) => {
      if (command instanceof TransactWriteCommand) throw new Error("cut off");
      return send(command);
    });
    expect(await service.sendAfter(0)).toEqual({ waiting: 1, sent: 0, refunded: 0 });
    expect(service.queued).toEqual([]);
    broken.mockRestore();
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ waiting: 1, sent: 0, refunded: 0 });
    expect(await service.transaction(accountId, REFERENCE)).toMatchObject({ status: "processing", open: "live" });
    expect(service.arrived()).toHaveLength(1);
    expect(service.queued).toEqual([]);
  });
});

test("the late message that an order has to wait does not send it again from a ledger that was restored to before its wait", async () => {
  const service = await aService();
  const accountId = await ledger.anAccount(1_000);
  const transaction = await ledger.anOpenTransaction(accountId);
  const restored = { ...ledger, table: await copyTable(ledger.db, "ledger", ledger.table) };
  const message = waitMessageOf(ledger, transaction, { kind: "data", network_id: 1, plan_id: 101 });
  const applyIn = (inLedger: Ledger) =>
    applyOutcomeMessage({ ledger: inLedger, keyedHashes })(message, deadlineIn(20_000));
  await applyIn(ledger);
  expect(await service.sendAfter(MINUTE_MS)).toEqual({ waiting: 1, sent: 1, refunded: 0 });
  await applyIn(restored);
  const alarm = vi.spyOn(log, "alarm");
  expect(await service.sendAfter(MINUTE_MS, restored)).toEqual({ waiting: 1, sent: 0, refunded: 0 });
  expect(service.arrived()).toHaveLength(1);
  expect(alarm.mock.calls).toEqual([["order.not_sent_after_restore", { reference: referenceOf(transaction) }]]);
  expect(await readTransaction(restored, transaction.pk)).toMatchObject({ status: "processing", open: "live" });
});

test("orders do not wait for an order that only a wallet's number counts, as after its settlement by an earlier release", async () => {
  const service = await aService();
  const [counted, other] = [await ledger.anAccount(1_000), await ledger.anAccount(1_000)];
  await ledger.db.send(new UpdateCommand(walletWaitingOrder(ledger, counted).Update));
  expect(await service.sendAfter(2 * MINUTE_MS)).toEqual({ waiting: 0, sent: 0, refunded: 0 });
  ledger.nowMs += 1_000;
  expect((await service.buy(other, "one")).data?.transaction.status).toBe("success");
});

test("an account whose waiting orders cannot be read does not hold back the others", async () => {
  const service = await aService();
  const [broken, other] = [await ledger.anAccount(1_000), await ledger.anAccount(1_000)];
  service.refuse(1);
  for (const accountId of [broken, other]) await service.buy(accountId, "one");
  await ledger.db.send(
    new UpdateCommand({
      TableName: ledger.table,
      Key: { pk: (await service.transaction(broken, "one")).pk },
      UpdateExpression: "SET waiting.#order.kind = :kind",
      ExpressionAttributeNames: { "#order": "order" },
      ExpressionAttributeValues: { ":kind": "of a later release" },
    }),
  );
  const alarm = vi.spyOn(log, "alarm");
  expect(await service.sendAfter(MINUTE_MS)).toEqual({ waiting: 1, sent: 1, refunded: 0 });
  expect(await service.transaction(other, "one")).toMatchObject({ status: "success" });
  expect(alarm.mock.calls).toEqual([["waiting_orders.unreadable", expect.objectContaining({ account: broken })]]);
});

test("an upstream that refuses all orders with Retry-After 0 is asked for one waiting order a second", async () => {
  const service = await aService();
  const accountIds = [await ledger.anAccount(1_000), await ledger.anAccount(1_000), await ledger.anAccount(1_000)];
  service.refuse(99, 0);
  for (const accountId of accountIds) await service.buy(accountId, "one");
  const begunMs = performance.now();
  expect(await service.sendAfter(MINUTE_MS)).toEqual({ waiting: 3, sent: 0, refunded: 0 });
  expect(performance.now() - begunMs).toBeGreaterThan(2_900);
  for (const accountId of accountIds) expect(await readWallet(ledger, accountId)).toMatchObject({ waiting_orders: 1 });
});

test("no order is refunded any more once purchases are switched off within a run", async () => {
  const service = await aService();
  const accountId = await ledger.anAccount(1_000);
  service.refuse(1);
  await service.buy(accountId, "one");
  service.duringTheNextRun(async () => {
    await writePurchasesSwitch(service.store, { purchases: "off", since: isoTime(ledger.nowMs), by: "ada" });
    ledger.nowMs += 11_000;
  });
  expect(await service.sendAfter(16 * MINUTE_MS)).toEqual({ waiting: 1, sent: 0, refunded: 0 });
  expect(await readWallet(ledger, accountId)).toMatchObject({ balance_kobo: 500_00, waiting_orders: 1 });
});

test("all orders of an account that waited for too long are refunded in one run, even while the limit is spent", async () => {
  const service = await aService();
  const accountId = await ledger.anAccount(31_000);
  const instance = service.instance();
  service.refuse(2);
  for (let order = 0; order < 60; order += 1) await service.buy(accountId, `order-${order}`, instance);
  ledger.nowMs += 16 * MINUTE_MS;
  await service.buy(accountId, "young", instance);
  // The order of another account spends the limit again.
  await service.buy(await ledger.anAccount(1_000), "other", instance);
  ledger.nowMs += 10_000;
  expect(await instance.send()).toEqual({ waiting: 62, sent: 0, refunded: 60 });
  expect(await readWallet(ledger, accountId)).toMatchObject({ balance_kobo: 30_500_00, waiting_orders: 1 });
  expect(service.arrived()).toEqual([]);
});

test("orders of other accounts wait too once an instance has noted that the limit is spent, until nothing waits", async () => {
  const service = await aService();
  const [first, second] = [await ledger.anAccount(1_000), await ledger.anAccount(1_000)];
  service.refuse(1);
  await service.buy(first, "one");
  const { headers } = await service.buy(second, "two");
  expect(headers).toHaveProperty("x-estimated-delivery");
  expect(service.arrived()).toEqual([]);
  expect(await service.sendAfter(MINUTE_MS)).toEqual({ waiting: 2, sent: 2, refunded: 0 });
  ledger.nowMs += 1_000;
  expect((await service.buy(second, "three")).data?.transaction.status).toBe("success");
});

test("where orders do not wait, a refused order is refunded and the next one is refused before its debit, with Retry-After", async () => {
  const service = await aService({ waitingMinutes: 0 });
  const accountId = await ledger.anAccount(1_000);
  const instance = service.instance();
  service.refuse(1);
  await expect(service.buy(accountId, "one", instance)).rejects.toMatchObject({ code: "delivery_failed" });
  await expect(service.buy(accountId, "two", instance)).rejects.toMatchObject({
    code: "provider_unavailable",
    details: { retryAfterS: 60 },
  });
  expect(await readWallet(ledger, accountId)).toMatchObject({ balance_kobo: 1_000_00 });
  await expect(service.transaction(accountId, "two")).rejects.toThrow("There is no two");
});

/** Another run claims the order: it is about to send it. */
const claim = async (service: Awaited<ReturnType<typeof aService>>, accountId: string): Promise<ClaimedOrder> => {
  const order = await service.transaction(accountId, "one");
  if (!isWaitingOrder(order)) throw new Error("The order does not wait");
  const result = await claimOrder(ledger, order, deadlineIn(20_000));
  if (result.kind !== "claimed") throw new Error(`The order is ${result.kind}`);
  return result.claimed;
};

describe("an order that another run claims meanwhile", () => {
  test.each([
    ["has waited for too long", 16 * MINUTE_MS, () => {}],
    [
      "has lost its plan",
      MINUTE_MS,
      (service: Awaited<ReturnType<typeof aService>>) => {
        service.withdrawPlan();
      },
    ],
  ])(
    "is not refunded by a run that finds that it %s, because it may be on its way upstream",
    async (_name, ms, prepare) => {
      const service = await aService();
      const accountId = await ledger.anAccount(1_000);
      service.refuse(1);
      await service.buy(accountId, "one");
      prepare(service);
      let claimed: ClaimedOrder | undefined;
      service.duringTheNextRun(async () => {
        claimed = await claim(service, accountId);
      });
      expect(await service.sendAfter(ms)).toEqual({ waiting: 1, sent: 0, refunded: 0 });
      expect(await service.transaction(accountId, "one")).toMatchObject({
        status: "processing",
        claim: claimed?.claim,
      });
      expect(await readWallet(ledger, accountId)).toMatchObject({ balance_kobo: 500_00, waiting_orders: 0 });
    },
  );

  test("is sent by one of two simultaneous runs", async () => {
    const service = await aService();
    const accountId = await ledger.anAccount(5_000);
    service.refuse(1);
    for (const reference of ["one", "two", "three"]) await service.buy(accountId, reference);
    const runs = await Promise.all([service.sendAfter(MINUTE_MS), service.sendAfter(0)]);
    expect(runs.reduce((total, { sent }) => total + sent, 0)).toBe(3);
    expect(new Set(service.arrived()).size).toBe(3);
    expect(service.arrived()).toHaveLength(3);
    expect(await readWallet(ledger, accountId)).toMatchObject({ balance_kobo: 3_500_00, waiting_orders: 0 });
  });
});

test("an order of another ledger than this one is neither sent nor refunded, however long it waits: it may have been sent since the copy", async () => {
  const service = await aService();
  const accountId = await ledger.anAccount(1_000);
  service.refuse(1);
  await service.buy(accountId, "one");
  const restored = { ...ledger, table: await copyTable(ledger.db, "ledger", ledger.table) };
  service.withdrawPlan();
  const logged = vi.spyOn(console, "log").mockImplementation(() => undefined);
  expect(await service.sendAfter(20 * MINUTE_MS, restored)).toEqual({ waiting: 1, sent: 0, refunded: 0 });
  expect(logged.mock.calls.flat().join()).toContain("order.not_sent_after_restore");
  const { pk } = await service.transaction(accountId, "one");
  const unknown = await readTransaction(restored, pk);
  expect(unknown).toMatchObject({ status: "processing", open: "live" });
  expect(unknown).not.toHaveProperty("waiting");
  expect(await readWallet(restored, accountId)).toMatchObject({ balance_kobo: 500_00, waiting_orders: 0 });
  expect(service.arrived()).toEqual([]);
});

test("a waiting order has as long upstream as an order that is sent at once, so that its grace period holds", async () => {
  const service = await aService();
  const accountId = await ledger.anAccount(1_000);
  service.refuse(1);
  await service.buy(accountId, "one");
  await service.sendAfter(MINUTE_MS);
  expect(service.remainingMs).toHaveLength(2);
  for (const ms of service.remainingMs) expect(ms).toBeLessThanOrEqual(29_000);
});

test("an order that waited for too long is refunded once, with one alarm", async () => {
  const service = await aService();
  const accountId = await ledger.anAccount(1_000);
  service.refuse(1);
  await service.buy(accountId, "one");
  const logged = vi.spyOn(console, "log").mockImplementation(() => undefined);
  expect(await service.sendAfter(16 * MINUTE_MS)).toEqual({ waiting: 1, sent: 0, refunded: 1 });
  const alarms = logged.mock.calls.map(String).filter((line) => line.includes("order.waited_too_long"));
  expect(alarms).toHaveLength(1);
  expect(await readWallet(ledger, accountId)).toMatchObject({ balance_kobo: 1_000_00, waiting_orders: 0 });
});

test("of 75 accounts with 2 waiting orders each none gets a turn before another, at 60 orders a minute, and none is refused", async () => {
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
    Promise.all(accountIds.map(async (accountId) => 2 - ((await readWallet(ledger, accountId)).waiting_orders ?? 0)));
  const ticking = setInterval(() => {
    ledger.nowMs += 1;
  }, 1);
  onTestFinished(() => clearInterval(ticking));
  for (const [already, sent] of [
    [0, 60],
    [60, 60],
    [120, 30],
  ] as const) {
    expect(await service.sendAfter(MINUTE_MS)).toEqual({ waiting: 150 - already, sent, refunded: 0 });
    const had = await turns();
    expect(Math.max(...had) - Math.min(...had)).toBeLessThanOrEqual(1);
    expect(service.arrived()).toHaveLength(already + sent);
    expect(service.simulator.state.rates.refused).toBe(0);
    // The simulator's minutes are those of this machine.
    service.simulator.state.rates.clear();
  }
});
