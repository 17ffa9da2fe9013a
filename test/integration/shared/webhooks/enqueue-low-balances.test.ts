import { beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "#zod";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { auditEntry, auditPut } from "../../../../shared/ledger/audit.ts";
import { getItem } from "../../../../shared/ledger/get-item.ts";
import { setLowBalanceThreshold } from "../../../../shared/ledger/low-balance-threshold.ts";
import { subscriptionPk, walletPk } from "../../../../shared/ledger/schema.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import type { DeliveryMessage } from "../../../../shared/webhooks/delivery-queue.ts";
import { enqueueLowBalances } from "../../../../shared/webhooks/enqueue-low-balances.ts";
import { subscriptionSchema } from "../../../../shared/webhooks/subscription.ts";
import { beforeNext } from "../../../builders/dynamodb/another-process.ts";
import { proxyForTests } from "../../../builders/dynamodb/proxy-for-tests.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { type LedgerAtNoon, openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { firstEndpoint } from "../../../builders/webhooks/endpoint.ts";
import { subscribe } from "../../../builders/webhooks/subscribe.ts";

/**
 * Goal: `wallet.low` is enqueued once for each fall of a balance below its threshold, whatever fails. Method: a real
 * table behind a proxy that injects faults, and a spied queue.
 */
const proxy = await proxyForTests();
let ledger: LedgerAtNoon;
beforeEach(async () => {
  ledger = await openLedgerAtNoon(proxy.endpoint);
});

const setThreshold = (accountId: string, naira: number | undefined): Promise<void> => {
  const audit = auditEntry({ audit_log: accountId, by: "ada", action: "wallet threshold" }, ledger.nowMs);
  const kobo = naira === undefined ? undefined : koboFromNaira(naira);
  return setLowBalanceThreshold(ledger, accountId, kobo, auditPut(ledger, audit));
};

/** A subscribed account with 1,000 NGN and the threshold 500. */
const anAccount = async (): Promise<string> => {
  const accountId = await ledger.anAccount(1_000);
  await setThreshold(accountId, 500);
  await subscribe(ledger, accountId, ["wallet.low"]);
  return accountId;
};

const subscriptionOf = (accountId: string) =>
  getItem(ledger, subscriptionPk("wallet.low", firstEndpoint(accountId)), subscriptionSchema);

const setBalance = async (accountId: string, naira: number): Promise<void> => {
  const { balance_kobo } = await readWallet(ledger, accountId);
  await ledger.addToWallet(accountId, "balance_kobo", naira * 100 - balance_kobo);
};

const queueOf = () => ({ send: vi.fn(async (_message: DeliveryMessage, _accountId: string) => {}) });
const eventOf = (message: DeliveryMessage | undefined) =>
  message === undefined || message.event === "transaction.updated" ? undefined : message;
const bodySchema = z.object({ event: z.literal("wallet.low"), data: z.record(z.string(), z.unknown()) });

/** The run of one minute: resolves with the data of what it enqueued. Only a faulty queue makes its number wrong. */
const run = async (faulty?: ReturnType<typeof queueOf>): Promise<readonly unknown[]> => {
  const queue = faulty ?? queueOf();
  ledger.nowMs += MINUTE_MS;
  const enqueued = await enqueueLowBalances({ ledger, queue }, deadlineIn(60_000));
  if (faulty === undefined) expect(enqueued).toBe(queue.send.mock.calls.length);
  return queue.send.mock.calls.map(([message]) => bodySchema.parse(JSON.parse(eventOf(message)?.body ?? "")).data);
};

const alarms = () => {
  const log = captureLog();
  return () => log.lines().filter(({ Alarms }) => Alarms === 1);
};

/** Subscribed accounts with low balances; a hundred are a batch. */
const manyAccounts = async (count: number): Promise<readonly string[]> => {
  const accountId = await anAccount();
  await setBalance(accountId, 10);
  const itemOf = async (pk: string) => (await ledger.db.get({ TableName: ledger.table, Key: { pk } })).Item;
  const subscription = await itemOf(subscriptionPk("wallet.low", firstEndpoint(accountId)));
  const wallet = await itemOf(walletPk(accountId));
  const others = Array.from({ length: count - 1 }, (_, index) => `acc_${index}`);
  const items = others.flatMap((account_id) => [
    { ...subscription, pk: subscriptionPk("wallet.low", firstEndpoint(account_id)), account_id },
    { ...wallet, pk: walletPk(account_id), account_id },
  ]);
  await putItems(ledger.db, ledger.table, items);
  return [accountId, ...others];
};

test("of more subscriptions than a run can check, each one has its turn", async () => {
  const accounts = await manyAccounts(300);
  const queue = queueOf();
  for (let minute = 0; minute < 6; minute += 1) {
    ledger.nowMs += MINUTE_MS;
    // Time for one batch.
    const remainingMs = vi.fn(() => 10_000).mockReturnValueOnce(60_000);
    await enqueueLowBalances({ ledger, queue }, { remainingMs });
  }
  expect(new Set(queue.send.mock.calls.map(([, account]) => account))).toEqual(new Set(accounts));
});

test("a run that takes long leaves half of its time to limits that are near", async () => {
  const shown = alarms();
  await manyAccounts(300);
  const queue = queueOf();
  queue.send.mockImplementation(async () => {
    ledger.nowMs += 200;
  });
  expect(await enqueueLowBalances({ ledger, queue }, deadlineIn(60_000, ledger.clock))).toBe(100);
  expect(shown()).toMatchObject([{ webhook: "wallet.low", reason: "out_of_time" }]);
});

describe("a balance below its threshold", () => {
  test("is reported once, and again only after it was not below in between", async () => {
    const accountId = await anAccount();
    expect(await run()).toEqual([]);
    await setBalance(accountId, 499.99);
    const first = { account_id: accountId, balance: 499.99, threshold: 500, at: isoTime(ledger.nowMs + MINUTE_MS) };
    expect(await run()).toEqual([first]);
    await setBalance(accountId, 100);
    expect(await run()).toEqual([]);
    await setBalance(accountId, 500);
    expect(await run()).toEqual([]);
    await setBalance(accountId, 499);
    expect(await run()).toMatchObject([{ balance: 499, at: isoTime(ledger.nowMs) }]);
    expect(await run()).toEqual([]);
  });

  test("is reported after the threshold was set above it, but not again after another threshold above it", async () => {
    const accountId = await anAccount();
    await setThreshold(accountId, 1_001);
    expect(await run()).toMatchObject([{ balance: 1_000, threshold: 1_001 }]);
    await setThreshold(accountId, 2_000);
    expect(await run()).toEqual([]);
    await setThreshold(accountId, undefined);
    expect(await run()).toEqual([]);
    await setThreshold(accountId, 2_000);
    expect(await run()).toHaveLength(1);
  });

  test("is reported to an account that subscribes while it is low, but not without a subscription or a threshold", async () => {
    const [unsubscribed, without] = [await ledger.anAccount(10), await ledger.anAccount(10)];
    await setThreshold(unsubscribed, 500);
    await subscribe(ledger, without, ["wallet.low"]);
    expect(await run()).toEqual([]);
    await subscribe(ledger, unsubscribed, ["wallet.low"]);
    expect(await run()).toMatchObject([{ account_id: unsubscribed }]);
    // The same events again change nothing.
    await subscribe(ledger, unsubscribed, ["wallet.low", "catalog.updated"]);
    expect(await run()).toEqual([]);
    await subscribe(ledger, unsubscribed, ["catalog.updated"]);
    await setBalance(unsubscribed, 1_000);
    await setBalance(unsubscribed, 10);
    expect(await run()).toEqual([]);
  });

  test("the check writes nothing to the wallet, and nothing at all while no balance falls below its threshold", async () => {
    const [accountId] = [await anAccount(), await anAccount()];
    await setBalance(accountId, 10);
    const before = await readWallet(ledger, accountId);
    await run();
    expect(await readWallet(ledger, accountId)).toEqual(before);
    proxy.calls.length = 0;
    await run();
    expect(proxy.calls.map(({ operation }) => operation)).toEqual(["Query", "BatchGetItem", "BatchGetItem"]);
  });
});

describe("a fault", () => {
  test("an event that could not be enqueued is enqueued by the next run, with the same id and body, even if the balance has risen", async () => {
    const shown = alarms();
    const accountId = await anAccount();
    await setBalance(accountId, 10);
    const failing = queueOf();
    failing.send.mockRejectedValueOnce(new Error("SQS is unavailable"));
    await run(failing);
    expect(shown()).toHaveLength(1);
    await setBalance(accountId, 1_000);
    const queue = queueOf();
    expect(await run(queue)).toMatchObject([{ balance: 10 }]);
    expect(queue.send.mock.calls).toEqual(failing.send.mock.calls);
    expect(await run()).toEqual([]);
    await setBalance(accountId, 10);
    expect(await run()).toHaveLength(1);
  });

  test("a run that dies after enqueueing the event enqueues the same one again, and then no more", async () => {
    alarms();
    const accountId = await anAccount();
    await setBalance(accountId, 10);
    let puts = 0;
    proxy.fault = ({ operation }) => {
      if (operation !== "PutItem") return undefined;
      puts += 1;
      return puts === 1 ? undefined : "never_arrives";
    };
    const [first, second] = [queueOf(), queueOf()];
    expect(await run(first)).toHaveLength(1);
    proxy.fault = () => undefined;
    expect(await run(second)).toHaveLength(1);
    expect(second.send.mock.calls).toEqual(first.send.mock.calls);
    expect(await run()).toEqual([]);
  });

  test("a mark whose answer was lost is followed by its event in the next run at the latest, once", async () => {
    alarms();
    const accountId = await anAccount();
    await setBalance(accountId, 10);
    let puts = 0;
    proxy.fault = ({ operation }) => {
      puts += operation === "PutItem" ? 1 : 0;
      return operation === "PutItem" && puts === 1 ? "answer_lost" : undefined;
    };
    const sent = [...(await run()), ...(await run()), ...(await run())];
    expect(sent).toHaveLength(1);
  });

  test("of two simultaneous runs one notices a fall", async () => {
    const accountId = await anAccount();
    await setBalance(accountId, 10);
    const queue = queueOf();
    const runOf = (laterMs: number) =>
      enqueueLowBalances({ ledger: { ...ledger, clock: () => ledger.nowMs + laterMs }, queue }, deadlineIn(60_000));
    await Promise.all([runOf(0), runOf(1)]);
    expect(new Set(queue.send.mock.calls.map(([message]) => eventOf(message)?.occurrence)).size).toBe(1);
    expect(await run()).toEqual([]);
  });

  test("a choice that ends while its event is enqueued stays ended", async () => {
    const accountId = await anAccount();
    await setBalance(accountId, 10);
    const queue = queueOf();
    queue.send.mockImplementationOnce(() => subscribe(ledger, accountId, []));
    expect(await run(queue)).toHaveLength(1);
    expect(await subscriptionOf(accountId)).not.toHaveProperty("open");
  });

  test("a choice that ends before its fall is marked stays ended, and gets no event", async () => {
    const accountId = await anAccount();
    await setBalance(accountId, 10);
    beforeNext(ledger.db, "put", () => subscribe(ledger, accountId, []));
    expect(await run()).toEqual([]);
    expect(await subscriptionOf(accountId)).not.toHaveProperty("open");
  });

  test("a choice that ends and begins again while its event is enqueued gets the event of its own", async () => {
    const accountId = await anAccount();
    await setBalance(accountId, 10);
    const queue = queueOf();
    queue.send.mockImplementationOnce(async () => {
      for (const events of [[], ["wallet.low"]] as const) await subscribe(ledger, accountId, events);
    });
    expect(await run(queue)).toHaveLength(1);
    expect(await run()).toHaveLength(1);
  });

  test.each([
    [
      "a subscription",
      (accountId: string) => {
        const pk = subscriptionPk("wallet.low", firstEndpoint(accountId));
        return { pk, open: "subscription#wallet.low", listed_at: isoTime(ledger.nowMs) };
      },
    ],
    ["a wallet", (accountId: string) => ({ pk: walletPk(accountId), balance_kobo: "later" })],
  ])("%s that cannot be read raises an alarm, and delays no other account", async (_what, broken) => {
    const shown = alarms();
    const [accountId, other] = [await anAccount(), await anAccount()];
    await setBalance(other, 10);
    const Item = broken(accountId);
    await ledger.db.put({ TableName: ledger.table, Item });
    expect(await run()).toMatchObject([{ account_id: other }]);
    expect(shown()).toMatchObject([{ event: "subscriptions.not_checked", record: Item.pk }]);
  });

  test("an account without a wallet is left out, and the next one is checked", async () => {
    const shown = alarms();
    const [without, accountId] = [await anAccount(), await anAccount()];
    await ledger.db.delete({ TableName: ledger.table, Key: { pk: walletPk(without) } });
    await setBalance(accountId, 10);
    expect(await run()).toMatchObject([{ account_id: accountId }]);
    expect(shown()).toEqual([]);
  });

  test("a run without time, or that cannot read, raises an alarm instead of leaving balances out silently", async () => {
    const shown = alarms();
    await anAccount();
    await enqueueLowBalances({ ledger, queue: queueOf() }, { remainingMs: () => 10_000 });
    expect(shown()).toMatchObject([{ reason: "out_of_time" }]);
    proxy.fault = ({ operation }) => (operation === "BatchGetItem" ? "never_arrives" : undefined);
    expect(await run()).toEqual([]);
    expect(shown().slice(1)).toMatchObject([{ event: "subscriptions.not_checked", webhook: "wallet.low" }]);
  });
});
