import { randomUUID } from "node:crypto";
import { GetCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { openTransaction, openUnlessOvertaking } from "../../../../shared/ledger/open-transaction.ts";
import { walletPk } from "../../../../shared/ledger/schema.ts";
import { type Settlement, settleAsRead, settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import type { OrderToSend, Transaction } from "../../../../shared/ledger/transaction.ts";
import {
  type ClaimedOrder,
  claimOrder,
  clearWaitingOrders,
  isWaitingOrder,
  makeOrderWait,
  type WaitingOrder,
  waitingOrdersPage,
  walletsWithWaitingOrders,
} from "../../../../shared/ledger/waiting-order.ts";
import { readWallet, walletRestriction, walletSchema } from "../../../../shared/ledger/wallet.ts";
import { type Deadline, deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { type FaultyLedger, isWrite, openFaultyLedger, TRIES } from "../../../builders/faulty-ledger.ts";
import { NOON_MS } from "../../../builders/noon.ts";
import { strictSettings } from "../../../strict/settings.ts";

/**
 * Goal: whatever a write meets, an order waits or does not, its wallet counts it exactly while it waits, and it is
 * claimed once. Method: faults on the wire to the emulator, and a clock that stands still.
 */
let ledger: FaultyLedger;
beforeAll(async () => {
  ledger = await openFaultyLedger();
});
beforeEach(() => {
  ledger.proxy.strict = undefined;
  ledger.reset();
});
afterAll(() => ledger.proxy.stop());

const enough = (): Deadline => deadlineIn(29_000);
const toSend: OrderToSend = { kind: "data", network_id: 1, plan_id: 101 };
const failed: Settlement = { status: "failed", failure: { code: "delivery_failed" } };

const stored = async ({ pk }: Pick<Transaction, "pk">): Promise<Transaction> => {
  const transaction = await readTransaction(ledger, pk);
  if (transaction === undefined) throw new Error("The transaction is gone");
  return transaction;
};
const waitingCount = async (accountId: string) => (await readWallet(ledger, accountId)).waiting_orders;
const wait = (target: Transaction) => makeOrderWait(ledger, target, toSend, enough());

const aWaitingOrder = async (changes?: Partial<Transaction>): Promise<WaitingOrder> => {
  const transaction = await ledger.anOpenTransaction(changes);
  expect(await wait(transaction)).toEqual({ kind: "waiting" });
  const waiting = await stored(transaction);
  if (!isWaitingOrder(waiting)) throw new Error("The order does not wait");
  return waiting;
};
const claim = async (order: WaitingOrder): Promise<ClaimedOrder> => {
  const result = await claimOrder(ledger, order, enough());
  if (result.kind !== "claimed") throw new Error(`The order is ${result.kind}`);
  return result.claimed;
};

describe("makeOrderWait", () => {
  test("an order that waits has what is needed to send it, its own index key, and is counted by its wallet", async () => {
    const transaction = await ledger.anOpenTransaction();
    ledger.nowMs += 5_000;
    expect(await wait(transaction)).toEqual({ kind: "waiting" });
    expect(await stored(transaction)).toEqual({
      ...transaction,
      open: `waiting#${transaction.account_id}`,
      waiting: { order: toSend, table: ledger.table },
      updated_at: isoTime(NOON_MS + 5_000),
    });
    expect(await waitingCount(transaction.account_id)).toBe(1);
    expect((await readWallet(ledger, transaction.account_id)).version).toBe(1);
    expect((await walletsWithWaitingOrders(ledger)).map(({ account_id }) => account_id)).toContain(
      transaction.account_id,
    );
  });

  test("an order that the upstream refused itself has the number of its refusals", async () => {
    const transaction = await ledger.anOpenTransaction();
    const target = { ...transaction, refusals: 2 };
    expect(await makeOrderWait(ledger, target, toSend, enough())).toEqual({ kind: "waiting" });
    expect((await stored(transaction)).waiting).toEqual({ order: toSend, table: ledger.table, refusals: 2 });
  });

  test("a second copy of an order's wait changes nothing", async () => {
    const transaction = await ledger.anOpenTransaction();
    expect(await wait(transaction)).toEqual({ kind: "waiting" });
    expect(await Promise.all([wait(transaction), wait(transaction)])).toEqual([
      { kind: "waiting" },
      { kind: "waiting" },
    ]);
    expect(await waitingCount(transaction.account_id)).toBe(1);
  });

  test.each([["conflict"], ["answer_lost"], ["never_arrives"], ["throttled"]] as const)(
    "an order whose wait meets %s first waits, and is counted once",
    async (fault) => {
      const transaction = await ledger.anOpenTransaction();
      ledger.firstWrites(1, fault);
      expect(await wait(transaction)).toEqual({ kind: "waiting" });
      expect(await waitingCount(transaction.account_id)).toBe(1);
    },
  );

  test("an order whose wait never arrives is indeterminate, and unchanged", async () => {
    const transaction = await ledger.anOpenTransaction();
    const seen = ledger.firstWrites(99, "never_arrives");
    expect(await wait(transaction)).toEqual({ kind: "indeterminate" });
    expect(seen.writes).toBe(3 * TRIES);
    expect(await stored(transaction)).toEqual(transaction);
    expect(await waitingCount(transaction.account_id)).toBeUndefined();
  });

  test.each([
    ["has a final status", async (order: Transaction) => settleTransaction(ledger, order, failed, enough())],
    ["is of another request", async (order: Transaction) => ({ ...order, attempt: randomUUID() })],
  ])("an order that %s does not begin to wait", async (_name, change) => {
    const transaction = await ledger.anOpenTransaction();
    const changed = await change(transaction);
    const target = "attempt" in changed ? changed : transaction;
    expect(await wait(target)).toEqual({ kind: "not_open", transaction: await stored(transaction) });
    expect(await waitingCount(transaction.account_id)).toBeUndefined();
  });

  test("a late copy of an order's wait has no effect once the order is claimed, nor after it waits again", async () => {
    const own = await ledger.anOpenTransaction();
    expect(await wait(own)).toEqual({ kind: "waiting" });
    const waiting = await stored(own);
    if (!isWaitingOrder(waiting)) throw new Error("The order does not wait");
    const first = await claim(waiting);
    expect(await wait(own)).toEqual({ kind: "not_open", transaction: await stored(own) });
    expect(await waitingCount(own.account_id)).toBe(0);
    expect(await wait(first)).toEqual({ kind: "waiting" });
    const again = await stored(own);
    if (!isWaitingOrder(again)) throw new Error("The order does not wait");
    await claim(again);
    expect(await wait(first)).toMatchObject({ kind: "not_open" });
    expect(await stored(own)).not.toHaveProperty("waiting");
    expect(await waitingCount(own.account_id)).toBe(0);
  });

  test("a wait that arrives after the order was claimed and sent does not make it wait", async () => {
    const waiting = await aWaitingOrder();
    const first = await claim(waiting);
    let writes = 0;
    ledger.proxy.fault = ({ operation }) => {
      if (!isWrite(operation)) return undefined;
      writes += 1;
      return writes <= TRIES ? "arrives_late" : undefined;
    };
    expect(await wait(first)).toEqual({ kind: "waiting" });
    const again = await stored(first);
    if (!isWaitingOrder(again)) throw new Error("The order does not wait");
    const second = await claim(again);
    await ledger.proxy.letLateArrive();
    expect(await stored(first)).toEqual(second);
    expect(await waitingCount(first.account_id)).toBe(0);
  });
});

describe("claimOrder", () => {
  test("a claimed order is open as any sent one, with its claim and the time of it", async () => {
    const waiting = await aWaitingOrder();
    ledger.nowMs += 60_000;
    const claimed = await claim(waiting);
    const at = isoTime(NOON_MS + 60_000);
    expect(claimed).toMatchObject({ open: "live", sent_at: at, claim: expect.any(String) });
    expect(await stored(waiting)).toEqual({ ...claimed, updated_at: at });
    expect(await waitingCount(waiting.account_id)).toBe(0);
  });

  test("of many simultaneous claims one gets the order", async () => {
    const waiting = await aWaitingOrder();
    const claims = await Promise.all(Array.from({ length: 8 }, () => claimOrder(ledger, waiting, enough())));
    const winners = claims.flatMap((result) => (result.kind === "claimed" ? [result.claimed.claim] : []));
    expect(winners).toEqual([(await stored(waiting)).claim]);
    expect(claims.filter(({ kind }) => kind === "not_claimed")).toHaveLength(7);
    expect(await waitingCount(waiting.account_id)).toBe(0);
  });

  test.each([["conflict"], ["answer_lost"], ["never_arrives"], ["throttled"]] as const)(
    "a claim that meets %s first gets the order, and ends its wait once",
    async (fault) => {
      const waiting = await aWaitingOrder();
      ledger.firstWrites(1, fault);
      const { claim: own } = await claim(waiting);
      expect((await stored(waiting)).claim).toBe(own);
      expect(await waitingCount(waiting.account_id)).toBe(0);
    },
  );

  test("a claim whose every answer is lost gets the order that a strong read shows to be its own", async () => {
    const waiting = await aWaitingOrder();
    ledger.firstWrites(99, "answer_lost");
    expect((await stored(waiting)).claim).toBeUndefined();
    const { claim: own } = await claim(waiting);
    expect((await stored(waiting)).claim).toBe(own);
  });

  test("a claim that never arrives is indeterminate, and making its order wait again changes nothing", async () => {
    const waiting = await aWaitingOrder();
    ledger.firstWrites(99, "never_arrives");
    const result = await claimOrder(ledger, waiting, enough());
    if (result.kind !== "indeterminate") throw new Error(`The claim is ${result.kind}`);
    ledger.reset();
    expect(await wait(result.claimed)).toMatchObject({ kind: "not_open" });
    expect(await stored(waiting)).toEqual(waiting);
    expect(await waitingCount(waiting.account_id)).toBe(1);
  });

  test("an indeterminate claim that arrives late is undone, and the order waits in its place", async () => {
    const waiting = await aWaitingOrder();
    ledger.proxy.fault = ({ operation }) => (isWrite(operation) ? "arrives_late" : undefined);
    const result = await claimOrder(ledger, waiting, enough());
    if (result.kind !== "indeterminate") throw new Error(`The claim is ${result.kind}`);
    await ledger.proxy.letLateArrive();
    ledger.reset();
    expect(await stored(waiting)).not.toHaveProperty("waiting");
    expect(await wait(result.claimed)).toEqual({ kind: "waiting" });
    expect(await stored(waiting)).toMatchObject({ created_at: waiting.created_at, waiting: waiting.waiting });
    expect(await waitingCount(waiting.account_id)).toBe(1);
  });

  test("a claim that arrives after another claim, which was refused, does not take the order from its wait", async () => {
    const before = await aWaitingOrder();
    const second = await claim(before);
    expect(await wait(second)).toEqual({ kind: "waiting" });
    expect(await claimOrder(ledger, before, enough())).toEqual({ kind: "not_claimed" });
    expect(await waitingCount(before.account_id)).toBe(1);
  });

  test("no order of a restricted account is claimed", async () => {
    const waiting = await aWaitingOrder();
    const restrict = (isRestricted: boolean) =>
      ledger.db.send(new UpdateCommand(walletRestriction(ledger.table, waiting.account_id, isRestricted).Update));
    await restrict(true);
    expect(await claimOrder(ledger, waiting, enough())).toEqual({ kind: "not_claimed" });
    await restrict(false);
    expect(await claimOrder(ledger, waiting, enough())).toMatchObject({ kind: "claimed" });
  });

  test("a settled order cannot be claimed", async () => {
    const waiting = await aWaitingOrder();
    await settleTransaction(ledger, waiting, failed, enough());
    expect(await claimOrder(ledger, waiting, enough())).toEqual({ kind: "not_claimed" });
  });
});

describe("the settlement of a waiting order", () => {
  test.each([
    ["success", { status: "success" } as const, 0],
    ["failed", failed, 500],
  ])("as %s ends its wait and moves the right money, in one write, once", async (_name, settlement, naira) => {
    const waiting = await aWaitingOrder();
    const results = await Promise.all([
      settleTransaction(ledger, waiting, settlement, enough()),
      settleTransaction(ledger, waiting, settlement, enough()),
    ]);
    expect(results.map(({ kind }) => kind).toSorted()).toEqual(["already_settled", "applied"]);
    const settled = await stored(waiting);
    expect(settled.status).toBe(settlement.status);
    expect(settled).not.toHaveProperty("waiting");
    expect(settled).not.toHaveProperty("open");
    expect(await ledger.balanceOf(waiting.account_id)).toBe(naira);
    expect(await waitingCount(waiting.account_id)).toBe(0);
  });

  test("an order that began to wait since it was read is settled as a waiting one, and the other way round", async () => {
    const transaction = await ledger.anOpenTransaction();
    await wait(transaction);
    expect(await settleTransaction(ledger, transaction, failed, enough())).toEqual({ kind: "applied" });
    expect(await waitingCount(transaction.account_id)).toBe(0);
    const waiting = await aWaitingOrder();
    await claim(waiting);
    expect(await settleTransaction(ledger, waiting, { status: "success" }, enough())).toEqual({ kind: "applied" });
    expect(await waitingCount(waiting.account_id)).toBe(0);
  });

  test("by the sender does nothing to an order that was claimed since it was read", async () => {
    const waiting = await aWaitingOrder();
    const claimed = await claim(waiting);
    const transaction = await stored(waiting);
    expect(await settleAsRead(ledger, waiting, failed, enough())).toEqual({ kind: "already_settled", transaction });
    expect(await stored(waiting)).toMatchObject({ status: "processing", claim: claimed.claim });
    expect(await ledger.balanceOf(waiting.account_id)).toBe(0);
  });

  test("as processing does not end a wait", async () => {
    const waiting = await aWaitingOrder();
    await settleTransaction(ledger, waiting, { status: "processing", upstream_reference: "U1" }, enough());
    expect(await stored(waiting)).toMatchObject({ status: "processing", waiting: waiting.waiting });
    expect(await waitingCount(waiting.account_id)).toBe(1);
  });
});

describe("openUnlessOvertaking", () => {
  test("an order is not opened while another of its account waits, and is once none does", async () => {
    const waiting = await aWaitingOrder();
    const rich = await ledger.aWallet(5_000);
    const next = ledger.aTransaction(waiting.account_id, { amount_kobo: waiting.amount_kobo });
    expect(await openUnlessOvertaking(ledger, next, [], enough())).toEqual({ kind: "would_overtake" });
    expect(await readTransaction(ledger, next.pk)).toBeUndefined();
    expect(await openTransaction(ledger, next, [], enough())).toMatchObject({ kind: "insufficient_balance" });
    const own = ledger.aTransaction(rich);
    expect(await openUnlessOvertaking(ledger, own, [], enough())).toEqual({ kind: "opened" });
    await settleTransaction(ledger, waiting, failed, enough());
    expect(await openUnlessOvertaking(ledger, next, [], enough())).toEqual({ kind: "opened" });
  });

  test("no order of a restricted account is debited, whether it would be sent at once or wait", async () => {
    const accountId = await ledger.aWallet(5_000);
    await ledger.db.send(new UpdateCommand(walletRestriction(ledger.table, accountId, true).Update));
    const order = ledger.aTransaction(accountId);
    expect(await openUnlessOvertaking(ledger, order, [], enough())).toEqual({ kind: "restricted" });
    expect(await openTransaction(ledger, order, [], enough())).toEqual({ kind: "restricted" });
    expect(await ledger.balanceOf(accountId)).toBe(5_000);
    await ledger.db.send(new UpdateCommand(walletRestriction(ledger.table, accountId, false).Update));
    expect(await openTransaction(ledger, order, [], enough())).toEqual({ kind: "opened" });
  });

  test("an order beyond the balance of a wallet without waiting orders is refused, and not made to wait", async () => {
    const transaction = ledger.aTransaction(await ledger.aWallet(499));
    expect(await openUnlessOvertaking(ledger, transaction, [], enough())).toMatchObject({
      kind: "insufficient_balance",
    });
  });

  test("an order whose first debit lost its answer and then meets a waiting order is void: it may have been debited", async () => {
    const { account_id } = await aWaitingOrder();
    let writes = 0;
    ledger.proxy.fault = ({ operation }) => {
      if (operation !== "TransactWriteItems") return undefined;
      writes += 1;
      return writes === 1 ? "never_arrives" : undefined;
    };
    const transaction = ledger.aTransaction(account_id);
    expect(await openUnlessOvertaking(ledger, transaction, [], enough())).toMatchObject({ kind: "void" });
  });
});

describe("the lists of the sender", () => {
  const listed = async (accountId: string): Promise<boolean> =>
    (await walletsWithWaitingOrders(ledger)).some(({ account_id }) => account_id === accountId);

  test("a wallet leaves the list only once it is cleared, and returns with its next waiting order", async () => {
    const waiting = await aWaitingOrder();
    await clearWaitingOrders(ledger, waiting.account_id);
    expect(await listed(waiting.account_id)).toBe(true);
    const claimed = await claim(waiting);
    expect(await listed(waiting.account_id)).toBe(true);
    await clearWaitingOrders(ledger, waiting.account_id);
    expect(await listed(waiting.account_id)).toBe(false);
    await wait(claimed);
    expect(await listed(waiting.account_id)).toBe(true);
    expect(await waitingCount(waiting.account_id)).toBe(1);
  });

  test("a wallet has no attribute that its schema lacks, whether its account has waiting orders or not", async () => {
    const { shape } = walletSchema;
    const attributes = async (accountId: string) => {
      const { Item } = await ledger.db.send(
        new GetCommand({ TableName: ledger.table, Key: { pk: walletPk(accountId) }, ConsistentRead: true }),
      );
      return Object.keys(z.strictObject(shape).parse(Item));
    };
    const waiting = await aWaitingOrder();
    const ofIndex = ["waiting_orders", "open", "created_at"];
    expect(await attributes(waiting.account_id)).toEqual(expect.arrayContaining(ofIndex));
    await claim(waiting);
    expect(await attributes(waiting.account_id)).toEqual(expect.arrayContaining(ofIndex));
    await clearWaitingOrders(ledger, waiting.account_id);
    expect(await attributes(waiting.account_id)).not.toEqual(expect.arrayContaining(["open"]));
  });

  test("of a clearing and an order that begins to wait at the same time, the order is listed and counted", async () => {
    for (let round = 0; round < 10; round += 1) {
      const claimed = await claim(await aWaitingOrder());
      await Promise.all([clearWaitingOrders(ledger, claimed.account_id), wait(claimed)]);
      expect(await waitingCount(claimed.account_id)).toBe(1);
      expect(await listed(claimed.account_id)).toBe(true);
    }
  });

  test.each([["conflict"], ["answer_lost"], ["never_arrives"], ["throttled"]] as const)(
    "a clearing whose first attempt meets %s clears",
    async (fault) => {
      const { account_id } = await claim(await aWaitingOrder());
      let writes = 0;
      ledger.proxy.fault = ({ operation }) => {
        if (!isWrite(operation)) return undefined;
        writes += 1;
        return writes === 1 ? fault : undefined;
      };
      await clearWaitingOrders(ledger, account_id);
      const { Item } = await ledger.db.send(
        new GetCommand({ TableName: ledger.table, Key: { pk: walletPk(account_id) }, ConsistentRead: true }),
      );
      for (const attribute of ["waiting_orders", "open", "created_at"]) expect(Item).not.toHaveProperty(attribute);
    },
  );

  test("an account's orders come oldest first, page by page, without those that are too new for the index's order", async () => {
    const accountId = await ledger.aWallet(50_000);
    const pks: string[] = [];
    for (let age = 30; age >= 1; age -= 1) {
      const at = isoTime(NOON_MS - age * 1_000);
      const transaction = ledger.aTransaction(accountId, { created_at: at });
      await openTransaction(ledger, transaction, [], enough());
      await wait(transaction);
      if (age >= 2) pks.push(transaction.pk);
    }
    const first = await waitingOrdersPage(ledger, accountId);
    const second = await waitingOrdersPage(ledger, accountId, first.next);
    expect(first.orders).toHaveLength(25);
    expect([...first.orders, ...second.orders].map(({ pk }) => pk)).toEqual(pks);
  });

  test("while the index lags, a page has no order that does not wait any more", async () => {
    const accountId = await ledger.aWallet(50_000);
    const waiting: WaitingOrder[] = [];
    for (let order = 0; order < 10; order += 1) {
      const transaction = ledger.aTransaction(accountId, { created_at: isoTime(NOON_MS - 60_000 + order) });
      await openTransaction(ledger, transaction, [], enough());
      await wait(transaction);
      const own = await stored(transaction);
      if (isWaitingOrder(own)) waiting.push(own);
    }
    ledger.proxy.beStrict({ ...strictSettings.lag, lagMaxMs: 60_000 }, 7);
    const claimed = new Set<string>();
    for (const order of waiting.slice(0, 5)) claimed.add((await claim(order)).pk);
    const { orders } = await waitingOrdersPage(ledger, accountId);
    expect(orders.filter(({ pk }) => claimed.has(pk))).toEqual([]);
    expect(await waitingCount(accountId)).toBe(5);
  });
});
