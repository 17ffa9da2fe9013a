import { beforeEach, describe, expect, test } from "vitest";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { walletPk } from "../../../../shared/ledger/schema.ts";
import { isQueuedOrder, referenceOf, type Transaction } from "../../../../shared/ledger/transaction.ts";
import { walletRestriction } from "../../../../shared/ledger/wallet.ts";
import { writePurchasesSwitch } from "../../../../shared/orders/purchases-switch.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { type EnqueueTarget, enqueueOrder } from "../../../../shared/queued-orders/queue-store.ts";
import {
  queuedOrderJson,
  queuedText,
  readQueuedOrders,
  readQueueLength,
  sendingText,
} from "../../../../shared/queued-orders/queued-orders-report.ts";
import { noteQueue } from "../../../../shared/queued-orders/upstream-pace.ts";
import { walletQueueJoin } from "../../../../shared/queued-orders/wallet-queue.ts";
import { afterNext } from "../../../builders/dynamodb/another-process.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { type LedgerAtNoon, openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { claimAsSender, storedQueued } from "../../../builders/ledger/queued-order.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

/** Goal: operators see which orders wait, why, for how long, and what becomes of them. */
const NO_QUEUE = { tail: 0, head: 1, front: new Set<number>(), gaps: new Set<number>() };

let ledger: LedgerAtNoon;
beforeEach(async () => {
  ledger = await openLedgerAtNoon();
});

const cache = () => ({ db: ledger.tables.db, table: ledger.tables.cacheTable });
const deps = () => ({ ledger, purchases: { ...cache(), initially: "on" as const }, queueMinutes: 15 });
const switchOff = () =>
  writePurchasesSwitch(deps().purchases, { purchases: "off", since: isoTime(ledger.nowMs), by: "ada" });
const restrict = (accountId: string) =>
  ledger.db.update(walletRestriction(ledger.table, accountId, true, NOON_MS).Update);

/** An order for 500 NGN that waits; with `refusals` it is set aside. */
const aQueuedOrder = async (accountId: string, changes: Pick<EnqueueTarget, "refusals"> = {}) => {
  const transaction = await ledger.anOpenTransaction(accountId);
  const toSend = { kind: "airtime", network: "mtn" } as const;
  await enqueueOrder(ledger, { ...transaction, ...changes }, toSend, deadlineIn(29_000));
  return storedQueued(ledger, transaction.pk);
};

/** What the report says of the accounts, with the keys of their orders. */
const accountsOf = ({ accounts }: Awaited<ReturnType<typeof readQueuedOrders>>) =>
  new Map(
    accounts.map(({ accountId, orders, ...account }) => [accountId, { ...account, pks: orders.map(({ pk }) => pk) }]),
  );

test("the report has each account with orders that wait, in its queue or set aside, and of one account its own only", async () => {
  const [queued, aside, restricted, counted, sent] = [
    await ledger.anAccount(2_000),
    await ledger.anAccount(1_000),
    await ledger.anAccount(1_000),
    await ledger.anAccount(1_000),
    await ledger.anAccount(1_000),
  ];
  const first = await aQueuedOrder(queued);
  ledger.nowMs += 30_000;
  const [second, third] = [await aQueuedOrder(queued), await aQueuedOrder(queued, { refusals: 1 })];
  const alone = await aQueuedOrder(aside, { refusals: 1 });
  const held = await aQueuedOrder(restricted);
  await restrict(restricted);
  // The index does not list the order yet.
  await ledger.db.update(walletQueueJoin(ledger, counted, NO_QUEUE).Update);
  // The wallet is listed until the sender's next run.
  await claimAsSender(ledger, await aQueuedOrder(sent));
  ledger.nowMs += 30_000;
  await noteQueue(cache(), {
    queue_until: isoTime(NOON_MS),
    queued_orders: 5,
    per_minute: 30,
    next_run: isoTime(NOON_MS),
  });

  const unnumbered = await ledger.anAccount(1_000);
  const restored = await aQueuedOrder(unnumbered);
  // The wallet was restored without its orders.
  await changeItem(ledger, walletPk(unnumbered), { queue_tail: undefined, queue_head: undefined });

  const report = await readQueuedOrders(deps());
  expect(report).toMatchObject({ count: 6, amountKobo: 3_000_00, oldestS: 60, sendingS: 12 });
  expect(await readQueueLength(deps())).toEqual({ count: 6, oldestS: 60, sendingS: 12 });
  expect(sendingText(90)).toBe("about 1 min once the limit is free");
  expect(accountsOf(report)).toEqual(
    new Map([
      [queued, { pks: [first.pk, second.pk, third.pk], counted: 3, isRestricted: false }],
      [aside, { pks: [alone.pk], counted: 1, isRestricted: false }],
      [restricted, { pks: [held.pk], counted: 1, isRestricted: true }],
      [counted, { pks: [], counted: 1, isRestricted: false }],
      [unnumbered, { pks: [restored.pk], counted: 0, isRestricted: false }],
    ]),
  );
  const own = await readQueuedOrders(deps(), aside);
  expect([...accountsOf(own).keys()]).toEqual([aside]);
  expect(own).toMatchObject({ count: 1, amountKobo: 500_00, oldestS: 30 });

  const reasonOf = (order: typeof first, isRestricted = false) => queuedOrderJson(order, isRestricted, ledger.nowMs);
  expect(reasonOf(first)).toEqual({
    reference: referenceOf(first),
    account_id: queued,
    amount: 500,
    created_at: isoTime(NOON_MS),
    age_s: 60,
    reason: "upstream_limit",
  });
  expect([reasonOf(third).reason, reasonOf(third, true).reason]).toEqual(["refused_by_upstream", "account_restricted"]);
  // The clock of the instance that took the order may be ahead.
  expect(queuedOrderJson(first, false, NOON_MS - 1_000).age_s).toBe(0);
});

test("an order that another run claims while the report is made is not in it", async () => {
  const order = await aQueuedOrder(await ledger.anAccount(1_000), { refusals: 1 });
  afterNext(ledger.db, "query", () => claimAsSender(ledger, order));
  expect(await readQueuedOrders(deps())).toMatchObject({ accounts: [], count: 0 });
});

test("without an order that waits there is no oldest one, and while purchases are off nothing is sent", async () => {
  const none = { accounts: [], count: 0, amountKobo: 0, oldestS: undefined };
  expect(await readQueuedOrders(deps())).toEqual({ ...none, sendingS: 0 });
  expect(await readQueueLength(deps())).toEqual({ count: 0, oldestS: undefined, sendingS: 0 });
  await switchOff();
  expect(await readQueuedOrders(deps())).toEqual({ ...none, sendingS: undefined });
});

describe("what an operator reads of an order", () => {
  const textOf = async ({ pk }: Pick<Transaction, "pk">) => {
    const stored = await readTransaction(ledger, pk);
    return stored && queuedText(deps(), stored);
  };
  const REFUNDED = `refunded by the next run after ${isoTime(NOON_MS + 15 * MINUTE_MS)}, unless it is sent before`;
  const SINCE = `waits since ${isoTime(NOON_MS)}`;

  test("that never waited is nothing, and of one that was sent how long it waited", async () => {
    const accountId = await ledger.anAccount(1_000);
    expect(await textOf(await ledger.anOpenTransaction(accountId))).toBeUndefined();
    const order = await aQueuedOrder(accountId);
    ledger.nowMs += 3 * MINUTE_MS;
    await claimAsSender(ledger, order);
    expect(await textOf(order)).toBe(`waited 3 min, until ${isoTime(NOON_MS + 3 * MINUTE_MS)}`);
  });

  test("that waits is why, and when it is refunded", async () => {
    const accountId = await ledger.anAccount(1_000);
    const [order, aside] = [await aQueuedOrder(accountId), await aQueuedOrder(accountId, { refusals: 1 })];
    expect(await textOf(order)).toBe(`${SINCE} for the upstream's rate limit; ${REFUNDED}`);
    const byItself = "because the upstream refused this order with 429, although its limit was not spent";
    expect(await textOf(aside)).toBe(`${SINCE} ${byItself}; ${REFUNDED}`);
    await restrict(accountId);
    expect(await textOf(order)).toBe(`${SINCE} because the account is restricted; ${REFUNDED}`);
  });

  test("that waits while purchases are off, or in another ledger, is that it is not refunded", async () => {
    const order = await aQueuedOrder(await ledger.anAccount(1_000));
    await switchOff();
    expect(await textOf(order)).toMatch("; purchases are off: it is neither sent nor refunded");
    const restored = { ...order, queued: { ...order.queued, table: "earlier" } };
    expect(isQueuedOrder(restored) && (await queuedText(deps(), restored))).toMatch(
      ", in the table earlier: it may have been sent since, and is not sent again",
    );
  });
});
