import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { catalogMemory } from "../../../../shared/catalog/catalog-memory.ts";
import { snapshotOf } from "../../../../shared/catalog/snapshot.ts";
import { koboFromNaira } from "../../../../shared/contract/money.ts";
import { ALL_ENTITLEMENTS } from "../../../../shared/contract/permission.ts";
import { emptyWallet } from "../../../../shared/ledger/wallet.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { systemClock } from "../../../../shared/platform/time.ts";
import { buyData } from "../../../../shared/purchase/buy-data.ts";
import { orderGate } from "../../../../shared/queued-orders/order-gate.ts";
import { sandboxUpstream } from "../../../../shared/upstream/sandbox.ts";
import { aCatalog, aPlan } from "../../../builders/catalog.ts";
import { keyedHashes } from "../../../builders/secrets.ts";
import { anOrder, BUY_DATA, ORDER_NAIRA, serviceForTests, transactionOf } from "../../../builders/service.ts";
import { freshTables } from "../../../builders/tables.ts";
import { FACE_VALUES, NO_PRICE_RULES } from "../../../builders/upstream-costs.ts";

const service = await serviceForTests();

const requestCount = (): number => service.simulator.state.requests.length;

test("a used reference with another plan or number is answered 422 about it, and changes nothing", async () => {
  const caller = await service.newCaller({ naira: 2 * ORDER_NAIRA });
  const body = anOrder({ reference: "other" });
  await service.call("POST", BUY_DATA, { key: caller.key, body });
  for (const changes of [{ plan_id: 102 }, { phone_number: "08031234568" }]) {
    const { headers } = await service.call("POST", BUY_DATA, { key: caller.key, body: { ...body, ...changes } });
    expect(headers.get("x-error-code"), JSON.stringify(changes)).toBe("reference_reused");
  }
  expect(await caller.balance()).toBe(ORDER_NAIRA);
});

test("an order at the expected price is placed, and its replay with another one gets its transaction", async () => {
  const caller = await service.newCaller({ naira: 1_000 });
  const buy = (expected_price?: number) =>
    service.call("POST", BUY_DATA, { key: caller.key, body: anOrder({ reference: "expected", expected_price }) });
  const refused = await buy(450.5);
  expect(refused.body.message).toBe("The price is 500 NGN, not 450.5 NGN; nothing was charged");
  expect(await caller.balance()).toBe(1_000);
  const { reference, amount } = transactionOf(await buy(ORDER_NAIRA));
  expect(amount).toBe(ORDER_NAIRA);
  for (const replay of [await buy(450.5), await buy()]) {
    expect(transactionOf(replay).reference).toBe(reference);
    expect(replay.headers.get("idempotent-replayed")).toBe("true");
  }
  expect(await caller.balance()).toBe(500);
});

test("an order that does not fit the catalog is refused with the documented code and field, and nothing is charged", async () => {
  const caller = await service.newCaller({ naira: 1_000 });
  const before = requestCount();
  for (const [changes, code, field] of [
    [{ network_id: 99 }, "validation_failed", "network_id"],
    [{ plan_id: 201 }, "plan_unavailable", "plan_id"],
    [{ plan_id: 9_999 }, "plan_unavailable", "plan_id"],
    [{ expected_price: 499.99 }, "price_changed", "expected_price"],
    [{ expected_price: 501 }, "price_changed", "expected_price"],
  ] as const) {
    const answer = await service.call("POST", BUY_DATA, { key: caller.key, body: anOrder(changes) });
    expect([answer.status, answer.headers.get("x-error-code")], JSON.stringify(changes)).toEqual([422, code]);
    expect(answer.body.errors).toEqual({ [field]: [expect.any(String)] });
    // Nothing was opened either: a refunded debit would have a reference.
    expect(answer.headers.get("x-transaction-reference")).toBeNull();
  }
  expect(await caller.balance()).toBe(1_000);
  expect(requestCount()).toBe(before);
});

describe("the description of a purchase", () => {
  let tables: Awaited<ReturnType<typeof freshTables>>;
  beforeAll(async () => {
    tables = await freshTables();
  });

  /** Buys a plan of this name with a test key. Returns the transaction's description. */
  const descriptionOf = async (planName: string, networkName = "MTN"): Promise<string | undefined> => {
    const { db, ledgerTable: table } = tables;
    const accountId = `acc_${randomUUID()}`;
    const wallet = { ...emptyWallet(accountId, systemClock()), balance_kobo: koboFromNaira(1_000) };
    await db.put({ TableName: table, Item: wallet });
    const networks = [{ id: 1, name: networkName, code: "mtn" }];
    const catalog = snapshotOf(aCatalog(1, { networks, data_plans: [aPlan({ name: planName })] }), systemClock());
    const buy = buyData({
      ledger: { db, table, clock: systemClock },
      keyedHashes,
      outcomeQueue: { send: () => Promise.reject(new Error("A known outcome is not queued")) },
      gate: orderGate({ db, table: tables.cacheTable, initially: "on" }, systemClock, "vtu"),
      cacheTable: "unused",
      queueMinutes: 15,
      costs: FACE_VALUES,
      prices: NO_PRICE_RULES,
      timeZone: "Africa/Lagos",
      catalog: catalogMemory({ read: async () => catalog }, systemClock),
      upstreams: { live: sandboxUpstream, test: sandboxUpstream },
    });
    const { data } = await buy({
      input: { network_id: 1, plan_id: 101, phone_number: "08031234567", reference: "described" },
      caller: { accountId, keyId: "key_1", mode: "test", entitlements: ALL_ENTITLEMENTS },
      deadline: deadlineIn(20_000),
      request: { headers: {} },
    });
    return data?.transaction.description;
  };

  test.each([
    // At most 90 characters of network and plan, so that the transaction stays below 1 KB.
    ["MTN", "G".repeat(120), `MTN ${"G".repeat(86)}`],
    // DynamoDB refuses half of a surrogate pair.
    ["MTN", `${"G".repeat(85)}😀`, `MTN ${"G".repeat(85)}\ufffd`],
    ["MTN", "MTN 110MB", "MTN 110MB"],
    ["MTN", "mtn 110MB", "mtn 110MB"],
    ["MTN", "MTN-110MB", "MTN-110MB"],
    ["MTN", "MTN", "MTN"],
    ["MTN", "MTNX 110MB", "MTN MTNX 110MB"],
    ["Glo", "Global 1GB", "Glo Global 1GB"],
    ["Glo", "1GB by Glo", "Glo 1GB by Glo"],
    ["9mobile (T2)", "9mobile (T2) 1GB", "9mobile (T2) 1GB"],
  ])("has of %s and its plan %j the text %j, with the network named once", async (network, plan, bundle) => {
    expect(await descriptionOf(plan, network)).toBe(`${bundle} data for 08031234567`);
  });
});
