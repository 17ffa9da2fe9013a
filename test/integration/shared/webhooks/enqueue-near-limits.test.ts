import { beforeEach, expect, test, vi } from "vitest";
import { requireAccount } from "../../../../shared/access/account-store.ts";
import { setAccountLimits } from "../../../../shared/access/accounts.ts";
import { createKey, revokeKey, setKeyLimits } from "../../../../shared/access/keys.ts";
import { limitNear } from "../../../../shared/contract/openapi/openapi-webhooks.ts";
import type { OrderLimits } from "../../../../shared/contract/order-limits.ts";
import { DAY_MS } from "../../../../shared/contract/values/durations.ts";
import { getItem } from "../../../../shared/ledger/get-item.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import { subscriptionPk } from "../../../../shared/ledger/schema.ts";
import { NOT_DELIVERED, settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import type { DeliveryMessage } from "../../../../shared/webhooks/delivery-queue.ts";
import { enqueueNearLimits } from "../../../../shared/webhooks/enqueue-near-limits.ts";
import { subscriptionSchema } from "../../../../shared/webhooks/subscription.ts";
import { accountEventId } from "../../../../shared/webhooks/webhook-event.ts";
import { afterNext } from "../../../builders/dynamodb/another-process.ts";
import { proxyForTests } from "../../../builders/dynamodb/proxy-for-tests.ts";
import { type LedgerAtNoon, openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { firstEndpoint } from "../../../builders/webhooks/endpoint.ts";
import { subscribe } from "../../../builders/webhooks/subscribe.ts";

/**
 * Goal: `limit.near` is enqueued once for each limit and period, whatever fails. Method: debits in a real table behind a
 * proxy that injects faults, and a spied queue.
 */
const proxy = await proxyForTests();
let ledger: LedgerAtNoon;
beforeEach(async () => {
  ledger = await openLedgerAtNoon(proxy.endpoint);
});

/** A subscribed account whose orders of 500 NGN have these limits, and a key with its own. */
const anAccount = async (account: OrderLimits, key: OrderLimits = {}) => {
  const store = { ...ledger.tables, clock: ledger.clock };
  const accountId = await ledger.anAccount(10_000);
  const { keyId } = await createKey(store, accountId, { mode: "live" });
  await setAccountLimits(store, accountId, account);
  await setKeyLimits(store, accountId, keyId, key);
  await subscribe(ledger, accountId, ["limit.near"]);
  const buy = async (key_id = keyId) => {
    const { order_limits, keys } = await requireAccount(store, accountId);
    const limits = { account: order_limits, key: keys.find((each) => each.key_id === key_id)?.order_limits };
    const transaction = ledger.aTransaction(accountId, { key_id });
    const opened = await openTransaction(ledger, transaction, [], deadlineIn(29_000), {
      limits: { limits, timeZone: "Africa/Lagos" },
    });
    if (opened.kind !== "opened") throw new Error(`The order is ${opened.kind}`);
    return { ...transaction, ...(opened.counted && { counted: opened.counted }) };
  };
  return { accountId, keyId, store, buy };
};

const queueOf = () => ({ send: vi.fn(async (_message: DeliveryMessage, _accountId: string) => {}) });

/** The run of one minute: resolves with the data of what it enqueued. Only a faulty queue makes its number of ids wrong. */
const run = async (faulty?: ReturnType<typeof queueOf>) => {
  const queue = faulty ?? queueOf();
  const enqueued = await enqueueNearLimits({ ledger, queue }, deadlineIn(60_000));
  const ids = queue.send.mock.calls.map(([message]) => message.event === "limit.near" && accountEventId(message));
  if (faulty === undefined) expect(new Set(ids).size).toBe(enqueued);
  return queue.send.mock.calls.map(([message]) =>
    message.event === "limit.near" ? limitNear.parse(JSON.parse(message.body)).data : undefined,
  );
};

test("a limit is reported once in its day or month, and again in the next one and after it was changed", async () => {
  const { accountId, store, buy } = await anAccount({ day_naira: 1_000, month_orders: 4 });
  const day = { account_id: accountId, key_id: "", limit: "day_naira", max: 1_000, period: "2026-11-21" };
  await buy();
  expect(await run()).toEqual([]);
  await buy();
  expect(await run()).toEqual([day]);
  expect(await run()).toEqual([]);
  await setAccountLimits(store, accountId, { day_naira: 1_500, month_orders: 4 });
  await buy();
  expect(await run()).toEqual([{ ...day, max: 1_500 }]);
  ledger.nowMs += DAY_MS;
  await buy();
  expect(await run()).toEqual([{ ...day, limit: "month_orders", max: 4, period: "2026-11" }]);
  expect(await run()).toEqual([]);
});

test("a limit of a key is reported with its id, beside that of the account", async () => {
  const { accountId, keyId, buy } = await anAccount({ day_orders: 1 }, { month_naira: 500 });
  await buy();
  expect(await run()).toEqual([
    { account_id: accountId, key_id: "", limit: "day_orders", max: 1, period: "2026-11-21" },
    { account_id: accountId, key_id: keyId, limit: "month_naira", max: 500, period: "2026-11" },
  ]);
});

test("an account that chooses the event while a limit is near gets it, and one whose last order is older than two days does not", async () => {
  const { accountId, buy } = await anAccount({ month_orders: 1 });
  await subscribe(ledger, accountId, []);
  await buy();
  expect(await run()).toEqual([]);
  ledger.nowMs += DAY_MS;
  await subscribe(ledger, accountId, ["limit.near"]);
  expect(await run()).toHaveLength(1);
  await subscribe(ledger, accountId, []);
  ledger.nowMs += 2 * DAY_MS;
  await subscribe(ledger, accountId, ["limit.near"]);
  expect(await run()).toEqual([]);
});

test("a run that dies after enqueueing an event enqueues the same one again, and then no more", async () => {
  captureLog();
  const { buy } = await anAccount({ day_orders: 1 });
  await buy();
  const [failing, first, second] = [queueOf(), queueOf(), queueOf()];
  failing.send.mockRejectedValueOnce(new Error("SQS is unavailable"));
  await run(failing);
  proxy.fault = ({ operation }) => (operation === "PutItem" ? "never_arrives" : undefined);
  await run(first);
  proxy.fault = () => undefined;
  expect(await run(second)).toHaveLength(1);
  expect([first.send.mock.calls, second.send.mock.calls]).toEqual([failing.send.mock.calls, failing.send.mock.calls]);
  proxy.calls.length = 0;
  expect(await run()).toEqual([]);
  expect(proxy.calls.map(({ operation }) => operation)).toEqual(["Query", "BatchGetItem", "BatchGetItem", "GetItem"]);
});

test("a choice that ends while an event is enqueued stays ended, and gets none while the index still lists it", async () => {
  const { accountId, buy } = await anAccount({ day_orders: 1 });
  await buy();
  const queue = queueOf();
  queue.send.mockImplementationOnce(() => subscribe(ledger, accountId, []));
  await run(queue);
  const pk = subscriptionPk("limit.near", firstEndpoint(accountId));
  expect(await getItem(ledger, pk, subscriptionSchema)).not.toHaveProperty("open");
  await subscribe(ledger, accountId, ["limit.near"]);
  afterNext(ledger.db, "query", () => subscribe(ledger, accountId, []));
  expect(await run()).toEqual([]);
});

test("a choice that ends and begins again while its event is enqueued gets the event of its own", async () => {
  const { accountId, buy } = await anAccount({ day_orders: 1 });
  await buy();
  const queue = queueOf();
  queue.send.mockImplementationOnce(async () => {
    ledger.nowMs += 1_000;
    for (const events of [[], ["limit.near"]] as const) await subscribe(ledger, accountId, events);
  });
  expect(await run(queue)).toHaveLength(1);
  expect(await run()).toHaveLength(1);
});

test("a limit is not reported after a refund has brought what is used to 80 % or less, but after the next order", async () => {
  const { buy } = await anAccount({ day_naira: 1_000 });
  await buy();
  await settleTransaction(ledger, await buy(), NOT_DELIVERED, deadlineIn(29_000));
  expect(await run()).toEqual([]);
  await buy();
  expect(await run()).toHaveLength(1);
});

test("a limit of a month is reported once, also if its key rests for days in which another limit is reported", async () => {
  const { accountId, keyId, store, buy } = await anAccount({}, { day_orders: 5, month_orders: 6 });
  const { keyId: otherId } = await createKey(store, accountId, { mode: "live" });
  await setKeyLimits(store, accountId, otherId, { day_orders: 1 });
  for (let order = 0; order < 5; order += 1) await buy();
  expect(await run()).toHaveLength(2);
  ledger.nowMs += 3 * DAY_MS;
  await buy(otherId);
  expect(await run()).toHaveLength(1);
  await buy();
  expect(await run()).toEqual([]);
  const subscription = await getItem(
    ledger,
    subscriptionPk("limit.near", firstEndpoint(accountId)),
    subscriptionSchema,
  );
  expect(subscription?.sent).toEqual([`${keyId}.month_orders.6.2026-11`, `${otherId}.day_orders.1.2026-11-24`]);
});

test("a limit that was raised or removed, or of a revoked key, is not reported, and one that gets its old value back is reported once", async () => {
  const { accountId, keyId, store, buy } = await anAccount({ day_naira: 1_000 }, { month_orders: 2 });
  await buy();
  await buy();
  await setAccountLimits(store, accountId, { day_naira: 100_000 });
  await setKeyLimits(store, accountId, keyId, { day_orders: 100 });
  expect(await run()).toEqual([]);
  await setAccountLimits(store, accountId, { day_naira: 1_000 });
  expect(await run()).toHaveLength(1);
  await setAccountLimits(store, accountId, {});
  await setKeyLimits(store, accountId, keyId, { month_orders: 2 });
  expect(await run()).toHaveLength(1);
  await setAccountLimits(store, accountId, { day_naira: 1_000 });
  expect(await run()).toEqual([]);
  await setKeyLimits(store, accountId, keyId, { day_orders: 2 });
  await revokeKey(store, accountId, keyId);
  expect(await run()).toEqual([]);
});
