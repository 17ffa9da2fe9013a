import { randomUUID } from "node:crypto";
import { TransactWriteCommand, type TransactWriteCommandInput, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "#zod";
import { koboSchema } from "../../../../shared/contract/values/money.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { openTransaction, openUnlessOvertaking } from "../../../../shared/ledger/open-transaction.ts";
import { queuedKeys } from "../../../../shared/ledger/query-index.ts";
import { walletPk } from "../../../../shared/ledger/schema.ts";
import { type Settlement, settleAsRead, settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import type { OrderToSend, QueuedOrder, Transaction } from "../../../../shared/ledger/transaction.ts";
import { readWallet, walletRestriction, walletSchema } from "../../../../shared/ledger/wallet.ts";
import { type Deadline, deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { QUEUE_RESERVE_MS } from "../../../../shared/platform/time-budgets.ts";
import { afterClaim, queuedNumbers, queueLength, queueOf } from "../../../../shared/queued-orders/order-queue.ts";
import {
  type ClaimedOrder,
  claimOrder,
  type EnqueueTarget,
  endTurn,
  enqueueOrder,
  listQueuedOrders,
  queuedOrdersPage,
  readQueue,
  trimQueue,
  unlistWallet,
} from "../../../../shared/queued-orders/queue-store.ts";
import { walletQueueClaim } from "../../../../shared/queued-orders/wallet-queue.ts";
import { faultyLedgerForTests, isWrite, TRIES } from "../../../builders/ledger/faulty-ledger.ts";
import {
  claimAsSender,
  claimedAsSender,
  queuedCount as countOf,
  storedQueued,
} from "../../../builders/ledger/queued-order.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import type { WireFault } from "../../../strict/faults.ts";
import { strictSettings } from "../../../strict/settings.ts";

/**
 * Goal: whatever a write meets, an order waits or does not, its wallet counts it exactly while it waits, and it is
 * claimed once. Method: faults on the wire to the emulator, and a clock that stands still.
 */
const ledger = await faultyLedgerForTests();
beforeEach(() => {
  ledger.proxy.strict = undefined;
});

const enough = (): Deadline => deadlineIn(29_000);
const toSend: OrderToSend = { kind: "data", network_id: 1, plan_id: 101 };
const failed: Settlement = { status: "failed", failure: { code: "delivery_failed" } };

const stored = async ({ pk }: Pick<Transaction, "pk">): Promise<Transaction> => {
  const transaction = await readTransaction(ledger, pk);
  if (transaction === undefined) throw new Error("The transaction is gone");
  return transaction;
};
const queuedCount = (accountId: string) => countOf(ledger, accountId);
const numbers = async (accountId: string) => [...queuedNumbers(queueOf(await readWallet(ledger, accountId)))];
const wait = (target: Transaction) => enqueueOrder(ledger, target, toSend, enough());
/** Makes an order wait again that was claimed. */
const enqueueAgain = (claimed: ClaimedOrder, claim: NonNullable<EnqueueTarget["claimed"]>) =>
  enqueueOrder(ledger, { ...claimed, claimed: claim }, toSend, enough());

const aQueuedOrder = async (changes?: Partial<Transaction>): Promise<QueuedOrder> => {
  const transaction = await ledger.anOpenTransaction(changes);
  expect(await wait(transaction)).toEqual({ kind: "queued", ahead: 0 });
  return storedQueued(ledger, transaction.pk);
};
const claim = (order: QueuedOrder) => claimedAsSender(ledger, order);
/** A claim, and the turn that it begins: each begins at a time of its own. */
const claimInTurn = async (order: QueuedOrder) => {
  ledger.nowMs += 1;
  const claimed = await claim(order);
  const { turn_until: turnUntil } = await readWallet(ledger, order.account_id);
  return { claimed, turnUntil };
};
/** Has calls that were cut off take effect. */
const arrivals = () => ledger.proxy.landLateWrites();

/** An order that is debited. */
const anOpenOrderOf = async (accountId: string, changes: Partial<Transaction> = {}): Promise<Transaction> => {
  const transaction = ledger.aTransaction(accountId, changes);
  await openTransaction(ledger, transaction, [], enough());
  return transaction;
};
/** The next order of an account, which waits. */
const nextQueuedOrder = async (accountId: string, changes: Partial<Transaction> = {}): Promise<QueuedOrder> => {
  const transaction = await anOpenOrderOf(accountId, changes);
  await wait(transaction);
  return storedQueued(ledger, transaction.pk);
};
/** Three orders of one account, which wait in this order. */
const threeQueuedOrders = async () => {
  const accountId = await ledger.aWallet(1_500);
  const next = () => nextQueuedOrder(accountId);
  return [await next(), await next(), await next()] as const;
};
const FREE = { amount_kobo: koboSchema.parse(0) };
/** The wallet's item, with whatever attributes it has. */
const walletItem = async (accountId: string) => {
  const Key = { pk: walletPk(accountId) };
  return (await ledger.db.get({ TableName: ledger.table, Key, ConsistentRead: true })).Item;
};

/** Takes an account's wallet off the sender's list, as a run does at its end, if no order waits. */
const unlist = async (accountId: string): Promise<void> => {
  const wallet = await readWallet(ledger, accountId);
  const queue = queueOf(wallet);
  if (queueLength(queue) === 0) await unlistWallet(ledger, accountId, queue, wallet.turn_until);
};

/** The wallet's part of a claim, as of the queue now. */
const claimPart = async ({ account_id, queued: { number = 0 } }: QueuedOrder) => {
  const before = queueOf(await readWallet(ledger, account_id));
  return walletQueueClaim(ledger, account_id, { before, after: afterClaim(before, number) }, isoTime(NOON_MS + 20_000));
};

const indeterminateClaim = async (order: QueuedOrder, fault: WireFault) => {
  const part = await claimPart(order);
  ledger.proxy.fault = ({ operation }) => (isWrite(operation) ? fault : undefined);
  const result = await claimOrder(ledger, order, [part], enough());
  ledger.reset();
  if (result.kind !== "indeterminate") throw new Error(`The claim is ${result.kind}`);
  return result.claimed;
};
/** What the outcomes queue does after an indeterminate claim of the only order. */
const waitAfter = (claimed: ClaimedOrder) =>
  enqueueAgain(claimed, { number: 1, turnUntil: isoTime(NOON_MS + 20_000), isIndeterminate: true });

const denied = Object.assign(new Error("denied"), { name: "AccessDeniedException" });
const refused = { kind: "indeterminate", isFault: true };

/** As the SDK rejects a call that is aborted. */
const aborted = Object.assign(new Error("aborted"), { name: "AbortError" });

/** A call that AWS does not answer, and that has an end of its own. */
const untilAborted = (_input: unknown, { abortSignal }: { readonly abortSignal?: unknown } = {}): Promise<never> =>
  new Promise((_, reject) => {
    if (!(abortSignal instanceof AbortSignal)) return reject(new TypeError("The call has no end"));
    abortSignal.addEventListener("abort", () => reject(aborted));
  });

describe("enqueueOrder", () => {
  test("an order that waits has what is needed to send it, its number, its own index key, and a listed wallet", async () => {
    const transaction = await ledger.anOpenTransaction();
    const { account_id: accountId } = transaction;
    ledger.nowMs += 5_000;
    const seen = ledger.firstWrites(0, "conflict");
    expect(await wait(transaction)).toEqual({ kind: "queued", ahead: 0 });
    expect(seen.writes).toBe(1);
    expect(await stored(transaction)).toEqual({
      ...transaction,
      open: `queued#${accountId}`,
      queued: { order: toSend, table: ledger.table, number: 1 },
      updated_at: isoTime(NOON_MS + 5_000),
    });
    expect(await readWallet(ledger, accountId)).toMatchObject({
      ...{ version: 1, queue_tail: 1, queue_head: 1 },
      ...{ open: "queued", listed_at: isoTime(NOON_MS + 5_000) },
    });
    expect((await queuedKeys(ledger)).wallets.map(({ pk }) => pk)).toContain(walletPk(accountId));
  });

  test("an order that the upstream refused itself has the number of its refusals, and is listed outside of the queue", async () => {
    const transaction = await ledger.anOpenTransaction();
    const target = { ...transaction, refusals: 2 };
    expect(await enqueueOrder(ledger, target, toSend, enough())).toEqual({ kind: "queued" });
    const { queued, open } = await stored(transaction);
    expect({ queued, open }).toEqual({
      queued: { order: toSend, table: ledger.table, refusals: 2 },
      open: "queued",
    });
    const { wallets, setAside } = await queuedKeys(ledger);
    expect(setAside.map(({ pk }) => pk)).toContain(transaction.pk);
    expect(wallets.map(({ pk }) => pk)).not.toContain(walletPk(transaction.account_id));
    // Once it was sent again, a failure may be of the sending before: also after it waited for its account's limit.
    const claimed = await claim(await storedQueued(ledger, transaction.pk));
    expect([claimed.refusals, (await stored(transaction)).refusals]).toEqual([2, 2]);
    // A late copy would have it sent twice.
    expect(await enqueueOrder(ledger, target, toSend, enough())).toMatchObject({ kind: "not_open" });
    expect(await stored(transaction)).not.toHaveProperty("queued");
    await enqueueOrder(ledger, { ...claimed, refusals: undefined }, toSend, enough());
    const again = await claim(await storedQueued(ledger, transaction.pk));
    expect([again.refusals, (await stored(transaction)).refusals]).toEqual([2, 2]);
  });

  test("of simultaneous orders each gets a number of its own, whatever their clocks say, and the answer says how many are ahead", async () => {
    const accountId = await ledger.aWallet(5_000);
    const orders: Transaction[] = [];
    for (let order = 0; order < 8; order += 1) {
      orders.push(await anOpenOrderOf(accountId, { created_at: isoTime(NOON_MS - order * 3_000) }));
    }
    const results = await Promise.all(orders.map(wait));
    const given = await Promise.all(orders.map(async (order) => (await stored(order)).queued?.number));
    expect(given.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    for (const [index, result] of results.entries()) {
      expect(result).toEqual({ kind: "queued", ahead: (given[index] ?? 0) - 1 });
    }
    expect(await numbers(accountId)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test("a second copy of an order's wait changes nothing", async () => {
    const transaction = await ledger.anOpenTransaction();
    expect(await wait(transaction)).toEqual({ kind: "queued", ahead: 0 });
    expect(await Promise.all([wait(transaction), wait(transaction)])).toEqual([
      { kind: "queued", ahead: 0 },
      { kind: "queued", ahead: 0 },
    ]);
    expect(await queuedCount(transaction.account_id)).toBe(1);
  });

  test.each([
    // More often than a write without an answer is tried: nothing was written.
    ["conflict", 4],
    ["answer_lost", 1],
    ["never_arrives", 1],
    ["throttled", 1],
  ] as const)("an order whose wait meets %s first waits, and is counted once", async (fault, times) => {
    const transaction = await ledger.anOpenTransaction();
    ledger.firstWrites(times, fault);
    expect(await wait(transaction)).toMatchObject({ kind: "queued" });
    expect(await queuedCount(transaction.account_id)).toBe(1);
  });

  test("the answer to an order whose wait was written without a response says how many are ahead", async () => {
    const [{ account_id: accountId }] = await threeQueuedOrders();
    const fourth = await anOpenOrderOf(accountId, FREE);
    ledger.firstWrites(TRIES, "answer_lost");
    expect(await wait(fourth)).toEqual({ kind: "queued", ahead: 3 });
  });

  test("an order whose wait never arrives is indeterminate, and unchanged", async () => {
    const transaction = await ledger.anOpenTransaction();
    const seen = ledger.firstWrites(99, "never_arrives");
    expect(await wait(transaction)).toEqual({ kind: "indeterminate" });
    expect(seen.writes).toBe(3 * TRIES);
    expect(await stored(transaction)).toEqual(transaction);
    expect(await queuedCount(transaction.account_id)).toBe(0);
  });

  test("an order whose account's queue cannot be read is indeterminate, and unchanged", async () => {
    const transaction = await ledger.anOpenTransaction();
    ledger.proxy.fault = ({ operation }) => (operation === "GetItem" ? "never_arrives" : undefined);
    expect(await wait(transaction)).toEqual({ kind: "indeterminate" });
    ledger.reset();
    expect(await stored(transaction)).toEqual(transaction);
  });

  test("a wait that arrives after a later order of its account began to wait does not give a number twice", async () => {
    const late = await ledger.anOpenTransaction();
    const other = await anOpenOrderOf(late.account_id, FREE);
    const sent = Promise.withResolvers<void>();
    ledger.proxy.fault = ({ operation }) => {
      if (operation !== "TransactWriteItems") return undefined;
      sent.resolve();
      return "lands_late";
    };
    const waits = wait(late);
    await sent.promise;
    ledger.proxy.fault = () => undefined;
    expect(await wait(other)).toMatchObject({ kind: "queued" });
    await waits;
    await arrivals();
    const given = await Promise.all([late, other].map(async (order) => (await stored(order)).queued?.number));
    expect(given.toSorted()).toEqual([1, 2]);
    expect(await numbers(late.account_id)).toEqual([1, 2]);
  });

  test.each([
    ["has a final status", async (order: Transaction) => settleTransaction(ledger, order, failed, enough())],
    ["is of another request", async (order: Transaction) => ({ ...order, write_token: randomUUID() })],
  ])("an order that %s does not begin to wait", async (_name, change) => {
    const transaction = await ledger.anOpenTransaction();
    const changed = await change(transaction);
    const target = "write_token" in changed ? changed : transaction;
    const seen = ledger.firstWrites(0, "conflict");
    expect(await wait(target)).toEqual({ kind: "not_open", transaction: await stored(transaction) });
    expect(seen.writes).toBe(1);
    expect(await queuedCount(transaction.account_id)).toBe(0);
  });

  test("an order that waits is not that of another request", async () => {
    const waiting = await aQueuedOrder();
    expect(await wait({ ...waiting, write_token: randomUUID() })).toEqual({ kind: "not_open", transaction: waiting });
  });

  test("an order whose account's queue is not answered is indeterminate while there is time for a message", async () => {
    const transaction = await ledger.anOpenTransaction();
    const unanswered = vi.spyOn(ledger.db, "get").mockImplementationOnce(untilAborted);
    const deadline = { remainingMs: () => QUEUE_RESERVE_MS + 1 };
    expect(await enqueueOrder(ledger, transaction, toSend, deadline)).toEqual({ kind: "indeterminate" });
    expect(unanswered.mock.settledResults).toMatchObject([{ type: "rejected", value: aborted }]);
  });

  test("an order whose account's queue may not be read is indeterminate by a fault", async () => {
    const transaction = await ledger.anOpenTransaction();
    vi.spyOn(ledger.db, "get").mockRejectedValueOnce(denied);
    expect(await wait(transaction)).toEqual(refused);
  });

  test("an order whose account's queue keeps changing is indeterminate when the time is over, and not overtaken", async () => {
    const transaction = await ledger.anOpenTransaction();
    const begunMs = Date.now();
    let writes = 0;
    vi.spyOn(Date, "now").mockImplementation(() => begunMs + writes * 4_000);
    const send = ledger.db.send.bind(ledger.db);
    vi.spyOn(ledger.db, "send").mockImplementation(async (command) => {
      if (command instanceof TransactWriteCommand) {
        writes += 1;
        const Key = { pk: walletPk(transaction.account_id) };
        const [UpdateExpression, ExpressionAttributeValues] = ["ADD queue_tail :one", { ":one": 1 }];
        await send(new UpdateCommand({ TableName: ledger.table, Key, UpdateExpression, ExpressionAttributeValues }));
      }
      return send(command);
    });
    expect(await wait(transaction)).toEqual({ kind: "indeterminate" });
    expect(writes).toBeLessThan(10);
  });

  test("an order that a restored ledger lacks is missing, and not overtaken", async () => {
    const waiting = await aQueuedOrder();
    const { claimed, turnUntil } = await claimInTurn(waiting);
    const { pk } = ledger.aTransaction(waiting.account_id);
    expect(await enqueueAgain({ ...claimed, pk }, { number: 1, turnUntil })).toEqual({ kind: "missing" });
  });

  test("an order that is put back in front without an answer is indeterminate, and not overtaken", async () => {
    const { claimed, turnUntil } = await claimInTurn(await aQueuedOrder());
    ledger.proxy.fault = ({ operation }) => (isWrite(operation) ? "never_arrives" : undefined);
    expect(await enqueueAgain(claimed, { number: 1, turnUntil })).toMatchObject({ kind: "indeterminate" });
  });

  test("an order that waited in another ledger gets the next number of this one", async () => {
    const [first] = await threeQueuedOrders();
    const claimed = await claim(first);
    const target = { ...claimed, table: "earlier", claimed: { number: 1 } };
    expect(await enqueueOrder(ledger, target, toSend, enough())).toEqual({ kind: "queued", ahead: 2 });
    expect(await stored(first)).toMatchObject({ queued: { table: "earlier", number: 4 } });
    expect(await numbers(first.account_id)).toEqual([2, 3, 4]);
  });

  test("a late copy of an order's wait has no effect once the order is claimed, nor after it waits again", async () => {
    const own = await ledger.anOpenTransaction();
    expect(await wait(own)).toEqual({ kind: "queued", ahead: 0 });
    const first = await claim(await storedQueued(ledger, own.pk));
    expect(await wait(own)).toEqual({ kind: "not_open", transaction: await stored(own) });
    expect(await queuedCount(own.account_id)).toBe(0);
    expect(await enqueueAgain(first, { number: 1 })).toEqual({ kind: "queued" });
    expect(await wait(own)).toEqual({ kind: "not_open", transaction: await stored(own) });
    await claim(await storedQueued(ledger, own.pk));
    expect(await enqueueAgain(first, { number: 1 })).toMatchObject({ kind: "not_open" });
    expect(await stored(own)).not.toHaveProperty("queued");
    expect(await queuedCount(own.account_id)).toBe(0);
  });

  test("a wait that arrives after the order was claimed and sent does not make it wait", async () => {
    const waiting = await aQueuedOrder();
    const first = await claim(waiting);
    ledger.firstWrites(1, "lands_late");
    expect(await enqueueAgain(first, { number: 1 })).toEqual({ kind: "queued" });
    const second = await claim(await storedQueued(ledger, first.pk));
    await arrivals();
    expect(await stored(first)).toEqual(second);
    expect(await queuedCount(first.account_id)).toBe(0);
  });

  test("an order that the upstream's limit refused waits again in front of those that were claimed after it", async () => {
    const [first, second, third] = await threeQueuedOrders();
    const claims = [await claim(first), await claim(second)] as const;
    expect(await enqueueAgain(claims[1], { number: 2 })).toEqual({ kind: "queued" });
    expect(await enqueueAgain(claims[0], { number: 1 })).toEqual({ kind: "queued" });
    expect(await numbers(first.account_id)).toEqual([1, 2, 3]);
    for (const order of [first, second, third]) await claim(await storedQueued(ledger, order.pk));
    expect(await numbers(first.account_id)).toEqual([]);
  });

  test("an order that was never sent waits again only while no later one of its account was claimed", async () => {
    const [first, second] = await threeQueuedOrders();
    const { claimed, turnUntil } = await claimInTurn(first);
    expect(await enqueueAgain(claimed, { number: 1, turnUntil })).toEqual({ kind: "queued" });
    expect(await numbers(first.account_id)).toEqual([1, 2, 3]);
    const again = await claimInTurn(await storedQueued(ledger, first.pk));
    await claimInTurn(second);
    expect(await enqueueAgain(again.claimed, { number: 1, turnUntil: again.turnUntil })).toEqual({ kind: "overtaken" });
    expect(await stored(first)).toMatchObject({
      claim: again.claimed.claim,
      open: expect.stringMatching(/^live#[0-9A-Z]$/),
    });
    expect(await numbers(first.account_id)).toEqual([3]);
  });

  test("an order that was never sent does not wait again after a later one that waited again too, and was claimed", async () => {
    const [first, second] = await threeQueuedOrders();
    const claims = [await claim(first), await claim(second)] as const;
    for (const [index, claimed] of claims.entries()) await enqueueAgain(claimed, { number: index + 1 });
    const { claimed, turnUntil } = await claimInTurn(await storedQueued(ledger, first.pk));
    await claimInTurn(await storedQueued(ledger, second.pk));
    expect(await enqueueAgain(claimed, { number: 1, turnUntil })).toEqual({ kind: "overtaken" });
    expect(await numbers(first.account_id)).toEqual([3]);
  });

  test("an order that was never sent does not wait again once new orders of its account are sent at once", async () => {
    const { claimed, turnUntil } = await claimInTurn(await aQueuedOrder());
    await unlist(claimed.account_id);
    expect(await enqueueAgain(claimed, { number: 1, turnUntil })).toEqual({ kind: "overtaken" });
    expect(await numbers(claimed.account_id)).toEqual([]);
  });
});

describe("claimOrder", () => {
  test("a claimed order is open as any sent one, with its claim and the time of it", async () => {
    const waiting = await aQueuedOrder();
    ledger.nowMs += 60_000;
    const claimed = await claim(waiting);
    const at = isoTime(NOON_MS + 60_000);
    expect(claimed).toMatchObject({
      open: expect.stringMatching(/^live#[0-9A-Z]$/),
      sent_at: at,
      claim: expect.any(String),
    });
    expect(await stored(waiting)).toEqual({ ...claimed, updated_at: at });
    expect(await queuedCount(waiting.account_id)).toBe(0);
  });

  test("a claim that is answered needs no read", async () => {
    const waiting = await aQueuedOrder();
    const part = await claimPart(waiting);
    ledger.proxy.fault = ({ operation }) => (operation === "GetItem" ? "never_arrives" : undefined);
    expect(await claimOrder(ledger, waiting, [part], enough())).toMatchObject({ kind: "claimed" });
  });

  test("a claim that always meets a conflict is not made, and ends with its time", async () => {
    const waiting = await aQueuedOrder();
    const part = await claimPart(waiting);
    const seen = ledger.neverFree();
    expect(await claimOrder(ledger, waiting, [part], enough())).toEqual({ kind: "not_claimed" });
    expect(seen.writes).toBeLessThan(10);
  });

  test("a claim leaves an order that ended in the queue as one that has ended", async () => {
    const [first, , third] = await threeQueuedOrders();
    await settleTransaction(ledger, third, failed, enough());
    await claim(first);
    expect(await numbers(first.account_id)).toEqual([2]);
  });

  test.each([["conflict"], ["answer_lost"], ["never_arrives"], ["throttled"]] as const)(
    "a claim that meets %s first gets the order, and ends its wait once",
    async (fault) => {
      const waiting = await aQueuedOrder();
      ledger.firstWrites(1, fault);
      const { claim: own } = await claim(waiting);
      expect((await stored(waiting)).claim).toBe(own);
      expect(await queuedCount(waiting.account_id)).toBe(0);
    },
  );

  test("a claim whose every answer is lost gets the order that a strong read shows to be its own", async () => {
    const waiting = await aQueuedOrder();
    ledger.firstWrites(99, "answer_lost");
    expect((await stored(waiting)).claim).toBeUndefined();
    const { claim: own } = await claim(waiting);
    expect((await stored(waiting)).claim).toBe(own);
  });

  test("a claim whose every answer is lost, and whose read fails, is indeterminate", async () => {
    const waiting = await aQueuedOrder();
    const part = await claimPart(waiting);
    ledger.proxy.fault = ({ operation }) => (operation === "GetItem" ? "never_arrives" : "answer_lost");
    expect(await claimOrder(ledger, waiting, [part], enough())).toMatchObject({ kind: "indeterminate" });
  });

  test("an order is claimed only in its turn: not before another of its account, nor after the queue was read anew", async () => {
    const [first, second] = await threeQueuedOrders();
    const early = await claimPart(first);
    const before = queueOf(await readWallet(ledger, first.account_id));
    const outOfTurn = walletQueueClaim(
      ledger,
      first.account_id,
      { before: { ...before, head: 2 }, after: afterClaim({ ...before, head: 2 }, 2) },
      isoTime(NOON_MS),
    );
    expect(await claimOrder(ledger, second, [outOfTurn], enough())).toEqual({ kind: "not_claimed" });
    const claimed = await claim(first);
    const late = await claimPart(second);
    await enqueueAgain(claimed, { number: 1 });
    // The first one waits in front again: a run that read the queue before must read it again.
    expect(await claimOrder(ledger, second, [late], enough())).toEqual({ kind: "not_claimed" });
    const again = await storedQueued(ledger, first.pk);
    expect(await claimOrder(ledger, again, [early], enough())).toEqual({ kind: "not_claimed" });
    expect(await numbers(first.account_id)).toEqual([1, 2, 3]);
  });

  test("an order that waits again in front is not claimed once an earlier one waits again too", async () => {
    const [first, second] = await threeQueuedOrders();
    const [one, two] = [await claim(first), await claim(second)];
    await enqueueAgain(two, { number: 2 });
    const again = await storedQueued(ledger, second.pk);
    const late = await claimPart(again);
    await enqueueAgain(one, { number: 1 });
    expect(await claimOrder(ledger, again, [late], enough())).toEqual({ kind: "not_claimed" });
    expect(await numbers(first.account_id)).toEqual([1, 2, 3]);
  });

  test("no order of a restricted account is claimed, in its queue or set aside", async () => {
    const waiting = await aQueuedOrder();
    const aside = await ledger.anOpenTransaction();
    await enqueueOrder(ledger, { ...aside, refusals: 1 }, toSend, enough());
    const orders = [waiting, await storedQueued(ledger, aside.pk)];
    const restrict = (isRestricted: boolean) =>
      Promise.all(
        orders.map(({ account_id }) =>
          ledger.db.update(walletRestriction(ledger.table, account_id, isRestricted, NOON_MS).Update),
        ),
      );
    await restrict(true);
    for (const order of orders) expect(await claimAsSender(ledger, order)).toEqual({ kind: "not_claimed" });
    await restrict(false);
    for (const order of orders) expect(await claimAsSender(ledger, order)).toMatchObject({ kind: "claimed" });
  });

  test("a claim that never arrives is indeterminate, and making its order wait again changes neither it nor the time since which it waits", async () => {
    const waiting = await aQueuedOrder();
    const result = await indeterminateClaim(waiting, "never_arrives");
    ledger.nowMs += 60_000;
    vi.spyOn(ledger.db, "update").mockRejectedValueOnce(denied);
    expect(await waitAfter(result)).toEqual(refused);
    expect(await waitAfter(result)).toEqual({ kind: "queued" });
    expect(await stored(waiting)).toEqual({ ...waiting, claim: expect.any(String) });
    expect(await numbers(waiting.account_id)).toEqual([1]);
  });

  test("an indeterminate claim whose end is not answered is left while there is time to answer the queue", async () => {
    const waiting = await aQueuedOrder();
    const claimed = { number: 1, turnUntil: isoTime(NOON_MS + 20_000), isIndeterminate: true };
    const target = { ...(await indeterminateClaim(waiting, "never_arrives")), claimed };
    let remainingMs = 29_000;
    vi.spyOn(ledger.db, "transactWrite").mockImplementationOnce(async (input: TransactWriteCommandInput) => {
      await ledger.db.send(new TransactWriteCommand(input)).finally(() => {
        remainingMs = QUEUE_RESERVE_MS + 1;
      });
    });
    const unanswered = vi.spyOn(ledger.db, "update").mockImplementationOnce(untilAborted);
    const result = await enqueueOrder(ledger, target, toSend, { remainingMs: () => remainingMs });
    expect(result).toEqual({ kind: "indeterminate" });
    expect(unanswered.mock.settledResults).toMatchObject([{ type: "rejected", value: aborted }]);
  });

  test("an indeterminate claim that arrives late is undone, and the order waits under its number", async () => {
    const waiting = await aQueuedOrder();
    const result = await indeterminateClaim(waiting, "lands_late");
    await arrivals();
    expect(await stored(waiting)).not.toHaveProperty("queued");
    expect(await waitAfter(result)).toEqual({ kind: "queued" });
    expect(await stored(waiting)).toMatchObject({ created_at: waiting.created_at, queued: waiting.queued });
    expect(await numbers(waiting.account_id)).toEqual([1]);
  });

  test("an indeterminate claim that arrives after its order was made to wait again has no effect, however late it is", async () => {
    const waiting = await aQueuedOrder();
    const result = await indeterminateClaim(waiting, "lands_late");
    expect(await waitAfter(result)).toEqual({ kind: "queued" });
    await arrivals();
    expect(await stored(waiting)).toMatchObject({ queued: waiting.queued });
    expect(await numbers(waiting.account_id)).toEqual([1]);
    await claim(await storedQueued(ledger, waiting.pk));
  });

  test("a claim that arrives after another claim, which was refused, does not take the order from its wait", async () => {
    const before = await aQueuedOrder();
    const part = await claimPart(before);
    const second = await claim(before);
    expect(await enqueueAgain(second, { number: 1 })).toEqual({ kind: "queued" });
    expect(await claimOrder(ledger, before, [part], enough())).toMatchObject({ kind: "not_claimed" });
    expect(await queuedCount(before.account_id)).toBe(1);
  });

  test("a settled order cannot be claimed", async () => {
    const waiting = await aQueuedOrder();
    await settleTransaction(ledger, waiting, failed, enough());
    expect(await claimAsSender(ledger, waiting)).toMatchObject({
      kind: "not_claimed",
      transaction: { status: "failed" },
    });
  });
});

describe("the settlement of a queued order", () => {
  test("that was claimed since it was read is made by all but the sender", async () => {
    const waiting = await aQueuedOrder();
    const { claim: own } = await claim(waiting);
    const transaction = await stored(waiting);
    expect(await settleAsRead(ledger, waiting, failed, enough())).toEqual({ kind: "already_settled", transaction });
    expect(await stored(waiting)).toMatchObject({ status: "processing", claim: own });
    expect(await ledger.balanceOf(waiting.account_id)).toBe(0);
    expect(await settleTransaction(ledger, waiting, { status: "success" }, enough())).toEqual({ kind: "applied" });
    expect(await queuedCount(waiting.account_id)).toBe(0);
  });
});

describe("openUnlessOvertaking", () => {
  test("an order is not opened while another of its account is claimed and its turn has not ended", async () => {
    const waiting = await aQueuedOrder();
    const { account_id: accountId } = await claim(waiting);
    const next = ledger.aTransaction(accountId, FREE);
    expect(await openUnlessOvertaking(ledger, next, [], enough())).toEqual({ kind: "would_overtake" });
    await unlist(accountId);
    expect(await openUnlessOvertaking(ledger, next, [], enough())).toEqual({ kind: "opened" });
  });

  test("an order whose first debit lost its answer and then meets a queued order is void: it may have been debited", async () => {
    const { account_id } = await aQueuedOrder();
    ledger.firstTries(1, "never_arrives");
    const transaction = ledger.aTransaction(account_id);
    expect(await openUnlessOvertaking(ledger, transaction, [], enough())).toMatchObject({ kind: "void" });
  });
});

describe("the lists of the sender", () => {
  const listed = async (accountId: string): Promise<boolean> =>
    (await queuedKeys(ledger)).wallets.some(({ pk }) => pk === walletPk(accountId));
  const read = (accountId: string) => readWallet(ledger, accountId);

  test("a wallet leaves the list only if its queue has not changed since it was read, and returns with its next queued order", async () => {
    const waiting = await aQueuedOrder();
    const { account_id: accountId } = waiting;
    const before = await read(accountId);
    const claimed = await claim(waiting);
    await unlistWallet(ledger, accountId, queueOf(before), undefined);
    expect(await listed(accountId)).toBe(true);
    await unlist(accountId);
    expect(await listed(accountId)).toBe(false);
    await enqueueAgain(claimed, { number: 1 });
    expect(await listed(accountId)).toBe(true);
    expect(await numbers(accountId)).toEqual([1]);
  });

  test("a wallet stays on the list if an order waits again after one in front has ended", async () => {
    const rich = await ledger.aWallet(1_000);
    const [first, second] = [await nextQueuedOrder(rich), await nextQueuedOrder(rich)];
    const [one, two] = [await claim(first), await claim(second)];
    await enqueueAgain(one, { number: 1 });
    await settleTransaction(ledger, one, failed, enough());
    const before = await read(rich);
    expect(queueLength(queueOf(before))).toBe(0);
    await enqueueAgain(two, { number: 2 });
    await unlistWallet(ledger, rich, queueOf(before), before.turn_until);
    expect(await listed(rich)).toBe(true);
    expect(await numbers(rich)).toEqual([2]);
  });

  test("a wallet stays on the list if an order has begun to wait since it was read", async () => {
    const rich = await ledger.aWallet(1_000);
    await claim(await nextQueuedOrder(rich));
    const before = await read(rich);
    await nextQueuedOrder(rich);
    await unlistWallet(ledger, rich, queueOf(before), before.turn_until);
    expect(await listed(rich)).toBe(true);
    expect(await numbers(rich)).toEqual([2]);
  });

  test("a wallet has no attribute that its schema lacks, whether its account has queued orders or not", async () => {
    const wallet = z.strictObject(walletSchema.shape);
    const attributes = async (accountId: string) => Object.keys(wallet.parse(await walletItem(accountId)));
    const [first, second] = await threeQueuedOrders();
    const { account_id: accountId } = first;
    const claimed = await claim(first);
    await settleTransaction(ledger, second, failed, enough());
    await enqueueAgain(claimed, { number: 1 });
    const ofQueue = "queue_tail queue_head queue_front queue_front_at queue_gaps turn_until open listed_at";
    expect(await attributes(accountId)).toEqual(expect.arrayContaining(ofQueue.split(" ")));
    await ledger.db.update(walletRestriction(ledger.table, accountId, true, NOON_MS).Update);
    expect(await attributes(accountId)).toEqual(expect.arrayContaining(["restricted"]));
  });

  test("a wallet does not leave the list while another run has a turn, which the claim of an order gave it", async () => {
    const { account_id: accountId } = await claim(await aQueuedOrder());
    const wallet = await read(accountId);
    await unlistWallet(ledger, accountId, queueOf(wallet), undefined);
    expect(await listed(accountId)).toBe(true);
  });

  test("numbers go on after a wallet has left the list, so that a late return cannot take another order's", async () => {
    const rich = await ledger.aWallet(1_000);
    await claim(await nextQueuedOrder(rich));
    await unlist(rich);
    expect((await nextQueuedOrder(rich)).queued.number).toBe(2);
  });

  test.each([["conflict"], ["answer_lost"], ["never_arrives"], ["throttled"]] as const)(
    "the end of a list whose first attempt meets %s is written",
    async (fault) => {
      const claimed = await claim(await aQueuedOrder());
      const { account_id, pk } = claimed;
      await enqueueAgain(claimed, { number: 1 });
      await claim(await storedQueued(ledger, pk));
      ledger.firstTries(1, fault);
      await unlist(account_id);
      const item = await walletItem(account_id);
      for (const attribute of ["turn_until", "open", "listed_at", "queue_front_at"]) {
        expect(item).not.toHaveProperty(attribute);
      }
    },
  );

  test("the end of a turn that cannot be written fails", async () => {
    const { account_id: accountId } = await claim(await aQueuedOrder());
    const { turn_until: turn = "" } = await read(accountId);
    ledger.firstWrites(99, "never_arrives");
    await expect(endTurn(ledger, accountId, turn)).rejects.toThrow();
  });

  test("orders that ended leave the queue without a claim, once those before them have, and nothing else is written", async () => {
    const [first, second] = await threeQueuedOrders();
    const { account_id: accountId } = first;
    const trim = async () => {
      const seen = ledger.firstWrites(0, "conflict");
      await trimQueue(ledger, accountId, queueOf(await read(accountId)));
      return seen.writes;
    };
    await settleTransaction(ledger, second, failed, enough());
    expect(await trim()).toBe(0);
    await settleTransaction(ledger, first, failed, enough());
    expect(await trim()).toBe(1);
    const wallet = await read(accountId);
    expect(wallet).toMatchObject({ queue_tail: 3, queue_head: 3 });
    expect(wallet).not.toHaveProperty("queue_gaps");
  });

  test("the end of a turn moves its account behind the others, and ends no later turn", async () => {
    const [first, second] = await threeQueuedOrders();
    const { account_id: accountId } = first;
    await claim(first);
    const { turn_until: turn = "" } = await read(accountId);
    ledger.nowMs += 5_000;
    await claim(second);
    await endTurn(ledger, accountId, turn);
    const { turn_until: next = "" } = await read(accountId);
    expect(next).toBe(isoTime(NOON_MS + 25_000));
    await endTurn(ledger, accountId, next);
    const ended = await read(accountId);
    expect(ended).toMatchObject({ open: "queued", listed_at: isoTime(NOON_MS + 5_000) });
    expect(ended).not.toHaveProperty("turn_until");
  });

  test("an account's orders come oldest first, page by page", async () => {
    const accountId = await ledger.aWallet(50_000);
    const pks: string[] = [];
    for (let age = 30; age >= 1; age -= 1) {
      pks.push((await nextQueuedOrder(accountId, { created_at: isoTime(NOON_MS - age * 1_000) })).pk);
    }
    const first = await queuedOrdersPage(ledger, accountId);
    const second = await queuedOrdersPage(ledger, accountId, first.next);
    expect(first.orders).toHaveLength(25);
    expect([...first.orders, ...second.orders].map(({ pk }) => pk)).toEqual(pks);
  });

  test("while the index lags, a page has no order that does not wait any more", async () => {
    const accountId = await ledger.aWallet(50_000);
    const waiting: QueuedOrder[] = [];
    for (let order = 0; order < 10; order += 1) {
      waiting.push(await nextQueuedOrder(accountId, { created_at: isoTime(NOON_MS - 60_000 + order) }));
    }
    ledger.proxy.beStrict({ ...strictSettings.lag, lagMaxMs: 60_000 }, 7);
    const claimed = new Set<string>();
    for (const order of waiting.slice(0, 5)) claimed.add((await claim(order)).pk);
    const { orders } = await queuedOrdersPage(ledger, accountId);
    const all = [
      ...orders,
      ...(await listQueuedOrders(ledger, accountId)),
      ...(await readQueue(ledger, accountId)).page.orders,
    ];
    expect(all.filter(({ pk }) => claimed.has(pk))).toEqual([]);
    expect(await queuedCount(accountId)).toBe(5);
  });
});
