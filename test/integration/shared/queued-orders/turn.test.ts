import { describe, expect, onTestFinished, test, vi } from "vitest";
import { catalogMemory } from "../../../../shared/catalog/catalog-memory.ts";
import { indexPlans, type PlanIndex } from "../../../../shared/catalog/plan-index.ts";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import { NOT_DELIVERED, settleAsRead, settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { type QueuedOrder, referenceOf, type Transaction } from "../../../../shared/ledger/transaction.ts";
import { readWallet, walletRestriction } from "../../../../shared/ledger/wallet.ts";
import type { OutcomeMessage } from "../../../../shared/orders/outcome-message.ts";
import { type Deadline, deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import {
  CLOCK_DIFFERENCE_MS_MAX,
  QUEUE_RESERVE_MS,
  TURN_BEGIN_MS_MAX,
} from "../../../../shared/platform/time-budgets.ts";
import { isDue } from "../../../../shared/queued-orders/end-unsent.ts";
import { type Lane, openLane } from "../../../../shared/queued-orders/lane.ts";
import { queuedNumbers, queueOf } from "../../../../shared/queued-orders/order-queue.ts";
import { enqueueOrder } from "../../../../shared/queued-orders/queue-store.ts";
import type { Run } from "../../../../shared/queued-orders/sender-run.ts";
import { takeTurn } from "../../../../shared/queued-orders/turn.ts";
import { NO_ORDERS_QUEUED } from "../../../../shared/queued-orders/upstream-pace.ts";
import type { LiveUpstream } from "../../../../shared/upstream/live-upstream.ts";
import { ORDER_LIMITED, type Outcome, RATE_LIMITED, TURN_OVER } from "../../../../shared/upstream/upstream.ts";
import { faultyLedgerForTests } from "../../../builders/ledger/faulty-ledger.ts";
import { claimAsSender, storedQueued } from "../../../builders/ledger/queued-order.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { aCatalog, aPlan } from "../../../builders/upstream/catalog.ts";
import { FACE_VALUES } from "../../../builders/upstream/upstream-costs.ts";

/** Goal: after an order's turn, whatever happens in it, order, wallet, queue and the run's view of them agree. */
const NO_BLOCKS = { limitUntilMs: 0, unrecognizedUntilMs: 0 };
const unexpected = () => Promise.reject(new Error("Not expected"));

const ledger = await faultyLedgerForTests();

const answered =
  (outcome: Outcome): LiveUpstream["buy"] =>
  async () =>
    outcome;
const delivered = answered({ kind: "delivered" });
const limited = (reason: string) => answered({ kind: "account_error", reason });

type Queued = { readonly message: OutcomeMessage; readonly delayS: number };
type Options = {
  readonly buy?: LiveUpstream["buy"];
  readonly plans?: PlanIndex;
  /** What the outcomes queue gets; without it nothing may be sent there. */
  readonly queued?: Queued[];
  readonly noted?: () => void;
  readonly deadline?: Deadline;
};
const aRun = ({
  buy = unexpected,
  plans,
  queued,
  noted = () => {},
  deadline = deadlineIn(29_000),
}: Options = {}): Run => {
  const note = async () => noted();
  return {
    deps: {
      ledger,
      cache: ledger,
      outcomeQueue: {
        send: async (message, delayS) => void (queued?.push({ message, delayS }) ?? (await unexpected())),
      },
      gate: {
        purchases: async () => "on",
        ...{ pace: () => NO_ORDERS_QUEUED, blocks: () => NO_BLOCKS, noteBlocks: note, noteOutcome: note },
      },
      catalog: catalogMemory({ read: unexpected }, ledger.clock),
      upstream: {
        ...{ baseUrl: "https://upstream.example.com/v1", waitS: () => 0, requestsLeft: () => 1 },
        ...{ blocks: () => NO_BLOCKS, learnBlocks: () => {} },
        ...{ perMinute: () => 60, assertReady: unexpected, check: unexpected, fetchCatalog: unexpected, buy },
      },
      queueMinutes: 15,
      costs: FACE_VALUES,
    },
    deadline,
    lastTurn: deadline,
    plans,
    settle: settleAsRead,
    notWritten: new Set(),
  };
};

const airtime = { kind: "airtime", network: "mtn" } as const;
const data = { kind: "data", network_id: 1, plan_id: 101 } as const;

/** Orders for 500 NGN each of one account, which wait in this order. */
const queuedOrders = async (count: number, toSend: QueuedOrder["queued"]["order"] = airtime) => {
  const accountId = await ledger.aWallet(count * 500);
  const orders: QueuedOrder[] = [];
  while (orders.length < count) {
    const transaction = ledger.aTransaction(accountId, { created_at: isoTime(NOON_MS) });
    await openTransaction(ledger, transaction, [], deadlineIn(29_000));
    await enqueueOrder(ledger, transaction, toSend, deadlineIn(29_000));
    orders.push(await storedQueued(ledger, transaction.pk));
  }
  return orders;
};
/** The same, with the lane and the turn of the first of them. */
const aLane = async (count = 1, toSend?: QueuedOrder["queued"]["order"]) => {
  const [order, next] = await queuedOrders(count, toSend);
  const lane = order && (await openLane(ledger, order.account_id));
  if (order === undefined || lane === undefined) expect.unreachable();
  return { order, next, lane, inLane: { lane, number: 1 } };
};
const setAside = async (refusals = 1) => {
  const transaction = await ledger.anOpenTransaction({ created_at: isoTime(NOON_MS) });
  await enqueueOrder(ledger, { ...transaction, refusals }, airtime, deadlineIn(29_000));
  return storedQueued(ledger, transaction.pk);
};

const later = (ms: number): void => {
  ledger.nowMs += ms;
};
const hold = (lane: Lane): void => {
  lane.isHeld = true;
};
const stored = ({ pk }: Pick<Transaction, "pk">) => readTransaction(ledger, pk);
const balanceOf = ({ account_id }: QueuedOrder) => ledger.balanceOf(account_id);
const restrict = ({ account_id }: QueuedOrder) =>
  ledger.db.update(walletRestriction(ledger.table, account_id, true, NOON_MS).Update);
/** The lane's view: the numbers that wait, those that it may still send, and whether it has a turn or is held. */
const viewOf = ({ queue, orders, hasTurn, isHeld }: Lane) => ({
  ...{ waiting: [...queuedNumbers(queue)], orders: [...orders.keys()], hasTurn, isHeld },
});
const storedNumbers = async ({ account_id }: QueuedOrder) => [
  ...queuedNumbers(queueOf(await readWallet(ledger, account_id))),
];
/** No write, and no read of one item, gets an answer. */
const loseAnswers = (): void => {
  ledger.proxy.fault = ({ operation }) => (operation === "BatchGetItem" ? undefined : "never_arrives");
};

describe("an order that is sent from its queue", () => {
  test("is settled, and its account has the turn until another clock's 22 seconds are over", async () => {
    const { order, lane, inLane } = await aLane(2);
    const begun = vi.fn<() => void>();
    const buy: LiveUpstream["buy"] = async (_order, _reference, _deadline, beginning) => {
      beginning?.begun();
      return { kind: "delivered" };
    };
    expect(await takeTurn(aRun({ buy }), order, { ...inLane, begun })).toBe("sent");
    expect(begun).toHaveBeenCalledOnce();
    expect(await stored(order)).toMatchObject({ status: "success", sent_at: isoTime(NOON_MS) });
    expect(viewOf(lane)).toEqual({ waiting: [2], orders: [2], hasTurn: true, isHeld: false });
    expect(lane.turnUntil).toBe(isoTime(NOON_MS + TURN_BEGIN_MS_MAX + CLOCK_DIFFERENCE_MS_MAX));
    expect(await readWallet(ledger, order.account_id)).toMatchObject({ turn_until: lane.turnUntil, queue_head: 2 });
  });

  test.each([
    ["at once", () => {}, true],
    ["just before its turn is over", () => later(TURN_BEGIN_MS_MAX - 1_000), true],
    ["when its turn is over", () => later(TURN_BEGIN_MS_MAX), false],
    [
      "when its turn is over by a clock that was not set back",
      () => {
        const nowMs = performance.now();
        vi.spyOn(performance, "now").mockReturnValue(nowMs + TURN_BEGIN_MS_MAX);
      },
      false,
    ],
    ["once an earlier one of its account waits again", hold, false],
  ])("may begin %s: %s", async (_when, change, mayBegin) => {
    const { order, lane, inLane } = await aLane();
    const asked: unknown[] = [];
    const buy: LiveUpstream["buy"] = async (_order, _reference, _deadline, beginning) => {
      change(lane);
      asked.push(beginning?.mayBegin());
      return { kind: "delivered" };
    };
    await takeTurn(aRun({ buy }), order, inLane);
    expect(asked).toEqual([mayBegin]);
  });

  test("and is refused by the upstream's limit holds the later ones before the refusal is noted, and waits again in front", async () => {
    const { order, lane, inLane } = await aLane(2);
    const wasHeld: boolean[] = [];
    const noted = () => void wasHeld.push(lane.isHeld);
    const begunMs = performance.now();
    expect(await takeTurn(aRun({ buy: limited(RATE_LIMITED), noted }), order, inLane)).toBe("unchanged");
    expect(wasHeld).toEqual([true, true]);
    // An upstream without a wait would be asked for the orders of all accounts at once.
    expect(performance.now() - begunMs).toBeGreaterThan(990);
    expect(viewOf(lane)).toEqual({ waiting: [1, 2], orders: [2], hasTurn: true, isHeld: true });
    expect(await storedNumbers(order)).toEqual([1, 2]);
    expect(await stored(order)).toMatchObject({ queued: { number: 1 } });
  });

  test("and was not begun within its turn waits again in front, and its turn ends by itself", async () => {
    const { order, lane, inLane } = await aLane(2);
    // It waits for nothing.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    expect(await takeTurn(aRun({ buy: limited(TURN_OVER) }), order, inLane)).toBe("unchanged");
    expect(viewOf(lane)).toEqual({ waiting: [1, 2], orders: [2], hasTurn: false, isHeld: true });
    expect(await stored(order)).toMatchObject({ queued: { number: 1 } });
  });

  /** The next order of the account is claimed before this one is refused. */
  const refusedBehind =
    (next: QueuedOrder | undefined, reason: string): LiveUpstream["buy"] =>
    async () => {
      ledger.nowMs += 1;
      if (next !== undefined) await claimAsSender(ledger, next);
      return { kind: "account_error", reason };
    };

  test("and is refused by the upstream's limit after a later one was claimed waits again in front of it", async () => {
    const { order, next, inLane } = await aLane(2);
    expect(await takeTurn(aRun({ buy: refusedBehind(next, RATE_LIMITED) }), order, inLane)).toBe("unchanged");
    expect(await stored(order)).toMatchObject({ queued: { number: 1 } });
  });

  test("and was not begun before a later one was claimed is refunded", async () => {
    const { order, next, lane, inLane } = await aLane(2);
    expect(await takeTurn(aRun({ buy: refusedBehind(next, TURN_OVER) }), order, inLane)).toBe("sent");
    expect(await stored(order)).toMatchObject({ status: "failed", failure: { code: "delivery_failed" } });
    expect(viewOf(lane)).toEqual({ waiting: [2], orders: [2], hasTurn: true, isHeld: true });
    expect(await balanceOf(order)).toBe(500);
  });

  test("and is refused by itself is set aside, and the later ones go on", async () => {
    const { order, lane, inLane } = await aLane(2);
    expect(await takeTurn(aRun({ buy: limited(ORDER_LIMITED) }), order, inLane)).toBe("unchanged");
    expect(await stored(order)).toMatchObject({ open: "queued", queued: { refusals: 1 } });
    expect(viewOf(lane)).toEqual({ waiting: [2], orders: [2], hasTurn: true, isHeld: false });
  });

  test("and whose sending fails stays open, with an alarm", async () => {
    const log = captureLog();
    const { order, lane, inLane } = await aLane(2);
    expect(await takeTurn(aRun(), order, inLane)).toBe("sent");
    expect(log.lines("order.outcome_not_recorded")).toMatchObject([{ reference: referenceOf(order) }]);
    expect(await stored(order)).toMatchObject({ status: "processing", sent_at: isoTime(NOON_MS) });
    expect(viewOf(lane)).toEqual({ waiting: [2], orders: [2], hasTurn: true, isHeld: false });
  });

  test("is not sent if it cannot be, and holds the later ones, with an alarm", async () => {
    const log = captureLog();
    const { order, lane, inLane } = await aLane(2);
    expect(await takeTurn(aRun(), { ...order, phone_number: undefined }, inLane)).toBe("not_written");
    expect(log.lines("order.sender_failed")).toMatchObject([{ reference: referenceOf(order) }]);
    expect(viewOf(lane)).toEqual({ waiting: [1, 2], orders: [2], hasTurn: false, isHeld: true });
    expect(await stored(order)).toEqual(order);
  });

  test.each([
    [
      "has ended leaves the queue",
      (order: QueuedOrder) => settleTransaction(ledger, order, { status: "success" }, deadlineIn(29_000)),
      false,
      [2],
    ],
    [
      "was claimed by another run holds the later ones",
      (order: QueuedOrder) => claimAsSender(ledger, order),
      true,
      [1, 2],
    ],
    ["is of a restricted account holds the later ones", restrict, true, [1, 2]],
  ])("is not claimed if it changed since it was read, and if it %s", async (_what, change, isHeld, waiting) => {
    const { order, lane, inLane } = await aLane(2);
    await change(order);
    expect(await takeTurn(aRun(), order, inLane)).toBe("unchanged");
    expect(viewOf(lane)).toEqual({ waiting, orders: [2], hasTurn: false, isHeld });
  });

  test("is not sent if its claim gets no answer: the outcomes queue makes it wait again", async () => {
    const queued: Queued[] = [];
    const { order, lane, inLane } = await aLane(2);
    loseAnswers();
    expect(await takeTurn(aRun({ queued }), order, inLane)).toBe("unchanged");
    const turnUntil = isoTime(NOON_MS + TURN_BEGIN_MS_MAX + CLOCK_DIFFERENCE_MS_MAX);
    const message = { kind: "wait", order: airtime, claimed: { number: 1, turnUntil, isIndeterminate: true } };
    expect(queued).toMatchObject([{ message: { ...message, claim: expect.any(String) }, delayS: 15 }]);
    expect(viewOf(lane)).toEqual({ waiting: [1, 2], orders: [2], hasTurn: false, isHeld: true });
  });

  test("is not sent if neither its claim nor the message that makes it wait again gets an answer, with an alarm", async () => {
    const log = captureLog();
    const { order, lane, inLane } = await aLane(2);
    loseAnswers();
    expect(await takeTurn(aRun(), order, inLane)).toBe("not_written");
    expect(log.lines("order.sender_failed")).toMatchObject([{ reference: referenceOf(order) }]);
    expect(viewOf(lane)).toEqual({ waiting: [1, 2], orders: [2], hasTurn: false, isHeld: true });
  });
});

describe("an order that was set aside", () => {
  test("is sent again at any time, and settled", async () => {
    const order = await setAside();
    const asked: unknown[] = [];
    const buy: LiveUpstream["buy"] = async (_order, _reference, _deadline, beginning) => {
      ledger.nowMs += 60 * MINUTE_MS;
      asked.push(beginning?.mayBegin());
      return { kind: "delivered" };
    };
    expect(await takeTurn(aRun({ buy }), order)).toBe("sent");
    expect(asked).toEqual([true]);
    expect(await stored(order)).toMatchObject({ status: "success" });
  });

  test.each([
    ["by itself", ORDER_LIMITED, 2, "unchanged", 3],
    ["by itself for the third time", ORDER_LIMITED, 3, "sent", undefined],
    ["by the limit", RATE_LIMITED, 3, "unchanged", 3],
  ] as const)("and is refused %s", async (_how, reason, refusals, result, counted) => {
    const order = await setAside(refusals);
    expect(await takeTurn(aRun({ buy: limited(reason) }), order)).toBe(result);
    expect((await stored(order))?.queued?.refusals).toBe(counted);
    expect(await balanceOf(order)).toBe(counted === undefined ? 500 : 0);
  });

  test("and whose sending fails stays open, with an alarm", async () => {
    const log = captureLog();
    const order = await setAside();
    expect(await takeTurn(aRun(), order)).toBe("sent");
    expect(log.lines("order.outcome_not_recorded")).toMatchObject([{ reference: referenceOf(order) }]);
    expect(await stored(order)).toMatchObject({ status: "processing" });
  });

  test("is not sent if it cannot be, if another run has claimed it, or if its account is restricted", async () => {
    const log = captureLog();
    const order = await setAside();
    expect(await takeTurn(aRun(), { ...order, phone_number: undefined })).toBe("not_written");
    expect(log.lines("order.sender_failed")).toHaveLength(1);
    await claimAsSender(ledger, order);
    expect(await takeTurn(aRun(), order)).toBe("unchanged");
    const restricted = await setAside();
    await restrict(restricted);
    expect(await takeTurn(aRun(), restricted)).toBe("unchanged");
  });

  test("is not sent if its claim gets no answer: the outcomes queue makes it wait again", async () => {
    const queued: Queued[] = [];
    const order = await setAside(2);
    loseAnswers();
    expect(await takeTurn(aRun({ queued }), order)).toBe("unchanged");
    const message = { kind: "wait", refusals: 2, claimed: { isIndeterminate: true }, claim: expect.any(String) };
    expect(queued).toMatchObject([{ message, delayS: 15 }]);
  });
});

describe("an order that waited for too long", () => {
  const overdue = () => later(15 * MINUTE_MS + 1_000);

  test("is due a second after its 15 minutes", async () => {
    const { order } = await aLane();
    ledger.nowMs += 15 * MINUTE_MS;
    expect(isDue(aRun(), order)).toBe(false);
    ledger.nowMs += 1_000;
    expect(isDue(aRun(), order)).toBe(true);
  });

  test.each([
    ["raises an alarm", false, "order.waited_too_long"],
    ["of a restricted account raises none", true, "order.refunded_restricted"],
  ])("is refunded, leaves its queue, and %s", async (_what, isRestricted, event) => {
    const log = captureLog();
    const [order] = await queuedOrders(2);
    if (order === undefined) expect.unreachable();
    if (isRestricted) await restrict(order);
    const lane = await openLane(ledger, order.account_id);
    if (lane === undefined) expect.unreachable();
    overdue();
    lane.isHeld = false;
    expect(await takeTurn(aRun(), order, { lane, number: 1 })).toBe("refunded");
    expect(await stored(order)).toMatchObject({ status: "failed", failure: { code: "provider_unavailable" } });
    expect(log.lines()).toMatchObject([{ event, reference: referenceOf(order), waited_s: 901 }]);
    expect(viewOf(lane)).toEqual({ waiting: [2], orders: [2], hasTurn: false, isHeld: false });
    expect(await balanceOf(order)).toBe(500);
  });

  test("after it was set aside is refunded as not delivered, without an alarm", async () => {
    const log = captureLog();
    const order = await setAside();
    overdue();
    expect(await takeTurn(aRun(), order)).toBe("refunded");
    expect(await stored(order)).toMatchObject({ status: "failed", failure: { code: "delivery_failed" } });
    expect(log.text()).toBe("");
  });

  test.each([
    [
      "has ended, which leaves the queue",
      (order: QueuedOrder) => settleTransaction(ledger, order, NOT_DELIVERED, deadlineIn(29_000)),
      "unchanged",
      false,
    ],
    [
      "was claimed, which holds the later ones",
      (order: QueuedOrder) => claimAsSender(ledger, order),
      "unchanged",
      true,
    ],
    ["cannot be written, which holds the later ones", async () => loseAnswers(), "not_written", true],
  ] as const)("is not refunded if it %s", async (_what, change, result, isHeld) => {
    const log = captureLog();
    const { order, lane, inLane } = await aLane(2);
    overdue();
    await change(order);
    const deadline = deadlineIn(QUEUE_RESERVE_MS + 200);
    expect(await takeTurn(aRun({ deadline }), order, inLane)).toBe(result);
    expect(log.lines("order.sender_failed")).toEqual([]);
    expect(viewOf(lane)).toEqual({ waiting: isHeld ? [1, 2] : [2], orders: [2], hasTurn: false, isHeld });
  });
});

describe("an order whose plan", () => {
  const plans = (id: number, network_id = 1) => indexPlans(aCatalog(1, { data_plans: [aPlan({ id, network_id })] }));

  test.each([
    ["was withdrawn", plans(102)],
    ["belongs to another network now", plans(101, 2)],
  ])("%s is refunded about the plan", async (_what, known) => {
    const { order, inLane } = await aLane(1, data);
    expect(await takeTurn(aRun({ plans: known }), order, inLane)).toBe("refunded");
    expect(await stored(order)).toMatchObject({ failure: { code: "plan_unavailable", fields: ["plan_id"] } });
  });

  test.each([
    ["is for sale", data, plans(101)],
    ["is not known to be withdrawn", data, undefined],
    ["does not exist, as of airtime,", airtime, plans(102)],
  ])("%s is sent", async (_what, toSend, known) => {
    const { order, inLane } = await aLane(1, toSend);
    expect(await takeTurn(aRun({ buy: delivered, ...(known && { plans: known }) }), order, inLane)).toBe("sent");
  });
});

describe("an order that waits in another ledger than this copy", () => {
  const elsewhere = (order: QueuedOrder): QueuedOrder => ({ ...order, queued: { ...order.queued, table: "earlier" } });

  test("is due at once, and is neither sent nor refunded, however long it waited: it leaves the queue with an alarm", async () => {
    const log = captureLog();
    const { order, lane, inLane } = await aLane(2);
    expect(isDue(aRun(), elsewhere(order))).toBe(true);
    later(60 * MINUTE_MS);
    expect(await takeTurn(aRun(), elsewhere(order), inLane)).toBe("unchanged");
    expect(log.lines().map(({ event }) => event)).toEqual(["order.not_sent_after_restore"]);
    expect(viewOf(lane)).toEqual({ waiting: [2], orders: [2], hasTurn: false, isHeld: false });
    expect(await storedNumbers(order)).toEqual([2]);
    const unknown = await stored(order);
    expect(unknown).toMatchObject({ status: "processing", claim: expect.any(String) });
    expect(unknown).not.toHaveProperty("queued");
    const aside = await setAside();
    expect(await takeTurn(aRun(), elsewhere(aside))).toBe("unchanged");
    expect(await stored(aside)).not.toHaveProperty("queued");
  });

  test("raises no alarm if another run has claimed it, and one if its claim gets no answer", async () => {
    const log = captureLog();
    const [claimed, unanswered] = [await aLane(2), await aLane(2)];
    await claimAsSender(ledger, claimed.order);
    expect(await takeTurn(aRun(), elsewhere(claimed.order), claimed.inLane)).toBe("unchanged");
    expect(log.text()).toBe("");
    loseAnswers();
    expect(await takeTurn(aRun(), elsewhere(unanswered.order), unanswered.inLane)).toBe("not_written");
    expect(log.lines("order.not_sent_after_restore")).toHaveLength(1);
    expect(log.lines("order.sender_failed")).toEqual([]);
    for (const { lane } of [claimed, unanswered]) {
      expect(viewOf(lane)).toEqual({ waiting: [1, 2], orders: [2], hasTurn: false, isHeld: true });
    }
  });
});
