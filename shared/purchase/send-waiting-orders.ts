import * as z from "zod";
import type { CatalogMemory } from "../catalog/catalog-memory.ts";
import { sellablePlans } from "../catalog/sellable-plans.ts";
import type { PlanIndex } from "../catalog/snapshot.ts";
import { ServiceError } from "../contract/errors.ts";
import type { Ledger, Table } from "../ledger/ledger.ts";
import type { IndexKey } from "../ledger/query-index.ts";
import { createSequentialSettle, settleAsRead } from "../ledger/settle-transaction.ts";
import { type Failure, referenceOf } from "../ledger/transaction.ts";
import {
  claimOrder,
  clearWaitingOrders,
  type WaitingOrder,
  type WaitingPage,
  waitingOrdersPage,
  walletsWithWaitingOrders,
} from "../ledger/waiting-order.ts";
import type { OrderGate } from "../orders/order-gate.ts";
import type { OutcomeQueue } from "../orders/outcome-queue.ts";
import { fulfilAndSettle, waitMessageOf } from "../orders/place-order.ts";
import { writeUpstreamPace } from "../orders/upstream-pace.ts";
import { type Deadline, deadlineIn, earlierDeadline } from "../platform/deadline.ts";
import { type KeyedMutex, keyedMutex } from "../platform/keyed-mutex.ts";
import { errorFields, type LogFields, log, putMetrics } from "../platform/log.ts";
import { mapInOrder } from "../platform/map-in-order.ts";
import { sum } from "../platform/sum.ts";
import { isoTime, sleep } from "../platform/time.ts";
import {
  CLAIM_MS_MAX,
  CLAIMED_ORDER_MS_MAX,
  REFUND_MS_MAX,
  SCHEDULE_MS,
  SEND_WAITING_RESERVE_MS,
} from "../platform/time-budgets.ts";
import type { HttpUpstream } from "../upstream/http-upstream.ts";
import { fulfilPurchase } from "./fulfil-purchase.ts";
import { upstreamOrderOf } from "./waiting-purchase.ts";

export type SenderDeps = {
  readonly ledger: Ledger;
  readonly cache: Table;
  readonly outcomeQueue: OutcomeQueue;
  readonly gate: OrderGate;
  readonly catalog: CatalogMemory;
  readonly upstream: HttpUpstream;
  readonly waitingMinutes: number;
};

/** Orders that are sent at once, at most. */
export const CONCURRENT_SENDS = 10;
const CONCURRENT_READS = 10;
/** Other orders wait for so long after a run that left some: the next run prolongs it. */
const NEXT_RUN_MS = 1.5 * SCHEDULE_MS;
/** How much longer a turn lasts whose order is refused again. */
const REFUSED_TURN_MS = 1_000;
/** By then a claim in flight has arrived. */
const UNSENT_CLAIM_DELAY_S = 60;

/**
 * Sends waiting orders at the upstream's pace: each account in turn, its oldest order first; a run begins with the
 * account whose last turn was the longest ago. An order that has waited for too long is refunded. While purchases are
 * off nothing is sent and nothing refunded.
 */
export const sendWaitingOrders = async (
  deps: SenderDeps,
  deadline: Deadline,
): Promise<LogFields<"send-waiting-orders.ran">> => {
  const { ledger, gate } = deps;
  const accounts = await accountsWithWaitingOrders(ledger);
  const waiting = sum(accounts.map(({ count }) => count));
  const oldest = accounts.flatMap(({ page }) => page.orders.slice(0, 1));
  putMetrics(
    { WaitingOrders: waiting, OldestWaitingSeconds: Math.max(0, ...oldest.map(waitedS(ledger))) },
    ledger.clock(),
  );
  if (accounts.length === 0 || (await gate.purchases()) === "off") return { waiting, sent: 0, refunded: 0 };

  await sharePace(deps, waiting);
  const run: Run = {
    deps,
    deadline,
    lastTurn: { remainingMs: () => deadline.remainingMs() - SEND_WAITING_RESERVE_MS },
    plans: await currentPlans(deps),
    settle: createSequentialSettle(settleAsRead),
    claimInSequence: keyedMutex(),
    heldAccounts: new Set(),
    hadTurn: new Set(),
  };
  const firstPages = accounts.flatMap(({ page }) => page.orders);
  const results = [...(await refundExpired(run, firstPages))];
  if (await upstreamIsReady(deps, oldest, deadline)) results.push(...(await sendInTurn(run, accounts)));
  // Turns end with the upstream's limit, and refunds do not need it.
  const isNext = (order: WaitingOrder): boolean => isExpired(run, order);
  results.push(...(await refundExpired(run, inTurn(ledger, accounts, isNext))));
  const count = (result: TurnResult): number => results.filter((each) => each === result).length;
  const [sent, refunded] = [count("sent"), count("refunded")];
  await sharePace(deps, Math.max(0, waiting - sent - refunded));
  return { waiting, sent, refunded };
};

/** Refunds the orders that waited for too long, until purchases are switched off or no turn may begin any more. */
const refundExpired = async (
  run: Run,
  orders: Iterable<WaitingOrder> | AsyncIterable<WaitingOrder>,
): Promise<readonly TurnResult[]> => {
  const results: TurnResult[] = [];
  for await (const order of orders) {
    if (!isExpired(run, order)) continue;
    if (run.lastTurn.remainingMs() <= 0 || (await run.deps.gate.purchases()) === "off") break;
    results.push(await takeTurn(run, order));
  }
  return results;
};

/** Takes turns until no order waits, purchases are switched off, or no turn may begin any more. */
const sendInTurn = async (run: Run, accounts: readonly AccountOrders[]): Promise<readonly TurnResult[]> => {
  const { ledger, gate, upstream } = run.deps;
  const turns = inTurn(ledger, accounts);
  const results: TurnResult[] = [];
  const underWay = new Set<Promise<void>>();
  const begin = (order: WaitingOrder): void => {
    const turn = takeTurn(run, order).then((result) => {
      underWay.delete(turn);
      results.push(result);
    });
    underWay.add(turn);
  };
  /** Not more at once than the upstream still takes: the rest would be refused. */
  const maySend = async (): Promise<boolean> => {
    while (await waitForLimit(upstream, run.lastTurn)) {
      if (underWay.size < Math.max(1, Math.min(CONCURRENT_SENDS, upstream.requestsLeft("vtu")))) return true;
      await Promise.race(underWay);
    }
    return false;
  };
  try {
    while (await maySend()) {
      const turn = await turns.next();
      if (turn.done || (await gate.purchases()) === "off") break;
      begin(turn.value);
    }
  } finally {
    await Promise.all(underWay);
  }
  return results;
};

type AccountOrders = { readonly accountId: string; readonly count: number; readonly page: WaitingPage };

const accountsWithWaitingOrders = async (ledger: Ledger): Promise<readonly AccountOrders[]> => {
  const wallets = await walletsWithWaitingOrders(ledger);
  const accounts: AccountOrders[] = [];
  const read = mapInOrder(wallets, CONCURRENT_READS, async ({ account_id: accountId, waiting_orders: count = 0 }) => {
    if (count === 0) await clearWaitingOrders(ledger, accountId);
    return { accountId, count, page: await readPage(ledger, accountId) };
  });
  for await (const account of read) if (account.count > 0 && hasOrders(account.page)) accounts.push(account);
  return accounts;
};

/** An account whose orders this release cannot read, such as those of a later one, does not hold back the others. */
const readPage = async (ledger: Ledger, accountId: string, start?: IndexKey): Promise<WaitingPage> => {
  try {
    return await waitingOrdersPage(ledger, accountId, start);
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    log.alarm("waiting_orders.unreadable", { account: accountId, ...errorFields(error) });
    return { orders: [], next: undefined };
  }
};

/**
 * False if only the wallet counts orders: they are too young for a page, or its count is wrong. The orders of all other
 * accounts must not wait for those.
 */
const hasOrders = ({ orders, next }: WaitingPage): boolean => orders.length > 0 || next !== undefined;

/** One order of each account in turn, oldest first, until there are no more or the account's next one does not fit. */
async function* inTurn(
  ledger: Ledger,
  accounts: readonly AccountOrders[],
  isNext: (order: WaitingOrder) => boolean = () => true,
): AsyncGenerator<WaitingOrder, void, void> {
  let rest = accounts.map(({ accountId, page }) => ({ accountId, orders: [...page.orders], next: page.next }));
  while (rest.length > 0) {
    for (const account of rest) {
      while (account.orders.length === 0 && account.next !== undefined) {
        const { orders, next } = await readPage(ledger, account.accountId, account.next);
        account.orders.push(...orders);
        account.next = next;
      }
      const order = account.orders.shift();
      if (order === undefined) continue;
      if (isNext(order)) yield order;
      else Object.assign(account, { orders: [], next: undefined });
    }
    rest = rest.filter(({ orders, next }) => orders.length > 0 || next !== undefined);
  }
}

/** Whether orders can be sent at all: without a key each of them would be refunded. */
const upstreamIsReady = async (
  { upstream }: SenderDeps,
  [first]: readonly WaitingOrder[],
  deadline: Deadline,
): Promise<boolean> => {
  if (first === undefined) return true;
  try {
    await upstream.assertReady(upstreamOrderOf(first), deadline, { mayWait: true });
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
};

/** Waits for the upstream's limit; false if it is not free in time. */
const waitForLimit = async (upstream: Pick<HttpUpstream, "waitS">, lastTurn: Deadline): Promise<boolean> => {
  for (;;) {
    const waitMs = upstream.waitS("vtu") * 1_000;
    if (lastTurn.remainingMs() <= waitMs) return false;
    if (waitMs === 0) return true;
    await sleep(waitMs);
  }
};

/** Stores for the functions that place orders how many wait, and until when others must. */
const sharePace = async ({ cache, ledger, upstream }: SenderDeps, waiting: number): Promise<void> => {
  const waitMs = waiting > 0 ? NEXT_RUN_MS : upstream.waitS("vtu") * 1_000;
  try {
    await writeUpstreamPace(cache, {
      wait_until: isoTime(ledger.clock() + waitMs),
      waiting_orders: waiting,
      per_minute: upstream.perMinute("vtu"),
    });
  } catch (error) {
    log.warn("upstream_pace.not_noted", errorFields(error));
  }
};

/** The plans for sale; undefined if they are not known, and the upstream decides. */
const currentPlans = ({ catalog, ledger }: SenderDeps): Promise<PlanIndex | undefined> =>
  sellablePlans(catalog, "live", ledger.clock).catch(() => undefined);

type Run = {
  readonly deps: SenderDeps;
  readonly deadline: Deadline;
  /** Until when a turn may begin. */
  readonly lastTurn: Deadline;
  readonly plans: PlanIndex | undefined;
  /** Does not settle an order that was claimed meanwhile: it may be on its way upstream. */
  readonly settle: typeof settleAsRead;
  /** An account's orders are claimed, and their requests begun, one after the other: they are sent in their order. */
  readonly claimInSequence: KeyedMutex;
  /** Accounts with an order that could not be sent: their later orders would overtake it. */
  readonly heldAccounts: Set<string>;
  /** The keys of the orders that had their turn. */
  readonly hadTurn: Set<string>;
};

type TurnResult = "sent" | "refunded" | "unchanged";

const waitedS =
  ({ clock }: Ledger) =>
  ({ created_at }: WaitingOrder): number =>
    Math.floor((clock() - Date.parse(created_at)) / 1_000);

const isExpired = ({ deps: { ledger, waitingMinutes } }: Run, order: WaitingOrder): boolean =>
  waitedS(ledger)(order) > waitingMinutes * 60;

/** Whether the catalog has lost the order's plan since the debit. A changed price is our cost, and raises its alarm. */
const isWithdrawn = ({ plans }: Run, { waiting: { order } }: WaitingOrder): boolean =>
  order.kind === "data" && plans !== undefined && !plans.plans.has(order.plan_id);

/** Whether this ledger is a restored copy of the one that the order waits in. */
const isOfAnotherLedger = ({ deps: { ledger } }: Run, { waiting: { table } }: WaitingOrder): boolean =>
  table !== ledger.table;

/** Sends one order, or refunds it. A fault with one order does not delay the others; the next run tries again. */
const takeTurn = async (run: Run, order: WaitingOrder): Promise<TurnResult> => {
  const { ledger } = run.deps;
  if (run.hadTurn.has(order.pk)) return "unchanged";
  run.hadTurn.add(order.pk);
  try {
    if (isOfAnotherLedger(run, order)) return await claimUnsent(run, order);
    if (isExpired(run, order)) {
      log.alarm("order.waited_too_long", { reference: referenceOf(order), waited_s: waitedS(ledger)(order) });
      return await refund(run, order, { code: "provider_unavailable" });
    }
    if (isWithdrawn(run, order)) return await refund(run, order, { code: "plan_unavailable", fields: ["plan_id"] });
    return await claimAndSend(run, order);
  } catch (error) {
    log.alarm("order.sender_failed", { reference: referenceOf(order), ...errorFields(error) });
    return "unchanged";
  }
};

/**
 * Ends the wait of an order that may have been sent since the copy was made: it is neither sent nor refunded, and never
 * made to wait again, because it would wait in this ledger then. Without a claim the next run tries again.
 */
const claimUnsent = async ({ deps: { ledger }, deadline }: Run, order: WaitingOrder): Promise<TurnResult> => {
  const { kind } = await claimOrder(ledger, order, earlierDeadline(deadline, deadlineIn(CLAIM_MS_MAX)));
  if (kind !== "not_claimed") log.alarm("order.not_sent_after_restore", { reference: referenceOf(order) });
  return "unchanged";
};

const refund = async (
  { deps: { ledger }, settle, deadline }: Run,
  order: WaitingOrder,
  failure: Failure,
): Promise<TurnResult> => {
  const inTime = earlierDeadline(deadline, deadlineIn(REFUND_MS_MAX));
  const { kind } = await settle(ledger, order, { status: "failed", failure }, inTime);
  return kind === "applied" ? "refunded" : "unchanged";
};

const claimAndSend = async (run: Run, order: WaitingOrder): Promise<TurnResult> => {
  const { deps, heldAccounts } = run;
  const { ledger, outcomeQueue, upstream, gate } = deps;
  const { account_id: accountId } = order;
  // A promise in an object: the sequence waits for the claim and the beginning of the request, not for its end.
  const { sending } = await run.claimInSequence(accountId, async () => {
    if (heldAccounts.has(accountId)) return {};
    const deadline = earlierDeadline(run.deadline, deadlineIn(CLAIMED_ORDER_MS_MAX));
    const claim = await claimOrder(ledger, order, earlierDeadline(deadline, deadlineIn(CLAIM_MS_MAX)));
    if (claim.kind !== "claimed") heldAccounts.add(accountId);
    if (claim.kind === "not_claimed") return {};
    const { claimed } = claim;
    if (claim.kind === "indeterminate") {
      await outcomeQueue.send(waitMessageOf(ledger, claimed, order.waiting.order), UNSENT_CLAIM_DELAY_S, deadline);
      return {};
    }
    const wait = () => ({ order: order.waiting.order, estimatedS: 0 });
    const fulfil = () => fulfilPurchase({ upstream, gate, wait }, upstreamOrderOf(order), claimed, deadline);
    return { sending: fulfilAndSettle(deps, fulfil, claimed, deadline) };
  });
  if (sending === undefined) return "unchanged";
  const { estimatedS } = await sending;
  if (estimatedS === undefined) return "sent";
  heldAccounts.add(accountId);
  // The turn lasts longer: with `Retry-After: 0` the orders of all other accounts would be refused at once.
  await sleep(REFUSED_TURN_MS);
  return "unchanged";
};
