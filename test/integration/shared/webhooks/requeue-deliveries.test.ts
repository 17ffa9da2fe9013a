import { beforeEach, describe, expect, test, vi } from "vitest";
import { accountSchema, findAccount, type StoredEndpoint } from "../../../../shared/access/account-store.ts";
import { createAccount } from "../../../../shared/access/accounts.ts";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { openTransactions } from "../../../../shared/ledger/find-transactions.ts";
import { ALL_TIMES } from "../../../../shared/ledger/query-index.ts";
import { type Deadline, deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { type Delivery, newDelivery } from "../../../../shared/webhooks/delivery.ts";
import type { DeliveryMessage } from "../../../../shared/webhooks/delivery-queue.ts";
import { recordEndpointHealth } from "../../../../shared/webhooks/endpoint-health.ts";
import {
  readParkedEndpoint,
  scheduleRequeue as scheduleRequeueOf,
} from "../../../../shared/webhooks/parked-endpoint.ts";
import {
  DELIVERIES_PER_REQUEUE,
  requeueAtOnce,
  requeueDeliveries,
} from "../../../../shared/webhooks/requeue-deliveries.ts";
import { beforeNext } from "../../../builders/dynamodb/another-process.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { anEndpoint, ENDPOINT, firstEndpoint } from "../../../builders/webhooks/endpoint.ts";

/**
 * Goal: parked deliveries come back to the queue when they are due, whatever fails. Method: a real table, a spied
 * queue.
 */
const NOON = Date.parse("2026-11-22T12:00:00.000Z");
let nowMs = NOON;
let tables: Awaited<ReturnType<typeof freshTables>>;
beforeEach(async () => {
  nowMs = NOON;
  tables = await freshTables();
});
const clock = () => nowMs;
const ledgerOf = () => ({ db: tables.db, table: tables.ledgerTable, clock });
const inMinutes = (minutes: number): string => isoTime(NOON + minutes * MINUTE_MS);

const anAccount = async (changes: Partial<StoredEndpoint> = {}): Promise<string> => {
  const { account_id } = await createAccount({ ...tables, clock }, { name: "app", whitelist: [] });
  const account = accountSchema.parse(await findAccount(tables, account_id));
  const endpoints = [anEndpoint({ id: "2", name: "Another" }), anEndpoint({ generation: 1, ...changes })];
  await tables.db.put({ TableName: tables.ledgerTable, Item: { ...account, endpoints } });
  return account_id;
};

/** An account whose endpoint has failed for three events. */
const anAccountThatIsDown = async (changes: Partial<StoredEndpoint> = {}): Promise<string> => {
  const accountId = await anAccount(changes);
  await failThrice(accountId);
  return accountId;
};
const failThrice = async (accountId: string): Promise<void> => {
  for (const event of ["a", "b", "c"]) {
    const observation = { kind: "failing", since: inMinutes(-2), event } as const;
    await recordEndpointHealth(ledgerOf(), { ...firstEndpoint(accountId), generation: 1 }, observation);
  }
};

/** Parks deliveries, the first one being the oldest, with their changes. */
const park = async (accountId: string, ...changes: readonly Partial<Delivery>[]): Promise<void> => {
  const parked = changes.map((change, index) => {
    const transaction = `transaction#${accountId}-${index + 1}`;
    const event = { event: "transaction.updated", transaction_pk: transaction, status: "success" } as const;
    const message = { ...event, endpoint: ENDPOINT };
    const delivery = newDelivery(message, { accountId, webhookId: `evt_${index}` }, NOON - MINUTE_MS + index);
    return { ...delivery, open: `parked#${accountId}#${ENDPOINT}`, listed_at: delivery.created_at, ...change };
  });
  await putItems(tables.db, tables.ledgerTable, parked);
};

/** The same, with a requeue at noon. */
const parkDue = async (accountId: string, ...changes: readonly Partial<Delivery>[]): Promise<void> => {
  await park(accountId, ...changes);
  await scheduleRequeueOf(ledgerOf(), firstEndpoint(accountId), NOON);
};
const anAccountWithDue = async (...changes: readonly Partial<Delivery>[]): Promise<string> => {
  const accountId = await anAccount();
  await parkDue(accountId, ...changes);
  return accountId;
};

const transactionIn = (message: DeliveryMessage): string =>
  message.event === "transaction.updated" ? message.transaction_pk : message.occurrence;

const queueOf = () => ({ send: vi.fn(async (_message: DeliveryMessage, _accountId: string) => {}) });
const run = async (queue = queueOf(), deadline: Deadline = deadlineIn(60_000)) => {
  const deps = { ledger: ledgerOf(), accounts: tables, queue };
  const ran = await requeueDeliveries(deps, deadline);
  const sent = queue.send.mock.calls.map(
    ([message]) => `${transactionIn(message).split("-")[1]}${message.probe ? " probe" : ""}`,
  );
  return { ran, sent, queue };
};
const scheduleRequeue = (ledger: ReturnType<typeof ledgerOf>, accountId: string, atMs: number) =>
  scheduleRequeueOf(ledger, firstEndpoint(accountId), atMs);
const nextRequeue = async (accountId: string) =>
  (await readParkedEndpoint(ledgerOf(), firstEndpoint(accountId)))?.listed_at;

test("what is due is put into the queue, oldest first, and again after 7 hours unless an attempt was recorded", async () => {
  const accountId = await anAccount();
  const repeated = { pk: "delivery#repeated", repeat: "announce-1", transaction_pk: "transaction#x-2" };
  await parkDue(accountId, {}, repeated, { next_attempt_at: inMinutes(480) });
  const { sent, ran, queue } = await run();
  expect(sent).toEqual(["1", "2"]);
  expect(ran).toEqual({ endpoints: 1, requeued: 2 });
  expect(queue.send.mock.calls[1]).toEqual([
    {
      ...{ event: "transaction.updated", transaction_pk: "transaction#x-2", status: "success" },
      ...{ endpoint: ENDPOINT, repeat: "announce-1" },
    },
    accountId,
  ]);
  nowMs += 419 * MINUTE_MS;
  expect((await run()).sent).toEqual([]);
  nowMs += MINUTE_MS;
  expect((await run()).sent).toEqual(["1", "2"]);
  nowMs = NOON + 480 * MINUTE_MS;
  expect((await run()).sent).toEqual(["1", "2", "3"]);
  nowMs += MINUTE_MS;
  expect((await run()).sent).toEqual([]);
});

test("an account with parked deliveries is not read before its next requeue", async () => {
  const accountId = await anAccount();
  await park(accountId, {});
  await scheduleRequeue(ledgerOf(), accountId, NOON + 1);
  expect(await run()).toMatchObject({ sent: [], ran: { endpoints: 0 } });
  nowMs += 1;
  expect((await run()).sent).toEqual(["1"]);
});

test("a long list is sent in several runs, a bounded number in each, and none twice", async () => {
  const accountId = await anAccount();
  const count = DELIVERIES_PER_REQUEUE + 50;
  const attempts = [{ number: 1, at: inMinutes(-1), outcome: "status", duration_ms: 1 }];
  await parkDue(accountId, ...Array.from({ length: count }, (_, index) => (index < 100 ? { attempts } : {})));
  const first = await run();
  expect(first.ran).toEqual({ endpoints: 1, requeued: DELIVERIES_PER_REQUEUE });
  nowMs += MINUTE_MS;
  const second = await run();
  expect(second.ran).toEqual({ endpoints: 1, requeued: 50 });
  expect([...first.sent, ...second.sent]).toEqual(Array.from({ length: count }, (_, index) => String(index + 1)));
  nowMs += MINUTE_MS;
  expect((await run()).sent).toEqual([]);
  // An endpoint that goes down while its list is read: the probe is of the oldest hundred, not of the next part.
  nowMs = NOON + 420 * MINUTE_MS;
  expect((await run()).sent).toHaveLength(DELIVERIES_PER_REQUEUE);
  await failThrice(accountId);
  nowMs += MINUTE_MS;
  expect((await run()).sent).toEqual(["1 probe"]);
  // The next probe is sent later than the next part of a list.
  expect(await nextRequeue(accountId)).toBe(inMinutes(421 + 5));
  const deps = { ledger: ledgerOf(), queue: queueOf() };
  expect(await requeueAtOnce(deps, firstEndpoint(accountId))).toBe(DELIVERIES_PER_REQUEUE);
});

test("a run whose queue fails raises an alarm, delays no other account, and is repeated by the next one", async () => {
  const log = captureLog();
  const [failing, other] = [await anAccount(), await anAccount()];
  for (const accountId of [failing, other]) {
    await park(accountId, {});
    await scheduleRequeue(ledgerOf(), accountId, NOON);
  }
  const queue = queueOf();
  queue.send.mockImplementation(async (_message, accountId) => {
    if (accountId === failing) throw new Error("The queue is gone");
  });
  const { ran } = await run(queue);
  expect(ran).toEqual({ endpoints: 2, requeued: 1 });
  expect(log.lines("deliveries.not_requeued")).toMatchObject([{ account: failing, endpoint: ENDPOINT }]);
  nowMs += MINUTE_MS;
  expect((await run()).ran).toEqual({ endpoints: 1, requeued: 1 });
});

test("a requeue whose queue does not answer raises an alarm once the deliveries have been due for 15 minutes", async () => {
  const log = captureLog();
  await anAccountWithDue({});
  const queue = queueOf();
  queue.send.mockRejectedValue(Object.assign(new Error("Timeout"), { name: "TimeoutError" }));
  const dueMs = nowMs;
  for (const atMs of [0, 15 * MINUTE_MS, 15 * MINUTE_MS + 1]) {
    nowMs = dueMs + atMs;
    await run(queue);
  }
  expect(log.lines("deliveries.requeue_delayed")).toHaveLength(2);
  expect(log.lines("deliveries.not_requeued")).toHaveLength(1);
});

test("a requeue that is scheduled while another one is under way is not overwritten by it", async () => {
  const accountId = await anAccountWithDue({});
  const queue = queueOf();
  // The delivery is made before the run ends, and the recovery of its endpoint schedules a requeue: an earlier time is
  // kept.
  queue.send.mockImplementation(async () => scheduleRequeue(ledgerOf(), accountId, NOON - MINUTE_MS));
  await run(queue);
  expect(await nextRequeue(accountId)).toBe(inMinutes(-1));
});

test("a delivery that is parked while a requeue is under way is requeued when it is due, not 7 hours later", async () => {
  const accountId = await anAccountWithDue({});
  const queue = queueOf();
  // The requeue has read the index before.
  queue.send.mockImplementation(async () => {
    await scheduleRequeue(ledgerOf(), accountId, NOON + 40 * MINUTE_MS);
    await scheduleRequeue(ledgerOf(), accountId, NOON + 30 * MINUTE_MS);
  });
  await run(queue);
  expect(await nextRequeue(accountId)).toBe(inMinutes(30));
});

test("a delivery that the index shows late is requeued when it is due, also if the list was empty for days", async () => {
  const accountId = await anAccount();
  await scheduleRequeue(ledgerOf(), accountId, NOON);
  await run();
  nowMs += 15 * MINUTE_MS;
  await run();
  nowMs += 24 * 60 * MINUTE_MS;
  const daily = nowMs;
  expect(await nextRequeue(accountId)).toBe(isoTime(daily));
  // A moment before the daily run.
  nowMs = daily - 1_000;
  await scheduleRequeue(ledgerOf(), accountId, daily + 30 * MINUTE_MS);
  nowMs = daily;
  await run();
  await park(accountId, { next_attempt_at: isoTime(daily + 30 * MINUTE_MS) });
  nowMs = daily + 30 * MINUTE_MS;
  expect((await run()).sent).toEqual(["1"]);
});

test("a delivery of a later release's form raises an alarm, stays parked, and holds back no other", async () => {
  const log = captureLog();
  const accountId = await anAccount();
  await park(accountId, {}, {}, {});
  const pk = newDelivery(
    {
      event: "transaction.updated",
      transaction_pk: `transaction#${accountId}-2`,
      status: "success",
      endpoint: ENDPOINT,
    },
    { accountId, webhookId: "evt_1" },
    NOON,
  ).pk;
  const stateOf = async () => (await tables.db.get({ TableName: tables.ledgerTable, Key: { pk } })).Item?.state;
  await changeItem(ledgerOf(), pk, { state: "later" });
  await scheduleRequeue(ledgerOf(), accountId, NOON);
  expect((await run()).sent).toEqual(["1", "3"]);
  expect(log.lines("deliveries.not_requeued")).toMatchObject([{ account: accountId, record: pk, Alarms: 1 }]);
  expect(await requeueAtOnce({ ledger: ledgerOf(), queue: queueOf() }, firstEndpoint(accountId))).toBe(2);
  expect(await stateOf()).toBe("later");
});

test("a delivery that was made, or is in the queue, since the index was read is not sent", async () => {
  await anAccountWithDue({ state: "delivered" }, { pk: "delivery#queued" }, {});
  beforeNext(tables.db, "batchGet", () =>
    changeItem(ledgerOf(), "delivery#queued", { open: undefined, listed_at: undefined }),
  );
  expect((await run()).sent).toEqual(["3"]);
});

test("the parked deliveries of an account that does not exist any more are read daily, and nothing is sent", async () => {
  await park("acc_gone", {});
  await scheduleRequeue(ledgerOf(), "acc_gone", NOON);
  expect((await run()).sent).toEqual([]);
  expect(await nextRequeue("acc_gone")).toBe(inMinutes(24 * 60));
});

describe("after a person has mended the endpoint", () => {
  const deps = (queue: ReturnType<typeof queueOf>) => ({ ledger: ledgerOf(), queue });

  test("everything parked is sent at once, also what is not due, and what is due again by the next run", async () => {
    const accountId = await anAccount();
    const attempt = { number: 1, at: inMinutes(-60), outcome: "status", duration_ms: 1 };
    const later = { next_attempt_at: inMinutes(600), attempts: [attempt, { ...attempt, number: 2 }] };
    await park(accountId, {}, later, { state: "delivered" });
    await scheduleRequeue(ledgerOf(), accountId, NOON + 300 * MINUTE_MS);
    const queue = queueOf();
    expect(await requeueAtOnce(deps(queue), firstEndpoint(accountId))).toBe(2);
    expect(
      queue.send.mock.calls.map(([message, to]) => [transactionIn(message).split("-")[1], message.early, to]),
    ).toEqual([
      ["1", 0, accountId],
      ["2", 2, accountId],
    ]);
    expect(await nextRequeue(accountId)).toBe(inMinutes(1));
  });

  test("a process that dies before it sends leaves what is due to the next run", async () => {
    const accountId = await anAccount();
    await park(accountId, {}, { next_attempt_at: inMinutes(600) });
    const queue = queueOf();
    queue.send.mockRejectedValueOnce(new Error("killed"));
    await expect(requeueAtOnce(deps(queue), firstEndpoint(accountId))).rejects.toThrow("killed");
    nowMs += MINUTE_MS;
    expect((await run()).sent).toEqual(["1"]);
  });

  test("nothing is written for an account without parked deliveries", async () => {
    const accountId = await anAccount();
    expect(await requeueAtOnce(deps(queueOf()), firstEndpoint(accountId))).toBe(0);
    expect(await nextRequeue(accountId)).toBeUndefined();
  });
});

test("a run that has 10 s left begins no further endpoints, and the next one does", async () => {
  for (let each = 1; each <= 11; each += 1) await scheduleRequeue(ledgerOf(), `acc_gone_${each}`, NOON);
  const remainingMs = vi.fn(() => 10_000).mockReturnValueOnce(10_001);
  expect((await run(queueOf(), { remainingMs })).ran).toEqual({ endpoints: 10, requeued: 0 });
  expect((await run()).ran).toEqual({ endpoints: 1, requeued: 0 });
});

test("a run without time for an endpoint raises an alarm once that endpoint has been due for 15 minutes", async () => {
  await scheduleRequeue(ledgerOf(), "acc_gone", NOON);
  const outOfTime = { remainingMs: () => 10_000 };
  nowMs += 15 * MINUTE_MS;
  const log = captureLog();
  await run(queueOf(), outOfTime);
  expect(log.lines("deliveries.not_requeued")).toEqual([]);
  nowMs += 1;
  await run(queueOf(), outOfTime);
  const late = { account: "acc_gone", endpoint: ENDPOINT, reason: "out_of_time", Alarms: 1 };
  expect(log.lines("deliveries.not_requeued")).toMatchObject([late]);
});

test("an endpoint that another run has requeued since the list was read is left to that run", async () => {
  const [first, last] = [await anAccount(), await anAccount()];
  await park(first, {});
  await park(last, {}, {});
  await scheduleRequeue(ledgerOf(), first, NOON - 2);
  for (let each = 1; each <= 9; each += 1) await scheduleRequeue(ledgerOf(), `acc_closed_${each}`, NOON - 1);
  await scheduleRequeue(ledgerOf(), last, NOON);
  const queue = queueOf();
  queue.send.mockImplementationOnce(async () => {
    expect((await run()).sent).toEqual(["1", "1", "2"]);
  });
  expect((await run(queue)).sent).toEqual(["1"]);
});

test("open transactions never include parked deliveries or the accounts that have some", async () => {
  const accountId = await anAccountThatIsDown();
  await parkDue(accountId, {});
  expect(await openTransactions(ledgerOf(), ALL_TIMES)).toEqual([]);
});
