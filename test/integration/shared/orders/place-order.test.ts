import { randomUUID } from "node:crypto";
import { createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { OutcomeUnknown, ServiceError } from "../../../../shared/contract/errors.ts";
import { ALL_ENTITLEMENTS } from "../../../../shared/contract/permission.ts";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import type { DuplicateWindow } from "../../../../shared/ledger/duplicate-guard.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { referenceOf, type Transaction } from "../../../../shared/ledger/transaction.ts";
import { readWallet, walletRestriction } from "../../../../shared/ledger/wallet.ts";
import type {
  Fulfilment,
  OrderDeps,
  OrderRequest,
  PlacedOrder,
  QueuePolicy,
  Quote,
} from "../../../../shared/orders/order.ts";
import { type OutcomeMessage, outcomeMessage } from "../../../../shared/orders/outcome-message.ts";
import {
  finaliseOrder,
  openOrder,
  prepareOrder,
  refusalOf,
  refuseUncompared,
} from "../../../../shared/orders/place-order.ts";
import { type Deadline, deadlineIn } from "../../../../shared/platform/deadline.ts";
import { loadKeyedHashes } from "../../../../shared/platform/keyed-hashes.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { enqueueOrder } from "../../../../shared/queued-orders/queue-store.ts";
import { listenOnLoopback } from "../../../../tools/local/loopback.ts";
import { emulatorClient } from "../../../builders/dynamodb/tables.ts";
import { faultyLedgerForTests } from "../../../builders/ledger/faulty-ledger.ts";
import { keyedHashes, REFERENCE_KEY } from "../../../builders/ledger/secrets.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { FACE_VALUES, NO_PRICE_RULES } from "../../../builders/upstream/upstream-costs.ts";

/** Goal: whatever happens to an order, its response, its wallet and the outcomes queue agree. */
const ledger = await faultyLedgerForTests();

type Queued = { readonly message: OutcomeMessage; readonly delayS: number };
const depsWith = (changes: Partial<OrderDeps> = {}): OrderDeps & { readonly queued: readonly Queued[] } => {
  const queued: Queued[] = [];
  const outcomeQueue: OrderDeps["outcomeQueue"] = {
    send: async (message, delayS) => void queued.push({ message, delayS }),
  };
  return {
    ledger,
    keyedHashes,
    outcomeQueue,
    gate: { purchases: async () => "on" },
    costs: FACE_VALUES,
    prices: NO_PRICE_RULES,
    timeZone: "Africa/Lagos",
    queued,
    ...changes,
  };
};

/** An order, and what the capability does that places it. */
type TestOrder = OrderRequest & {
  readonly quote: () => Promise<Quote>;
  readonly fulfil: (transaction: Transaction) => Promise<Fulfilment>;
  readonly recordPk?: string;
  readonly duplicates?: DuplicateWindow;
};
/** An order for 500 NGN that is delivered. */
const anOrder = (accountId: string, changes: Partial<TestOrder> = {}): TestOrder => ({
  caller: { accountId, keyId: "key_1", mode: "live", entitlements: ALL_ENTITLEMENTS },
  type: "data",
  entitlement: "vtu",
  callerReference: "order-1",
  fields: ["a"],
  quote: async () => ({ amountKobo: koboFromNaira(500), description: "A bundle" }),
  fulfil: async () => ({ settlement: { status: "success" } }),
  ...changes,
});
const unreadable = (): Promise<never> => Promise.reject(new Error("The cache table cannot be read"));
const place = async (
  { quote, fulfil, recordPk, duplicates, ...request }: TestOrder,
  deps: OrderDeps = depsWith(),
  deadline: Deadline = deadlineIn(20_000),
): Promise<PlacedOrder> => {
  const prepared = await prepareOrder(deps, request, await quote().catch(refusalOf));
  if (prepared.kind === "placed") return prepared.placed;
  const records = recordPk === undefined ? [] : [{ pk: recordPk, created_at: prepared.transaction.created_at }];
  const opened = await openOrder(deps, prepared, { records, duplicates }, deadline);
  if (opened.kind === "placed") return opened.placed;
  const { transaction } = opened;
  return finaliseOrder(deps, transaction, await fulfil(transaction), deadline);
};

const refusedBy = async (placed: Promise<unknown>): Promise<ServiceError> => {
  const error: unknown = await placed.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ServiceError) return error;
  throw new Error("No refusal", { cause: error });
};
/** The upstream's share of the time has begun: a debit is tried once. */
const NO_RETRIES: Deadline = { remainingMs: () => 16_000 };
const isDebit = (call: { operation: string; body: string }): boolean =>
  call.operation === "TransactWriteItems" && call.body.includes("attribute_not_exists(pk)");
const UNSENT: TestOrder["fulfil"] = () => Promise.reject(new Error("Nothing may be sent"));

describe("the transaction of an order", () => {
  test("a transaction has what its caller and its quote state", async () => {
    const accountId = await ledger.aWallet(1_000);
    const quote = async () => ({
      amountKobo: koboFromNaira(500),
      faceKobo: koboFromNaira(520),
      costKobo: koboFromNaira(490),
      rule: "rule_1",
      description: "A bundle",
      network: "MTN",
      phoneNumber: "08031234567",
    });
    const { transaction, replayed } = await place(anOrder(accountId, { quote }));
    expect(replayed).toBe(false);
    expect(await readTransaction(ledger, transaction.pk)).toEqual({
      pk: transaction.pk,
      list_key: `${accountId}#live`,
      account_id: accountId,
      key_id: "key_1",
      mode: "live",
      type: "data",
      status: "success",
      write_token: transaction.write_token,
      fingerprint: transaction.fingerprint,
      caller_reference: "order-1",
      amount_kobo: 50_000,
      face_kobo: 52_000,
      cost_kobo: 49_000,
      price_rule: "rule_1",
      description: "A bundle",
      network: "MTN",
      phone_number: "08031234567",
      phone_key: (await keyedHashes()).phoneKey("08031234567"),
      created_at: isoTime(NOON_MS),
      updated_at: isoTime(NOON_MS),
    });
  });

  test("an open live transaction is in the index of open ones, and a test transaction is not", async () => {
    const accountId = await ledger.aWallet(1_000);
    const fulfil = async () => ({});
    const live = await place(anOrder(accountId, { fulfil }));
    const caller = { accountId, keyId: "key_1", mode: "test", entitlements: ALL_ENTITLEMENTS } as const;
    const test = await place(anOrder(accountId, { fulfil, caller }));
    expect(await readTransaction(ledger, live.transaction.pk)).toMatchObject({
      open: expect.stringMatching(/^live#[0-9A-Z]$/),
    });
    expect(await readTransaction(ledger, test.transaction.pk)).not.toHaveProperty("open");
  });

  test("the records of an order are written with its transaction", async () => {
    const pk = `consent#${randomUUID()}`;
    const { transaction } = await place(anOrder(await ledger.aWallet(1_000), { recordPk: pk }));
    const { Item } = await ledger.db.get({ TableName: ledger.table, Key: { pk } });
    expect(Item).toEqual({ pk, created_at: transaction.created_at });
  });

  test("orders without a reference are different transactions, and a face value that is the price is not kept", async () => {
    const accountId = await ledger.aWallet(1_000);
    const amountKobo = koboFromNaira(500);
    const quote = async () => ({ amountKobo, faceKobo: amountKobo, description: "A bundle" });
    const one = await place(anOrder(accountId, { callerReference: undefined, quote }));
    expect(one.transaction).not.toHaveProperty("face_kobo");
    const other = await place(anOrder(accountId, { callerReference: undefined }));
    expect(other.transaction.pk).not.toBe(one.transaction.pk);
    expect(one.transaction).not.toHaveProperty("caller_reference");
    expect(await ledger.balanceOf(accountId)).toBe(0);
  });
});

describe("an order that its account may not place", () => {
  const LIVE = { keyId: "key_1", mode: "live", entitlements: ALL_ENTITLEMENTS } as const;
  const NOT_RAISED = "Nothing was charged. Order less, or have the limit raised";

  test.each([
    ["account", "order_naira", `this account: 499 NGN an order. ${NOT_RAISED}`],
    ["account", "day_naira", `this account: 499 NGN a day. ${NOT_RAISED}`],
    ["key", "month_naira", `this API key: 499 NGN a month. ${NOT_RAISED}`],
  ] as const)("by a limit of its %s (%s) is refused, and its reference is free", async (by, limit, said) => {
    const accountId = await ledger.aWallet(1_000);
    const caller = { ...LIVE, accountId, limits: { [by]: { [limit]: 499 } } };
    const refusal = await refusedBy(place(anOrder(accountId, { caller, fulfil: UNSENT })));
    expect(refusal).toMatchObject({
      code: "limit_reached",
      details: { message: `The order would pass the limit of ${said}` },
    });
    expect((await place(anOrder(accountId))).replayed).toBe(false);
    // Of an order of this reference, it would be taken for the outcome of that order.
    expect(await place(anOrder(accountId, { caller, fulfil: UNSENT }))).toMatchObject({ replayed: true });
    const other = refusedBy(place(anOrder(accountId, { caller, fields: ["b"], fulfil: UNSENT })));
    expect(await other).toMatchObject({ code: "reference_reused" });
    expect(await ledger.balanceOf(accountId)).toBe(500);
  });

  test.each([
    ["account", "day_orders", "this account: 1 order a day"],
    ["key", "month_orders", "this API key: 1 order a month"],
  ] as const)(
    "by what its %s has used (%s) is refused, and the one before has what it is counted for",
    async (by, limit, said) => {
      const accountId = await ledger.aWallet(1_000);
      const caller = { ...LIVE, accountId, limits: { [by]: { [limit]: 1 } } };
      const { transaction } = await place(anOrder(accountId, { caller, fulfil: async () => ({}) }));
      expect(transaction.counted).toMatchObject({ day: "2026-11-21" });
      expect(transaction).toStrictEqual(await readTransaction(ledger, transaction.pk));
      const refusal = await refusedBy(
        place(anOrder(accountId, { caller, callerReference: "order-2", fulfil: UNSENT })),
      );
      expect(refusal).toMatchObject({
        code: "limit_reached",
        details: {
          message: `The order would pass the limit of ${said} (1 used; days and months are in Africa/Lagos). Nothing was charged. Order less, or again in the next period, or have the limit raised`,
        },
      });
      expect(await ledger.balanceOf(accountId)).toBe(500);
      const test = { ...caller, mode: "test" } as const;
      expect((await place(anOrder(accountId, { caller: test }))).replayed).toBe(false);
    },
  );

  test("by its quota is refused until midnight, and is without a quota counted for none", async () => {
    const accountId = await ledger.aWallet(2_000);
    const caller = { ...LIVE, accountId, entitlements: { vtu: 1, identity: null } };
    expect((await place(anOrder(accountId, { caller }))).replayed).toBe(false);
    const next = anOrder(accountId, { caller, callerReference: "order-2", fulfil: UNSENT });
    expect(await refusedBy(place(next))).toMatchObject({
      code: "rate_limited",
      details: { retryAfterS: 11 * 3_600, message: expect.stringContaining("for vtu: wait until midnight in Lagos") },
    });
    const other = anOrder(accountId, { caller, entitlement: "identity", callerReference: "order-3" });
    expect((await place(other)).replayed).toBe(false);
    expect(await ledger.balanceOf(accountId)).toBe(1_000);
  });

  test("because it is not entitled to it, or is restricted, is refused, and nothing is debited", async () => {
    const accountId = await ledger.aWallet(1_000);
    const caller = { ...LIVE, accountId, entitlements: { identity: null } };
    expect(await refusedBy(place(anOrder(accountId, { caller, fulfil: UNSENT })))).toMatchObject({
      code: "permission_denied",
      details: { message: "This account is not entitled to vtu: ask an operator of the service" },
    });
    await ledger.db.update(walletRestriction(ledger.table, accountId, true, NOON_MS).Update);
    const restricted = await refusedBy(place(anOrder(accountId, { fulfil: UNSENT })));
    expect(restricted.code).toBe("account_restricted");
    expect(await ledger.balanceOf(accountId)).toBe(1_000);
  });

  test.each([
    ["order-1", " (your reference order-1)"],
    [undefined, ""],
  ])("because it is like an earlier one with the reference %s names that one", async (callerReference, said) => {
    const accountId = await ledger.aWallet(1_000);
    const duplicates = { table: ledger.table, pk: `duplicate#${randomUUID()}`, windowS: 60, isConfirmed: false };
    const { transaction } = await place(anOrder(accountId, { callerReference, duplicates }));
    const like = anOrder(accountId, { callerReference: "order-2", duplicates, fulfil: UNSENT });
    const duplicateOf = referenceOf(transaction);
    expect(await refusedBy(place(like))).toMatchObject({
      code: "possible_duplicate",
      details: { duplicateOf, message: expect.stringContaining(`The order is like ${duplicateOf}${said}, which`) },
    });
    expect(await ledger.balanceOf(accountId)).toBe(500);
  });

  test("because its kind is off is asked about by its type and kind", async () => {
    const asked: (readonly unknown[] | undefined)[] = [];
    const purchases = async (parts?: readonly unknown[]) => {
      asked.push(parts);
      return "off" as const;
    };
    const order = { type: "nin_retrieval", entitlement: "identity:retrieve", fulfil: UNSENT } as const;
    await refusedBy(place(anOrder(await ledger.aWallet(500), order), depsWith({ gate: { purchases } })));
    expect(asked).toEqual([["nin_retrieval", "identity"]]);
  });

  test("because its network is off is also refused under another name of the network", async () => {
    const gate = {
      purchases: async (parts: readonly unknown[] = []) => (parts.includes("9mobile") ? "off" : "on"),
    } as const;
    const quote = async () => ({ amountKobo: koboFromNaira(500), description: "A bundle", networkCode: "t2" });
    const order = anOrder(await ledger.aWallet(500), { quote, fulfil: UNSENT });
    expect(await refusedBy(place(order, depsWith({ gate })))).toMatchObject({ code: "provider_unavailable" });
  });
});

describe("an order that may have to wait", () => {
  test("waits always by policy, or only behind another of its account", async () => {
    const accountId = await ledger.aWallet(5_000);
    const mustQueue = async (queue?: QueuePolicy) => {
      const { quote, fulfil: _, ...request } = anOrder(accountId, { callerReference: undefined });
      const prepared = await prepareOrder(depsWith(), request, await quote());
      if (prepared.kind === "placed") expect.unreachable();
      const opened = await openOrder(depsWith(), prepared, queue === undefined ? {} : { queue }, deadlineIn(20_000));
      if (opened.kind === "placed") expect.unreachable();
      expect(opened.transaction).toStrictEqual(await readTransaction(ledger, prepared.transaction.pk));
      return opened;
    };
    const policies = [undefined, "never", "behind_others", "always"] as const;
    const decided = async () => {
      const opened: boolean[] = [];
      for (const policy of policies) opened.push((await mustQueue(policy)).mustQueue);
      return opened;
    };
    expect(await decided()).toEqual([false, false, false, true]);
    const { transaction } = await mustQueue("always");
    await enqueueOrder(ledger, transaction, { kind: "airtime", network: "mtn" }, deadlineIn(20_000));
    expect(await decided()).toEqual([false, false, true, true]);
  });
});

describe("an order that cannot be compared with the earlier one of its reference", () => {
  test("is refused if there is none, and has an unknown outcome if there is one", async () => {
    const accountId = await ledger.aWallet(1_000);
    const { caller } = anOrder(accountId);
    const refusal = new ServiceError("internal_error");
    const refuse = (callerReference: string | undefined) =>
      refuseUncompared(depsWith(), { caller, callerReference }, refusal);
    await expect(refuse("order-1")).rejects.toBe(refusal);
    await place(anOrder(accountId));
    await expect(refuse(undefined)).rejects.toBe(refusal);
    await expect(refuse("order-1")).rejects.toMatchObject({ name: "OutcomeUnknown", cause: refusal });
  });
});

describe("a reference that was used before", () => {
  test("a replay returns the transaction, and nothing is sent upstream", async () => {
    const accountId = await ledger.aWallet(1_000);
    const { transaction } = await place(anOrder(accountId));
    expect(await place(anOrder(accountId, { fulfil: UNSENT }))).toEqual({ transaction, replayed: true });
    expect(await ledger.balanceOf(accountId)).toBe(500);
  });

  test.each([
    ["other fields", { fields: ["b"] }],
    ["another type", { type: "airtime" as const }],
  ])("the reference of an order with %s is a conflict, which names the field to change", async (_name, changes) => {
    const accountId = await ledger.aWallet(1_000);
    await place(anOrder(accountId));
    const refusal = await refusedBy(place(anOrder(accountId, { ...changes, fulfil: UNSENT })));
    expect(refusal).toMatchObject({
      code: "reference_reused",
      details: { fields: { reference: [expect.any(String)] } },
    });
    expect(await ledger.balanceOf(accountId)).toBe(500);
  });

  const gone = () => Promise.reject(new ServiceError("plan_unavailable"));
  test("an order that was placed under an earlier version of the reference key is replayed, and a conflict is one", async () => {
    const accountId = await ledger.aWallet(2_000);
    const versions = async () => `${REFERENCE_KEY}\n${isoTime(NOON_MS - 1)} ${"l".repeat(32)}`;
    const rotated = loadKeyedHashes({ value: versions, refetch: versions });
    for (const [reference, first, second] of [
      ["order-1", keyedHashes, rotated],
      ["order-2", rotated, rotated],
    ] as const) {
      const order = anOrder(accountId, { callerReference: reference });
      const { transaction } = await place(order, depsWith({ keyedHashes: first }));
      const later = depsWith({ keyedHashes: second });
      expect(await place({ ...order, fulfil: UNSENT }, later)).toEqual({ transaction, replayed: true });
      const other = place({ ...order, fields: ["b"], fulfil: UNSENT }, later);
      expect(await refusedBy(other)).toMatchObject({ code: "reference_reused" });
    }
    expect(await ledger.balanceOf(accountId)).toBe(1_000);
  });

  test("a replay returns the transaction although the order could not be placed any more", async () => {
    const accountId = await ledger.aWallet(1_000);
    const { transaction } = await place(anOrder(accountId));
    expect(await place(anOrder(accountId, { quote: gone }))).toEqual({ transaction, replayed: true });
    const isOff = async (parts: readonly unknown[] = []) => (parts.includes("mtn") ? "off" : "on");
    const gate = { purchases: isOff };
    const ofMtn = (changes: Partial<TestOrder> = {}) =>
      anOrder(accountId, {
        quote: async () => ({ amountKobo: koboFromNaira(500), description: "A bundle", networkCode: "mtn" }),
        ...changes,
      });
    expect(await place(ofMtn(), depsWith({ gate }))).toEqual({ transaction, replayed: true });
    const refused = place(ofMtn({ callerReference: "order-2" }), depsWith({ gate }));
    expect(await refusedBy(refused)).toMatchObject({ code: "provider_unavailable", details: { retryAfterS: 300 } });
    expect(await ledger.balanceOf(accountId)).toBe(500);
    expect(await place(anOrder(accountId), depsWith({ gate: { purchases: unreadable } }))).toEqual({
      transaction,
      replayed: true,
    });
  });

  test("a conflicting order with a wrong value is refused because of the value", async () => {
    const accountId = await ledger.aWallet(1_000);
    await place(anOrder(accountId));
    const other = anOrder(accountId, { fields: ["b"], quote: gone });
    expect(await refusedBy(place(other))).toMatchObject({ code: "plan_unavailable" });
    const withoutReference = anOrder(accountId, { callerReference: undefined, quote: gone });
    expect(await refusedBy(place(withoutReference))).toMatchObject({ code: "plan_unavailable" });
    const unknown = anOrder(accountId, { callerReference: "order-2", quote: gone });
    expect(await refusedBy(place(unknown))).toMatchObject({ code: "plan_unavailable" });
  });
});

describe("an error before the debit that could be taken for the outcome of the first order", () => {
  const broken = () => Promise.reject(new Error("The catalog's table cannot be read"));
  const unavailable = () => Promise.reject(new ServiceError("provider_unavailable", { retryAfterS: 40 }));
  const causes = [
    ["a busy wallet", undefined],
    ["a quote that is refused", unavailable],
    ["a quote that throws", broken],
  ] as const;
  const conflicting = (call: { operation: string; body: string }) => (isDebit(call) ? "conflict" : undefined);
  const unreadable = (call: { operation: string; body: string }) =>
    call.operation === "GetItem" ? "never_arrives" : conflicting(call);

  test.each(causes)(
    "%s: a replay gets its transaction, a conflict 422, and a new order the error",
    async (_name, quote) => {
      const accountId = await ledger.aWallet(1_000);
      const { transaction } = await place(anOrder(accountId));
      const changes = { fulfil: UNSENT, ...(quote && { quote }) };
      const code = quote === broken ? "internal_error" : "provider_unavailable";
      ledger.proxy.fault = quote ? () => undefined : conflicting;
      expect(await place(anOrder(accountId, changes), depsWith(), NO_RETRIES)).toEqual({ transaction, replayed: true });
      const refusalFor = (other: Partial<TestOrder>) =>
        refusedBy(place(anOrder(accountId, { ...changes, ...other }), depsWith(), NO_RETRIES));
      expect(await refusalFor({ fields: ["b"] })).toMatchObject({ code: "reference_reused" });
      expect(await refusalFor({ callerReference: "order-2" })).toMatchObject({ code });
      expect(await refusalFor({ callerReference: undefined })).toMatchObject({ code });
      expect(await ledger.balanceOf(accountId)).toBe(500);
    },
  );

  test.each(causes)(
    "%s, while the ledger cannot be read, is an unknown outcome if the order has a reference",
    async (_name, quote) => {
      const accountId = await ledger.aWallet(1_000);
      await place(anOrder(accountId));
      const changes = { fulfil: UNSENT, ...(quote && { quote }) };
      ledger.proxy.fault = unreadable;
      const placed = place(anOrder(accountId, changes), depsWith(), NO_RETRIES);
      await expect(placed).rejects.toMatchObject({ name: "OutcomeUnknown", cause: expect.any(Error) });
      const withoutReference = place(
        anOrder(accountId, { ...changes, callerReference: undefined }),
        depsWith(),
        NO_RETRIES,
      );
      expect((await refusedBy(withoutReference)).code).toBe(
        quote === broken ? "internal_error" : "provider_unavailable",
      );
    },
  );

  test("an unforeseen error of the pricing is internal_error with its cause", () => {
    const cause = new Error("No catalog");
    expect(refusalOf(cause)).toMatchObject({ code: "internal_error", cause });
  });

  test("a reference key that cannot be read is an unknown outcome for an order with a reference, and internal_error without one", async () => {
    const accountId = await ledger.aWallet(1_000);
    const cause = new Error("Secrets Manager is away");
    const deps = depsWith({ keyedHashes: () => Promise.reject(cause) });
    await expect(place(anOrder(accountId), deps)).rejects.toMatchObject({ name: "OutcomeUnknown", cause });
    const withoutReference = refusedBy(place(anOrder(accountId, { callerReference: undefined }), deps));
    expect(await withoutReference).toMatchObject({ code: "internal_error", cause });
    expect(await ledger.balanceOf(accountId)).toBe(1_000);
  });
});

describe("an order that is not sent upstream", () => {
  test.each(["live", "test"] as const)(
    "an order in mode %s while purchases are off is refused with a retry in 5 minutes",
    async (mode) => {
      const accountId = await ledger.aWallet(1_000);
      const order = anOrder(accountId, {
        caller: { accountId, keyId: "key_1", mode, entitlements: ALL_ENTITLEMENTS },
        fulfil: UNSENT,
      });
      const refusal = await refusedBy(place(order, depsWith({ gate: { purchases: async () => "off" } })));
      expect(refusal).toMatchObject({ code: "provider_unavailable", details: { retryAfterS: 300 } });
      expect(await ledger.balanceOf(accountId)).toBe(1_000);
    },
  );

  test("an order with a wrong value while purchases are off is refused for the value", async () => {
    const quote = () => Promise.reject(new ServiceError("plan_unavailable"));
    const order = anOrder(await ledger.aWallet(1_000), { quote, fulfil: UNSENT });
    const refusal = await refusedBy(place(order, depsWith({ gate: { purchases: async () => "off" } })));
    expect(refusal.code).toBe("plan_unavailable");
  });

  test("an order is refused with an alarm, and nothing is debited, if it cannot be known whether purchases are on", async () => {
    const log = captureLog();
    const accountId = await ledger.aWallet(1_000);
    const refusal = await refusedBy(
      place(anOrder(accountId, { fulfil: UNSENT }), depsWith({ gate: { purchases: unreadable } })),
    );
    expect(refusal).toMatchObject({ code: "provider_unavailable", details: { retryAfterS: 5 } });
    expect(await ledger.balanceOf(accountId)).toBe(1_000);
    expect(log.lines("purchases.unreadable")).not.toEqual([]);
  });

  test("an order that costs more than the balance is refused", async () => {
    const refusal = await refusedBy(place(anOrder(await ledger.aWallet(499), { fulfil: UNSENT })));
    expect(refusal.code).toBe("insufficient_balance");
  });

  test("an order at a busy wallet is refused with a retry in a second", async () => {
    ledger.proxy.fault = (call) => (isDebit(call) ? "conflict" : undefined);
    const deps = depsWith();
    const order = anOrder(await ledger.aWallet(1_000), { fulfil: UNSENT });
    const refusal = await refusedBy(place(order, deps, NO_RETRIES));
    expect(refusal).toMatchObject({ code: "provider_unavailable", details: { retryAfterS: 1 } });
    expect(deps.queued).toEqual([]);
  });

  test("an order whose debit lost its answer and was not made is failed, as its replays are, and nothing is queued", async () => {
    const deps = depsWith();
    const accountId = await ledger.aWallet(1_000);
    ledger.proxy.fault = (call) => (isDebit(call) ? "never_arrives" : undefined);
    const { transaction, ...placed } = await place(anOrder(accountId, { fulfil: UNSENT }), deps);
    expect(placed).toEqual({ replayed: false });
    expect(transaction).toMatchObject({ status: "failed", failure: { code: "delivery_failed" }, debit: "void" });
    expect(await readTransaction(ledger, transaction.pk)).toEqual(transaction);
    ledger.reset();
    expect(await place(anOrder(accountId, { fulfil: UNSENT }), deps)).toEqual({ transaction, replayed: true });
    const other = refusedBy(place(anOrder(accountId, { fields: ["b"], fulfil: UNSENT }), deps));
    expect(await other).toMatchObject({ code: "reference_reused" });
    expect(deps.queued).toEqual([]);
    expect(await ledger.balanceOf(accountId)).toBe(1_000);
  });

  /** Neither the debit nor its void gets an answer. */
  const loseWrites = (): void => {
    ledger.proxy.fault = ({ operation }) =>
      operation === "TransactWriteItems" || operation === "PutItem" ? "never_arrives" : undefined;
  };

  test("an order without a reference whose debit is indeterminate names its transaction and queues its end in 60 s, without its phone number", async () => {
    const deps = depsWith();
    const accountId = await ledger.aWallet(1_000);
    loseWrites();
    const quote = async () => ({
      amountKobo: koboFromNaira(500),
      description: "A bundle for 08031234567",
      phoneNumber: "08031234567",
    });
    const order = anOrder(accountId, { callerReference: undefined, quote, fulfil: UNSENT });
    const refusal = await refusedBy(place(order, deps));
    expect(refusal.code).toBe("delivery_failed");
    expect(refusal.details.retryAfterS).toBeUndefined();
    const [{ message, delayS } = {}] = deps.queued;
    expect(delayS).toBe(60);
    expect(message).toMatchObject({
      kind: "void",
      item: { account_id: accountId, phone_number: "*********67", description: "A bundle for *********67" },
    });
    expect(outcomeMessage.parse(JSON.parse(JSON.stringify(message)))).toEqual(message);
    expect(message?.kind === "void" && referenceOf(message.item)).toBe(refusal.details.transactionReference);
  });

  test("an order with a reference whose debit is indeterminate is an unknown outcome, and its end is queued", async () => {
    const deps = depsWith();
    const order = anOrder(await ledger.aWallet(1_000), { fulfil: UNSENT });
    loseWrites();
    const placed = place(order, deps);
    await expect(placed).rejects.toBeInstanceOf(OutcomeUnknown);
    expect(deps.queued).toMatchObject([{ message: { kind: "void" }, delayS: 60 }]);
  });

  test("a replay whose debit is indeterminate is an unknown outcome", async () => {
    const deps = depsWith();
    const accountId = await ledger.aWallet(1_000);
    await place(anOrder(accountId), deps);
    ledger.proxy.fault = () => "never_arrives";
    await expect(place(anOrder(accountId, { fulfil: UNSENT }), deps)).rejects.toBeInstanceOf(OutcomeUnknown);
    expect(deps.queued).toHaveLength(1);
    const withoutReference = await refusedBy(
      place(anOrder(accountId, { callerReference: undefined, fulfil: UNSENT }), deps),
    );
    expect(withoutReference).toMatchObject({
      code: "delivery_failed",
      details: { transactionReference: expect.any(String) },
    });
  });

  test("an order with 7 s left whose table hangs has 3 s for queueing its end", async () => {
    const silent = createServer((socket) => void socket.on("error", () => undefined));
    onTestFinished(() => void silent.close());
    const db = emulatorClient(`http://127.0.0.1:${await listenOnLoopback(silent)}`);
    const deadline = deadlineIn(7_050);
    const leftMs: number[] = [];
    const outcomeQueue = { send: async () => void leftMs.push(deadline.remainingMs()) };
    const placed = place(
      anOrder("acc_silent", { fulfil: UNSENT }),
      depsWith({ ledger: { ...ledger, db }, outcomeQueue }),
      deadline,
    );
    await expect(placed).rejects.toBeInstanceOf(OutcomeUnknown);
    expect(leftMs).toEqual([expect.any(Number)]);
    expect(leftMs[0]).toBeGreaterThan(3_000);
  });

  test("an order whose end cannot be queued is an unknown outcome", async () => {
    const cause = new Error("SQS is away");
    const outcomeQueue = { send: () => Promise.reject(cause) };
    const order = anOrder(await ledger.aWallet(1_000), { callerReference: undefined, fulfil: UNSENT });
    loseWrites();
    const placed = place(order, depsWith({ outcomeQueue }));
    await expect(placed).rejects.toMatchObject({ name: "OutcomeUnknown", cause });
  });
});

describe("an order after its debit", () => {
  test("an order whose outcome is unknown is returned as processing, and nothing is queued or logged", async () => {
    const log = captureLog();
    const deps = depsWith();
    const accountId = await ledger.aWallet(1_000);
    const { transaction, ...placed } = await place(anOrder(accountId, { fulfil: async () => ({}) }), deps);
    expect(transaction.status).toBe("processing");
    expect(placed).toStrictEqual({ replayed: false });
    expect(transaction).toStrictEqual(await readTransaction(ledger, transaction.pk));
    expect(deps.queued).toEqual([]);
    expect(await ledger.balanceOf(accountId)).toBe(500);
    expect(log.text()).toBe("");
  });

  test("an order that fails is returned as failed, refunded, and gives back what it used of a limit", async () => {
    const accountId = await ledger.aWallet(1_000);
    const settlement = { status: "failed", failure: { code: "delivery_failed" } } as const;
    const caller = { ...anOrder(accountId).caller, limits: { account: { day_orders: 1 } } };
    const fulfil = async () => ({ settlement });
    const { transaction, ...placed } = await place(anOrder(accountId, { caller, fulfil }));
    expect((await readWallet(ledger, accountId)).day_orders).toBe(0);
    expect(transaction).toMatchObject(settlement);
    expect(placed).toEqual({ replayed: false });
    expect(transaction).not.toHaveProperty("open");
    expect(await ledger.balanceOf(accountId)).toBe(1_000);
  });

  test("an order that settles later has its settlement queued with a delay", async () => {
    const deps = depsWith();
    const later = { settlement: { status: "success" }, afterS: 7, estimatedS: 7 } as const;
    const { transaction, ...placed } = await place(
      anOrder(await ledger.aWallet(1_000), { fulfil: async () => ({ later }) }),
      deps,
    );
    expect(transaction.status).toBe("processing");
    expect(placed).toEqual({ replayed: false, estimatedS: 7 });
    const { pk, write_token } = transaction;
    const message = { kind: "settlement", mode: "live", transaction_pk: pk, write_token, settlement: later.settlement };
    expect(deps.queued).toEqual([{ message, delayS: 7 }]);
  });

  test("an order that was settled otherwise in the meantime is returned with that status, and raises an alarm with references and amounts", async () => {
    const log = captureLog();
    const fulfil: TestOrder["fulfil"] = async (transaction) => {
      await settleTransaction(ledger, transaction, { status: "success" }, deadlineIn(20_000));
      const facts = { upstream_reference: "UP9", upstream_amount_kobo: koboFromNaira(490) };
      return { settlement: { status: "failed", failure: { code: "delivery_failed" }, ...facts } };
    };
    const { transaction, ...placed } = await place(anOrder(await ledger.aWallet(1_000), { fulfil }));
    expect(transaction.status).toBe("success");
    expect(placed).toEqual({ replayed: false });
    expect(log.lines()).toEqual([
      expect.objectContaining({
        event: "transaction.contradicted",
        level: "error",
        transaction: referenceOf(transaction),
        stands: "success",
        says: "failed",
        amount_kobo: 50_000,
        upstream_reference: "UP9",
        upstream_amount_kobo: 49_000,
      }),
    ]);
  });

  test("an order whose settlement cannot be written in time is returned as processing, and the settlement is queued", async () => {
    const deps = depsWith();
    let debits = 0;
    const deadline: Deadline = { remainingMs: () => (debits === 0 ? 20_000 : 3_500) };
    ledger.proxy.fault = (call) => {
      if (isDebit(call)) debits += 1;
      return call.operation === "UpdateItem" ? "conflict" : undefined;
    };
    const { transaction, ...placed } = await place(anOrder(await ledger.aWallet(1_000)), deps, deadline);
    expect(debits).toBe(1);
    expect(transaction.status).toBe("processing");
    expect(placed).toEqual({ replayed: false });
    expect(deps.queued).toEqual([
      {
        message: expect.objectContaining({ transaction_pk: transaction.pk, settlement: { status: "success" } }),
        delayS: 0,
      },
    ]);
  });

  test.each([
    ["settlement that cannot be written in time", { settlement: { status: "success" } } as const, 3_500],
    ["later settlement", { later: { settlement: { status: "success" }, afterS: 7 } } as const, 20_000],
  ])(
    "an order whose %s cannot be queued either fails, so that its response raises an alarm",
    async (_name, fulfilment, remainingMs) => {
      const deps = depsWith({ outcomeQueue: { send: () => Promise.reject(new Error("SQS does not answer")) } });
      const transaction = await ledger.anOpenTransaction();
      ledger.proxy.fault = ({ operation }) => (operation === "UpdateItem" ? "conflict" : undefined);
      const finalised = finaliseOrder(deps, transaction, fulfilment, { remainingMs: () => remainingMs });
      await expect(finalised).rejects.toThrow("SQS does not answer");
    },
  );
});
