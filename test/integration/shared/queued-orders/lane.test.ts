import { setTimeout as sleep } from "node:timers/promises";
import { TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "#zod";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { referenceOf } from "../../../../shared/ledger/transaction.ts";
import { emptyWallet, readWallet, type Wallet, walletRestriction } from "../../../../shared/ledger/wallet.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import {
  endInLane,
  type Lane,
  nextOrder,
  openLane,
  readMore,
  unlessUnreadable,
} from "../../../../shared/queued-orders/lane.ts";
import { queuedNumbers, queueLength, queueOf } from "../../../../shared/queued-orders/order-queue.ts";
import { enqueueOrder } from "../../../../shared/queued-orders/queue-store.ts";
import { walletQueueJoin } from "../../../../shared/queued-orders/wallet-queue.ts";
import { hideFromIndex } from "../../../builders/dynamodb/hide-from-index.ts";
import { type LedgerAtNoon, openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { claimAsSender, queuedCount, storedQueued, walletAndCount } from "../../../builders/ledger/queued-order.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { aSellingService, type SellingService } from "../../../builders/service/selling-service.ts";

/**
 * Goal: the requests of an account's queued orders begin in the order in which the orders were placed, whatever happens
 * to their claims, and no later order is sent before them. Method: five orders wait, and one of them meets a fault.
 */
const references = ["one", "two", "three", "four", "five"] as const;

let ledger: LedgerAtNoon;
beforeEach(async () => {
  ledger = await openLedgerAtNoon();
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Five orders of one account wait, in their order. */
const fiveOrders = async () => {
  const service = await aSellingService(ledger);
  const accountId = await ledger.anAccount(5_000);
  service.refuse(1);
  for (const reference of references) await service.buy(accountId, reference);
  ledger.nowMs += MINUTE_MS;
  return { service, accountId, order: () => service.arrivedOf(accountId, references) };
};

const names = z.object({ UpdateExpression: z.optional(z.string()) });
const isClaim = (command: unknown): boolean =>
  command instanceof TransactWriteCommand &&
  (command.input.TransactItems ?? []).some(({ Update }) =>
    names.safeParse(Update).data?.UpdateExpression?.includes("#claim = :claim"),
  );

/** Has a fault hit calls of all instances: it gets the call, and what sends it. */
const intercept = (fault: (command: unknown, send: () => Promise<unknown>) => Promise<unknown>): void => {
  const send = ledger.db.send.bind(ledger.db);
  vi.spyOn(ledger.db, "send").mockImplementation((command) => fault(command, () => send(command)));
};

describe("the order that is sent next", () => {
  const MISSING_MS = 5 * MINUTE_MS;

  /** Three orders wait, of which the index lists some. `waitedMs`: since when those wait. */
  const aLane = (listed: readonly number[], waitedMs = 0, ofWallet: Partial<Wallet> = {}): Lane => {
    const wallet = { ...emptyWallet("acc_1", NOON_MS), queue_tail: 3, queue_head: 1, ...ofWallet };
    const order = (number: number) => ({
      ...aTransaction({ updated_at: isoTime(NOON_MS - waitedMs) }),
      queued: { order: { kind: "airtime", network: "mtn" } as const, table: "ledger", number },
    });
    return {
      ...{ wallet, queue: queueOf(wallet), orders: new Map(listed.map((number) => [number, order(number)])) },
      ...{ isListed: true, next: undefined, turnUntil: undefined, hasTurn: false, isHeld: false },
    };
  };
  const nextOf = async (lane: Lane) => {
    const logged = captureLog();
    const order = await nextOrder(ledger, lane);
    return { number: order?.queued.number, isHeld: lane.isHeld, alarms: logged.lines("queued_orders.missing").length };
  };

  test("is the first one; there is none in a lane that is held, or without orders", async () => {
    expect(await nextOf(aLane([1, 2, 3]))).toEqual({ number: 1, isHeld: false, alarms: 0 });
    const held = { ...aLane([1, 2, 3]), isHeld: true };
    expect(await nextOf(held)).toEqual({ number: undefined, isHeld: true, alarms: 0 });
    const none = aLane([1, 2, 3], 0, { queue_head: 4 });
    expect(await nextOf(none)).toEqual({ number: undefined, isHeld: false, alarms: 0 });
    const one = aLane([1, 2, 3]);
    endInLane(one, 1);
    expect([...queuedNumbers(one.queue), ...one.orders.keys()]).toEqual([2, 3, 2, 3]);
    expect(await nextOf(one)).toMatchObject({ number: 2 });
  });

  test("is found without reading a page, if it is there; if it may be on the next page, it is none while that fails", async () => {
    vi.spyOn(ledger.db, "query").mockRejectedValue(new Error("throttled"));
    const next = { pk: "transaction#1", listed_at: isoTime(NOON_MS) };
    expect(await nextOf({ ...aLane([1]), next })).toEqual({ number: 1, isHeld: false, alarms: 0 });
    expect(await nextOf({ ...aLane([2], MISSING_MS), next })).toEqual({ number: undefined, isHeld: true, alarms: 0 });
  });

  test.each<[string, number, Partial<Wallet>, number | undefined]>([
    ["for less than 5 minutes", MISSING_MS - 1, {}, undefined],
    ["for 5 minutes", MISSING_MS, {}, 2],
    [
      "for 5 minutes, but not since the missing one waits again",
      MISSING_MS,
      { queue_head: 2, queue_front: new Set([1]), queue_front_at: isoTime(NOON_MS - MISSING_MS + 1) },
      undefined,
    ],
    [
      "for 5 minutes since the missing one waits again",
      MISSING_MS,
      { queue_head: 2, queue_front: new Set([1]), queue_front_at: isoTime(NOON_MS - MISSING_MS) },
      2,
    ],
    [
      "for 5 minutes, after one waited again that was claimed since",
      MISSING_MS,
      { queue_head: 1, queue_front_at: isoTime(NOON_MS) },
      2,
    ],
  ])(
    "is the second one if the index lacks the first and the second waits %s",
    async (_, waitedMs, ofWallet, number) => {
      const isHeld = number === undefined;
      expect(await nextOf(aLane([2, 3], waitedMs, ofWallet))).toEqual({ number, isHeld, alarms: isHeld ? 0 : 1 });
    },
  );

  test("is none if the index lists none of them", async () => {
    expect(await nextOf(aLane([], MISSING_MS))).toEqual({ number: undefined, isHeld: true, alarms: 0 });
  });

  test("is none while the page that may have it cannot be read, however long those on the page before wait", async () => {
    const accountId = await ledger.anAccount(15_000);
    // The clock of the instance that took the first one was ahead, so that it is on the second page.
    for (let number = 1; number <= 26; number += 1) {
      const created_at = isoTime(NOON_MS + (number === 1 ? MINUTE_MS : number));
      const transaction = await ledger.anOpenTransaction(accountId, { created_at, listed_at: created_at });
      await enqueueOrder(ledger, transaction, { kind: "airtime", network: "mtn" }, deadlineIn(29_000));
    }
    const open = () => openLane(ledger, accountId);
    const [lane, later, whole] = [await open(), await open(), await open()];
    if (lane === undefined || later === undefined || whole === undefined) expect.unreachable();
    expect([await readMore(ledger, whole), whole.orders.size, await readMore(ledger, whole)]).toEqual([
      true,
      26,
      false,
    ]);
    expect([lane.orders.size, lane.isListed, lane.isHeld, lane.hasTurn]).toEqual([25, true, false, false]);
    ledger.nowMs += 6 * MINUTE_MS;
    vi.spyOn(ledger.db, "query").mockRejectedValue(new Error("throttled"));
    const logged = captureLog();
    expect(await nextOf(lane)).toEqual({ number: undefined, isHeld: true, alarms: 0 });
    expect(await open()).toBeUndefined();
    const notRead = { event: "queued_orders.not_read", account: accountId };
    expect(logged.lines()).toMatchObject([notRead, notRead]);
    vi.restoreAllMocks();
    expect(await nextOf(later)).toEqual({ number: 1, isHeld: false, alarms: 0 });
    expect([later.orders.size, later.next, await readMore(ledger, later)]).toEqual([26, undefined, false]);
  });

  test("is none if the index lists none of an account that counts one", async () => {
    const accountId = await ledger.anAccount(1_000);
    await ledger.db.update(walletQueueJoin(ledger, accountId, queueOf(await readWallet(ledger, accountId))).Update);
    const lane = await openLane(ledger, accountId);
    if (lane === undefined) expect.unreachable();
    expect([queueLength(lane.queue), lane.isListed, lane.next]).toEqual([1, false, undefined]);
    expect(await nextOf(lane)).toEqual({ number: undefined, isHeld: true, alarms: 0 });
  });

  test("is none of an account that cannot be read: a fault is a warning, and an item of a later release an alarm", async () => {
    const logged = captureLog();
    const account = { account: "acc_1" };
    expect(await unlessUnreadable(account, () => Promise.reject(new Error("throttled")))).toBeUndefined();
    expect(await unlessUnreadable(account, async () => z.int().parse("later"))).toBeUndefined();
    expect(await unlessUnreadable(account, async () => "read")).toBe("read");
    expect(logged.lines()).toMatchObject([
      { ...account, level: "warn", event: "queued_orders.not_read", error: "Error" },
      { ...account, level: "error", event: "queued_orders.unreadable", Alarms: 1 },
    ]);
  });

  test("is none while another run has the turn, or the account is restricted", async () => {
    const accountId = await ledger.anAccount(1_000);
    const transactions = [await ledger.anOpenTransaction(accountId), await ledger.anOpenTransaction(accountId)];
    for (const transaction of transactions) {
      await enqueueOrder(ledger, transaction, { kind: "airtime", network: "mtn" }, deadlineIn(29_000));
    }
    const heldIn = async () => (await openLane(ledger, accountId))?.isHeld;
    expect(await heldIn()).toBe(false);
    await claimAsSender(ledger, await storedQueued(ledger, transactions[0]?.pk ?? ""));
    const { turn_until = "" } = await readWallet(ledger, accountId);
    expect((await openLane(ledger, accountId))?.turnUntil).toBe(turn_until);
    ledger.nowMs = Date.parse(turn_until) - 1;
    expect(await heldIn()).toBe(true);
    ledger.nowMs += 1;
    expect(await heldIn()).toBe(false);
    await ledger.db.update(walletRestriction(ledger.table, accountId, true, ledger.nowMs).Update);
    expect(await heldIn()).toBe(true);
  });
});

test("one run sends the orders of an account in their order if the connection of a request takes longer than those after it", async () => {
  const { service, accountId } = await fiveOrders();
  const slow = referenceOf(await service.transaction(accountId, "two"));
  const beforeSending = async (reference: string): Promise<void> => {
    if (reference === slow) await sleep(300);
  };
  await service.instance({ beforeSending }).send();
  const own = await Promise.all(references.map((reference) => service.transaction(accountId, reference)));
  expect(service.begun).toEqual(own.map(referenceOf));
});

test("an order whose claim cannot be resolved waits again even if the claim arrives at the moment at which the queue makes sure that it cannot", async () => {
  const { service, accountId, order } = await fiveOrders();
  let arrive: (() => Promise<unknown>) | undefined;
  intercept(async (command, send) => {
    if (!isClaim(command)) return send();
    arrive = send;
    throw new Error("cut off");
  });
  await service.sendAfter(0);
  vi.restoreAllMocks();
  intercept(async (command, send) => {
    if (command instanceof UpdateCommand && command.input.UpdateExpression?.includes("#claim = :claim")) {
      await arrive?.();
      arrive = undefined;
    }
    return send();
  });
  await service.applyQueued();
  expect(arrive).toBeUndefined();
  expect(await queuedCount(ledger, accountId)).toBe(5);
  expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 5, sent: 5, refunded: 0 });
  expect(await order()).toEqual(references);
});

describe("of two runs at the same time", () => {
  test.each([0, 4_000, -4_000])(
    "one sends the orders of an account in their order, also with clocks that differ by %i ms",
    async (differenceMs) => {
      for (let round = 0; round < 4; round += 1) {
        const { service, accountId, order } = await fiveOrders();
        intercept(async (command, send) => {
          await sleep(Math.random() * 20);
          const answer = await send();
          await sleep(Math.random() * 20);
          if (isClaim(command) && Math.random() < 0.2) throw new Error("cut off");
          return answer;
        });
        const other = service.instance({ clock: () => ledger.nowMs + differenceMs });
        // The limit is free by both clocks.
        const runs = await Promise.all([service.sendAfter(Math.max(0, -differenceMs)), other.send()]);
        vi.restoreAllMocks();
        const sent = runs.reduce((total, run) => total + run.sent, 0);
        expect(await order()).toEqual(references.slice(0, sent));
        expect(service.simulator.state.requests).toHaveLength(sent);
        await service.applyQueued();
        await service.sendAfter(MINUTE_MS);
        expect(await order()).toEqual(references);
        expect(await walletAndCount(ledger, accountId)).toMatchObject({ balance_kobo: 2_500_00, queued_orders: 0 });
        ledger.nowMs += MINUTE_MS;
      }
    },
  );
});

describe("a process that is frozen between a claim and its request", () => {
  /** A run is frozen before its first request; `thaw` lets it go on, and resolves with its result. */
  const frozenRun = async (service: SellingService) => {
    const [frozen, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let isFirst = true;
    const beforeSending = async (): Promise<void> => {
      if (!isFirst) return;
      isFirst = false;
      frozen.resolve();
      await released.promise;
    };
    const run = service.instance({ beforeSending }).send();
    await frozen.promise;
    return async () => {
      released.resolve();
      return run;
    };
  };

  test("does not send after its turn is over, in which another run has sent the next orders: its order is refunded", async () => {
    const { service, accountId, order } = await fiveOrders();
    const thaw = await frozenRun(service);
    expect(await service.sendAfter(25_000)).toEqual({ queued: 4, sent: 4, refunded: 0 });
    expect(await thaw()).toMatchObject({ refunded: 0 });
    expect(await order()).toEqual(["two", "three", "four", "five"]);
    expect(await service.transaction(accountId, "one")).toMatchObject({ status: "failed" });
    expect(service.simulator.state.requests).toHaveLength(4);
    expect(await walletAndCount(ledger, accountId)).toMatchObject({ balance_kobo: 3_000_00, queued_orders: 0 });
  });

  test.each([0, 9_000])(
    "keeps another run from sending, whose clock is ahead by %i ms, and sends within its turn",
    async (aheadMs) => {
      const { service, order } = await fiveOrders();
      const thaw = await frozenRun(service);
      ledger.nowMs += 11_000;
      const other = service.instance({ clock: () => ledger.nowMs + aheadMs });
      expect(await other.send()).toEqual({ queued: 4, sent: 0, refunded: 0 });
      expect(await thaw()).toEqual({ queued: 5, sent: 5, refunded: 0 });
      expect(await order()).toEqual(references);
    },
  );
});

test("orders that were placed through instances whose clocks differ are sent in the order of their answers", async () => {
  const service = await aSellingService(ledger);
  const accountId = await ledger.anAccount(5_000);
  service.refuse(1);
  for (const [index, reference] of references.entries()) {
    const clock = () => ledger.nowMs + (index % 2 === 0 ? 5_000 : -5_000);
    const { headers } = await service.buy(accountId, reference, service.instance({ clock }));
    expect(headers).toHaveProperty("x-estimated-delivery");
  }
  // The first instance, whose clock is ahead, noted until when the limit is spent.
  expect(await service.sendAfter(MINUTE_MS + 5_000)).toEqual({ queued: 5, sent: 5, refunded: 0 });
  expect(await service.arrivedOf(accountId, references)).toEqual(references);
});

test("while the index lacks an order that waits the later ones of its account are not sent, and those of other accounts are", async () => {
  const { service, accountId, order } = await fiveOrders();
  const other = await ledger.anAccount(1_000);
  service.refuse(1);
  await service.buy(other, "other");
  const one = await service.transaction(accountId, "one");
  hideFromIndex(ledger.db, ({ pk }) => pk === one.pk);
  expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 6, sent: 1, refunded: 0 });
  vi.restoreAllMocks();
  expect(await service.sendAfter(MINUTE_MS)).toEqual({ queued: 5, sent: 5, refunded: 0 });
  expect(await order()).toEqual(references);
});
