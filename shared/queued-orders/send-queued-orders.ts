import type { PlanIndex } from "../catalog/plan-index.ts";
import { sellablePlans } from "../catalog/sellable-plans.ts";
import { ServiceError } from "../contract/errors.ts";
import { readTransaction } from "../ledger/find-transactions.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type OpenKey, queuedKeys } from "../ledger/query-index.ts";
import { accountIdOf, walletPk } from "../ledger/schema.ts";
import { createSequentialSettle, settleAsRead } from "../ledger/settle-transaction.ts";
import type { QueuedOrder } from "../ledger/transaction.ts";
import { type Deadline, deadlineIn } from "../platform/deadline.ts";
import { errorFields, type LogFields, log, putMetrics } from "../platform/log.ts";
import { mapInOrder } from "../platform/map-in-order.ts";
import { sum } from "../platform/sum.ts";
import { isoTime, sleep } from "../platform/time.ts";
import { OPEN_LANES_MS_MAX, SCHEDULE_MS, SEND_QUEUED_RESERVE_MS } from "../platform/time-budgets.ts";
import { isDue, waitedS } from "./end-unsent.ts";
import { type InLane, type Lane, nextOrder, openLane, readMore, unlessUnreadable } from "./lane.ts";
import { queueLength } from "./order-queue.ts";
import { upstreamOrderOf } from "./queue-policy.ts";
import { endTurn, isSetAside, trimQueue, unlistWallet } from "./queue-store.ts";
import type { Run, SenderDeps, TurnResult } from "./sender-run.ts";
import { takeTurn } from "./turn.ts";
import { noteQueue } from "./upstream-pace.ts";

/** Orders that are sent at once, at most. */
export const CONCURRENT_SENDS = 10;
const CONCURRENT_ACCOUNTS = 10;
/** How long other orders wait after a run that left some; the next run prolongs it. */
const NEXT_RUN_MS = 1.5 * SCHEDULE_MS;

/**
 * Sends queued orders at the upstream's pace: each account in turn, in the order of its queue; a run begins with the
 * account whose last turn was the longest ago. An order that has waited for too long is refunded. Orders that were set
 * aside follow. While purchases are off nothing is sent and nothing refunded.
 */
export const sendQueuedOrders = async (
  deps: SenderDeps,
  deadline: Deadline,
): Promise<LogFields<"send-queued-orders.ran">> => {
  const { ledger, gate } = deps;
  const nextRun = isoTime(ledger.clock() + SCHEDULE_MS);
  const keys = await queuedKeys(ledger);
  const { lanes, unopened } = await openLanes(ledger, keys.wallets);
  const setAside = await readSetAside(ledger, keys.setAside);
  const queued = sum(lanes.map(queuedIn)) + unopened + setAside.length;
  putMetrics({ QueuedOrders: queued, OldestQueuedSeconds: oldestQueuedS(ledger, keys.wallets, lanes) }, ledger.clock());
  if (queued === 0 || (await gate.purchases()) === "off") {
    await endLanes(ledger, lanes);
    return { queued, sent: 0, refunded: 0 };
  }

  await sharePace(deps, lanes, unopened, nextRun);
  const run: CountedRun = {
    deps,
    deadline,
    lastTurn: { remainingMs: () => deadline.remainingMs() - SEND_QUEUED_RESERVE_MS },
    plans: await currentPlans(deps),
    settle: createSequentialSettle(settleAsRead),
    notWritten: new Set(),
    turns: { sent: 0, refunded: 0, unchanged: 0, not_written: 0 },
  };
  await endDue(run, lanes);
  await endDueSetAside(run, setAside);
  const orders = [...lanes.flatMap((lane) => [...lane.orders.values()]), ...setAside];
  if (await upstreamIsReady(deps, orders, deadline)) {
    await sendInTurn(run, lanes);
    await sendSetAside(run, setAside, keys.wallets, lanes);
  }
  // Turns end with the upstream's limit, and refunds do not need it.
  await endDue(run, lanes, { readsOn: true });
  await endLanes(ledger, lanes);
  await sharePace(deps, lanes, unopened, nextRun);
  return { queued, sent: run.turns.sent, refunded: run.turns.refunded };
};

/** A run, and how often a turn of it had each result. */
type CountedRun = Run & { readonly turns: Record<TurnResult, number> };

const countTurn = async (run: CountedRun, order: QueuedOrder, inLane?: InLane): Promise<TurnResult> => {
  const result = await takeTurn(run, order, inLane);
  run.turns[result] += 1;
  return result;
};

/**
 * Opens the lanes of the first accounts, as many as there is time for: of very many, the others' turns come in later runs.
 * To open all of them first would leave no time to send or refund anything. `unopened`: the number of the others, each of
 * which has at least one order.
 */
const openLanes = async (ledger: Ledger, wallets: readonly OpenKey[]) => {
  const deadline = deadlineIn(OPEN_LANES_MS_MAX, ledger.clock);
  const lanes: Lane[] = [];
  let unopened = wallets.length;
  const opened = mapInOrder(wallets, CONCURRENT_ACCOUNTS, ({ pk }) => openLane(ledger, accountIdOf(pk)));
  for await (const lane of opened) {
    if (lane !== undefined) lanes.push(lane);
    unopened -= 1;
    if (deadline.remainingMs() <= 0) break;
  }
  return { lanes, unopened };
};

/** The orders that were set aside. One that cannot be read does not hold back the others. */
const readSetAside = async (ledger: Ledger, keys: readonly OpenKey[]): Promise<readonly QueuedOrder[]> => {
  const read = mapInOrder(keys, CONCURRENT_ACCOUNTS, ({ pk }) =>
    unlessUnreadable({ record: pk }, () => readTransaction(ledger, pk)),
  );
  return (await Array.fromAsync(read)).flatMap((order) => (order && isSetAside(order) ? [order] : []));
};

/** None if the index lists none: they are too young, or the wallet was restored without them. Other orders do not wait. */
const queuedIn = ({ isListed, queue }: Lane): number => (isListed ? queueLength(queue) : 0);

/** The longest wait for the upstream's limit. The list's time of an account that could not be read is as good as known. */
const oldestQueuedS = (ledger: Ledger, wallets: readonly OpenKey[], lanes: readonly Lane[]): number => {
  const read = new Set(lanes.map(({ wallet }) => wallet.pk));
  const orders = lanes.filter(({ wallet }) => !wallet.restricted).flatMap((lane) => [...lane.orders.values()]);
  const since = [
    ...wallets.filter(({ pk }) => !read.has(pk)).map(({ listed_at }) => listed_at),
    ...orders.map(({ created_at }) => created_at),
  ];
  return Math.max(0, ...since.map((at) => waitedS(ledger, at)));
};

/** Stores for the functions that place orders how many wait for the limit, and until when others must. */
const sharePace = async (
  { cache, ledger, upstream }: SenderDeps,
  lanes: readonly Lane[],
  unopened: number,
  nextRun: string,
): Promise<void> => {
  const queued = sum(lanes.filter(({ wallet }) => !wallet.restricted).map(queuedIn)) + unopened;
  try {
    await noteQueue(cache, {
      queue_until: isoTime(ledger.clock() + (queued > 0 ? NEXT_RUN_MS : 0)),
      queued_orders: queued,
      per_minute: upstream.perMinute("vtu"),
      next_run: nextRun,
    });
  } catch (error) {
    log.warn("upstream_pace.not_noted", errorFields(error));
  }
};

/** The plans for sale; undefined if they are not known, and the upstream decides. */
const currentPlans = ({ catalog, ledger }: SenderDeps): Promise<PlanIndex | undefined> =>
  sellablePlans(catalog, "live", ledger.clock).catch(() => undefined);

/** Whether orders can be sent at all: without a key each of them would be refunded. */
const upstreamIsReady = async (
  { upstream }: SenderDeps,
  orders: readonly QueuedOrder[],
  deadline: Deadline,
): Promise<boolean> => {
  const first = orders.find(({ phone_number }) => phone_number !== undefined);
  if (first === undefined) return true;
  try {
    await upstream.assertReady(upstreamOrderOf(first), deadline, { mayWait: true });
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
};

/**
 * Refunds the orders that waited for too long or for another upstream, and ends those of another ledger, until purchases are
 * switched off or no turn may begin any more. `readsOn`: beyond the pages that are read already, while their orders are due.
 */
const endDue = async (
  run: CountedRun,
  lanes: readonly Lane[],
  { readsOn = false }: { readonly readsOn?: boolean } = {},
): Promise<void> => {
  const ended = mapInOrder(lanes, CONCURRENT_ACCOUNTS, (lane) => endDueInLane(run, lane, readsOn));
  for await (const _ of ended);
};

const endDueInLane = async (run: CountedRun, lane: Lane, readsOn: boolean): Promise<void> => {
  do {
    for (const [number, order] of lane.orders) {
      if (!isDue(run, order)) continue;
      if (!(await mayEnd(run, order))) return;
      await end(run, order, { lane, number });
    }
  } while (readsOn && lane.orders.size === 0 && (await readMore(run.deps.ledger, lane)));
};

const end = async (run: CountedRun, order: QueuedOrder, inLane?: InLane): Promise<void> => {
  if ((await countTurn(run, order, inLane)) === "not_written") run.notWritten.add(order.account_id);
};

/** The same of those that were set aside. */
const endDueSetAside = async (run: CountedRun, orders: readonly QueuedOrder[]): Promise<void> => {
  const due = orders.filter((order) => isDue(run, order));
  const byAccount = Map.groupBy(due, ({ account_id }) => account_id).values();
  const ended = mapInOrder(byAccount, CONCURRENT_ACCOUNTS, async (own) => {
    for (const order of own) if (await mayEnd(run, order)) await end(run, order);
  });
  for await (const _ of ended);
};

const mayEnd = async ({ lastTurn, notWritten, deps: { gate } }: Run, order: QueuedOrder): Promise<boolean> =>
  lastTurn.remainingMs() > 0 && !notWritten.has(order.account_id) && (await gate.purchases()) === "on";

/** Takes turns until no account has an order left, purchases are switched off, or no turn may begin any more. */
const sendInTurn = async (run: CountedRun, lanes: readonly Lane[]): Promise<void> => {
  const { ledger, gate } = run.deps;
  const ready = [...lanes];
  /** Turns that have not ended, and those of them whose requests have not begun. */
  const [underWay, beginning] = [new Set<Promise<unknown>>(), new Set<Promise<void>>()];
  const begin = (lane: Lane, number: number, order: QueuedOrder): void => {
    const begun = Promise.withResolvers<void>();
    const turn = countTurn(run, order, { lane, number, begun: begun.resolve }).finally(() => {
      underWay.delete(turn);
      begun.resolve();
    });
    underWay.add(turn);
    // Only now may the account's next order be claimed.
    const next = begun.promise.then(() => {
      beginning.delete(next);
      ready.push(lane);
    });
    beginning.add(next);
  };
  try {
    while (await mayBeginTurn(run, underWay)) {
      const lane = ready.shift();
      if (lane === undefined) {
        if (beginning.size === 0) break;
        await Promise.race(beginning);
        continue;
      }
      const order = await nextOrder(ledger, lane);
      if (order?.queued.number === undefined) continue;
      if ((await gate.purchases()) === "off") break;
      begin(lane, order.queued.number, order);
    }
  } finally {
    await Promise.all(underWay);
  }
};

/** Waits until the upstream takes another order; false if that is too late. More at once would be refused. */
const mayBeginTurn = async ({ deps, lastTurn }: Run, underWay: ReadonlySet<Promise<unknown>>): Promise<boolean> => {
  while (await waitForLimit(deps, lastTurn)) {
    if (underWay.size < Math.max(1, Math.min(CONCURRENT_SENDS, deps.upstream.requestsLeft("vtu")))) return true;
    await Promise.race(underWay);
  }
  return false;
};

/** Waits until no instance knows that the upstream takes no orders; false if that is too late. */
const waitForLimit = async ({ upstream, gate }: SenderDeps, lastTurn: Deadline): Promise<boolean> => {
  for (;;) {
    // Reads the pace too, if the last reading is older than 10 seconds.
    await gate.purchases();
    upstream.learnBlocks(gate.blocks());
    const waitMs = upstream.waitS("vtu") * 1_000;
    if (lastTurn.remainingMs() <= waitMs) return false;
    if (waitMs === 0) return true;
    await sleep(waitMs);
  }
};

/**
 * Sends orders again that were set aside: the oldest of each account that has none left in its queue, so that they take
 * little of the upstream's limit.
 */
const sendSetAside = async (
  run: CountedRun,
  orders: readonly QueuedOrder[],
  wallets: readonly OpenKey[],
  lanes: readonly Lane[],
): Promise<void> => {
  const drained = new Set(lanes.filter(({ queue }) => queueLength(queue) === 0).map(({ wallet }) => wallet.pk));
  const had = new Set(wallets.map(({ pk }) => pk).filter((pk) => !drained.has(pk)));
  for (const order of orders) {
    const wallet = walletPk(order.account_id);
    if (had.has(wallet) || isDue(run, order)) continue;
    had.add(wallet);
    if (!(await mayBeginTurn(run, NONE_UNDER_WAY)) || (await run.deps.gate.purchases()) === "off") break;
    await countTurn(run, order);
  }
};

const NONE_UNDER_WAY: ReadonlySet<Promise<unknown>> = new Set();

/** Ends the turns of this run, takes wallets off the list that have no queued orders any more, and trims the others. */
const endLanes = async (ledger: Ledger, lanes: readonly Lane[]): Promise<void> => {
  const ended = mapInOrder(lanes, CONCURRENT_ACCOUNTS, async ({ wallet, queue, turnUntil, hasTurn }) => {
    const isOver = turnUntil === undefined || hasTurn || ledger.clock() >= Date.parse(turnUntil);
    try {
      if (isOver && queueLength(queue) === 0) {
        await unlistWallet(ledger, wallet.account_id, queue, turnUntil);
        return;
      }
      if (hasTurn && turnUntil !== undefined) await endTurn(ledger, wallet.account_id, turnUntil);
      if (isOver) await trimQueue(ledger, wallet.account_id, queue);
    } catch (error) {
      log.warn("queued_orders.turn_not_ended", { account: wallet.account_id, ...errorFields(error) });
    }
  });
  for await (const _ of ended);
};
