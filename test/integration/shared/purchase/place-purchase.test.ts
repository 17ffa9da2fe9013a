import { describe, expect, test } from "vitest";
import type { Caller } from "../../../../shared/call/call.ts";
import { catalogMemory } from "../../../../shared/catalog/catalog-memory.ts";
import { ServiceError } from "../../../../shared/contract/errors.ts";
import { ALL_ENTITLEMENTS } from "../../../../shared/contract/permission.ts";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { pkOfReference, referenceOf } from "../../../../shared/ledger/transaction.ts";
import type { PlacedOrder } from "../../../../shared/orders/order.ts";
import type { OutcomeMessage } from "../../../../shared/orders/outcome-message.ts";
import type { OutcomeQueue } from "../../../../shared/orders/outcome-queue.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { placePurchase } from "../../../../shared/purchase/place-purchase.ts";
import { NO_ORDERS_QUEUED } from "../../../../shared/queued-orders/upstream-pace.ts";
import {
  ORDER_LIMITED,
  type Outcome,
  RATE_LIMITED,
  type Upstream,
  type UpstreamOrder,
} from "../../../../shared/upstream/upstream.ts";
import { faultyLedgerForTests } from "../../../builders/ledger/faulty-ledger.ts";
import { queuedCount } from "../../../builders/ledger/queued-order.ts";
import { keyedHashes } from "../../../builders/ledger/secrets.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { FACE_VALUES, NO_PRICE_RULES } from "../../../builders/upstream/upstream-costs.ts";

/** Goal: a debited purchase is sent or queued, and its response, its wallet and the outcomes queue agree. */
const ledger = await faultyLedgerForTests();

const NO_BLOCKS = { limitUntilMs: 0, unrecognizedUntilMs: 0 };
const unexpected = () => Promise.reject(new Error("Not expected"));
const delivered = async (): Promise<Outcome> => ({ kind: "delivered" });
const refusedByLimit = async (): Promise<Outcome> => ({ kind: "account_error", reason: RATE_LIMITED });
const BASE_URL = "https://upstream.example.com/v1";
const toSend = { kind: "airtime", network: "mtn" } as const;

type Options = {
  readonly buy?: Upstream["buy"];
  readonly waitS?: number;
  readonly outcomeQueue?: OutcomeQueue;
  readonly of?: Partial<Caller>;
  readonly ordered?:
    | Omit<Extract<UpstreamOrder, { kind: "data" }>, "phoneNumber">
    | { kind: "airtime"; network: string };
  readonly phoneNumber?: string;
  readonly sent?: Readonly<Record<string, string>>;
};

/** What the gate was given to note. */
let noted: string[] = [];
const note = (what: string) => async () => void noted.push(what);

/** Buys for 500 NGN, usually airtime. `waitS`: until the upstream's limit is free. */
const place = async (
  accountId: string,
  callerReference: string,
  {
    buy = unexpected,
    waitS = 0,
    outcomeQueue = { send: unexpected },
    of = {},
    ordered = toSend,
    phoneNumber = "08031234567",
    sent = {},
  }: Options = {},
) => {
  const upstream: Upstream = {
    baseUrl: BASE_URL,
    ...{ assertReady: unexpected, check: unexpected, buy },
    ...{ waitS: () => waitS, blocks: () => NO_BLOCKS, learnBlocks: () => {} },
  };
  const amountKobo = koboFromNaira(500);
  const caller: Caller = { accountId, keyId: "key_1", mode: "live", entitlements: ALL_ENTITLEMENTS, ...of };
  noted = [];
  return placePurchase(
    {
      ledger,
      keyedHashes,
      outcomeQueue,
      gate: {
        purchases: async () => "on",
        ...{ pace: () => NO_ORDERS_QUEUED, blocks: () => NO_BLOCKS },
        ...{ noteBlocks: note("blocks"), noteOutcome: note("outcome") },
      },
      cacheTable: ledger.table,
      queueMinutes: 15,
      costs: FACE_VALUES,
      prices: NO_PRICE_RULES,
      timeZone: "Africa/Lagos",
      catalog: catalogMemory({ read: unexpected }, ledger.clock),
      upstreams: { live: upstream, test: upstream },
    },
    { caller, type: ordered.kind, callerReference, fields: [] },
    {
      ...{ amountKobo, description: "An order", phoneNumber },
      order: ordered.kind === "data" ? { ...ordered, phoneNumber } : { ...ordered, amountKobo, phoneNumber },
    },
    { caller, deadline: deadlineIn(20_000), request: { headers: sent } },
  );
};
const countOf = (accountId: string) => queuedCount(ledger, accountId);

describe("a purchase that may be queued", () => {
  test("is sent at once while the limit is free and no other order of its account is queued", async () => {
    const accountId = await ledger.aWallet(1_000);
    const placed = await place(accountId, "order-1", { buy: delivered });
    expect(placed).toMatchObject({ transaction: { status: "success" } });
    expect(await countOf(accountId)).toBe(0);
    expect(noted).toEqual(["outcome", "blocks"]);
  });

  test("is debited, queued and not sent while the limit is spent", async () => {
    const accountId = await ledger.aWallet(1_000);
    const placed = await place(accountId, "order-1", { waitS: 30 });
    const { transaction, ...answer } = placed;
    expect(transaction.status).toBe("processing");
    expect(answer).toEqual({ estimatedS: 61, replayed: false });
    expect(await readTransaction(ledger, placed.transaction.pk)).toMatchObject({ queued: { order: toSend } });
    expect(await ledger.balanceOf(accountId)).toBe(500);
  });

  test("is queued behind another order of its account, and a replay of it is processing and debits nothing", async () => {
    const accountId = await ledger.aWallet(1_500);
    await place(accountId, "order-1", { buy: refusedByLimit });
    const placed = await place(accountId, "order-2");
    expect(placed).toMatchObject({ transaction: { status: "processing" }, estimatedS: 62 });
    expect(await countOf(accountId)).toBe(2);
    expect(await place(accountId, "order-2")).toMatchObject({
      replayed: true,
      transaction: { pk: placed.transaction.pk, status: "processing" },
    });
    expect(await ledger.balanceOf(accountId)).toBe(500);
  });

  test("is queued with its refusal and without an estimate, if the upstream limits this order alone", async () => {
    const accountId = await ledger.aWallet(1_000);
    const buy = async (): Promise<Outcome> => ({ kind: "account_error", reason: ORDER_LIMITED });
    const { transaction, ...answer } = await place(accountId, "order-1", { buy });
    expect(answer).toEqual({ replayed: false });
    const { queued } = (await readTransaction(ledger, transaction.pk)) ?? {};
    expect(queued).toMatchObject({ order: toSend, refusals: 1 });
  });

  test("and that an event settles while the limit refuses it is answered as settled, and is not queued", async () => {
    const log = captureLog();
    const accountId = await ledger.aWallet(1_000);
    const buy: Upstream["buy"] = async (_order, reference) => {
      const transaction = await readTransaction(ledger, pkOfReference(reference) ?? "");
      if (transaction === undefined) expect.unreachable();
      await settleTransaction(ledger, transaction, { status: "success" }, deadlineIn(20_000));
      return refusedByLimit();
    };
    const { transaction, ...placed } = await place(accountId, "order-1", { buy });
    expect(transaction.status).toBe("success");
    expect(placed).toEqual({ replayed: false });
    expect(await countOf(accountId)).toBe(0);
    expect(log.lines("transaction.contradicted")).toEqual([]);
  });

  /** The upstream's limit refuses the order, and then no write gets an answer. */
  const refusedBeforeAnOutage: Upstream["buy"] = () => {
    ledger.firstWrites(99, "never_arrives");
    return refusedByLimit();
  };

  test("is queued by the outcomes queue if the write has no answer, and is processing without an estimate", async () => {
    const accountId = await ledger.aWallet(1_000);
    const messages: { message: OutcomeMessage; delayS: number }[] = [];
    const outcomeQueue: OutcomeQueue = { send: async (message, delayS) => void messages.push({ message, delayS }) };
    const placed = await place(accountId, "order-1", { buy: refusedBeforeAnOutage, outcomeQueue });
    expect(placed).toMatchObject({ transaction: { status: "processing" } });
    // Until it is queued, a later order of its account may be sent at once.
    expect(placed).not.toHaveProperty("estimatedS");
    const { pk, write_token } = placed.transaction;
    expect(messages).toEqual([
      {
        message: {
          kind: "wait",
          table: ledger.table,
          mode: "live",
          transaction_pk: pk,
          write_token,
          account_id: accountId,
          order: { ...toSend, upstream: BASE_URL },
        },
        delayS: 0,
      },
    ]);
    expect(await countOf(accountId)).toBe(0);
  });

  test("raises an alarm and stays open if it can be queued neither now nor by the outcomes queue", async () => {
    const log = captureLog();
    const accountId = await ledger.aWallet(1_000);
    const placed = await place(accountId, "order-1", { buy: refusedBeforeAnOutage });
    expect(placed).toMatchObject({ transaction: { status: "processing" } });
    expect(log.lines("order.outcome_not_recorded")).not.toEqual([]);
  });
});

test("a purchase whose sending throws is returned as processing, and raises an alarm", async () => {
  const log = captureLog();
  const accountId = await ledger.aWallet(1_000);
  const { transaction, ...placed } = await place(accountId, "order-1", {
    buy: () => Promise.reject(new Error("Unforeseen")),
  });
  expect(transaction.status).toBe("processing");
  expect(placed).toEqual({ replayed: false });
  expect(await ledger.balanceOf(accountId)).toBe(500);
  expect(log.text()).toContain(referenceOf(transaction));
});

describe("a purchase of an account with a duplicate window", () => {
  const of = { duplicateWindowS: 60 };
  const plan = (planId: number) => ({ kind: "data", networkId: 1, planId }) as const;
  const kindOf = (placing: Promise<PlacedOrder>): Promise<string> =>
    placing.then(
      ({ transaction }) => transaction.status,
      (error: unknown) => (error instanceof ServiceError ? error.code : "thrown"),
    );

  test("is refused if it is like an earlier one, which is one of the same plan and number, and not of the same price", async () => {
    const accountId = await ledger.aWallet(10_000);
    const buy = (callerReference: string, options: Options) =>
      kindOf(place(accountId, callerReference, { buy: delivered, of, ordered: plan(101), ...options }));
    expect(await buy("1", {})).toBe("success");
    expect(await buy("2", {})).toBe("possible_duplicate");
    expect(await buy("3", { ordered: plan(102) })).toBe("success");
    expect(await buy("4", { phoneNumber: "08031234568" })).toBe("success");
    expect(await buy("5", { ordered: toSend })).toBe("success");
    expect(await buy("6", { ordered: toSend })).toBe("possible_duplicate");
    expect(await buy("7", { sent: { "x-confirm-duplicate": "1" } })).toBe("possible_duplicate");
    expect(await buy("8", { sent: { "x-confirm-duplicate": " True " } })).toBe("success");
    expect(await buy("9", { of: {} })).toBe("success");
    expect(await buy("10", { ordered: { kind: "airtime", network: "glo" } })).toBe("success");
    expect(await buy("10", { ordered: { kind: "airtime", network: "glo" } })).toBe("success");
    expect(await kindOf(place(await ledger.aWallet(500), "1", { buy: delivered, of }))).toBe("success");
  });
});

test("a purchase in test mode is never queued or like another one, and nothing is noted of it", async () => {
  const accountId = await ledger.aWallet(2_000);
  const of = { mode: "test", duplicateWindowS: 60 } as const;
  for (const [reference, buy, status] of [
    ["one", delivered, "success"],
    ["two", delivered, "success"],
    ["three", refusedByLimit, "failed"],
  ] as const) {
    expect((await place(accountId, reference, { buy, waitS: 30, of })).transaction.status).toBe(status);
    expect(noted).toEqual([]);
  }
});
