import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ALL_ENTITLEMENTS } from "../../../../shared/contract/permission.ts";
import { transactionLookup, transactionType } from "../../../../shared/contract/transaction.ts";
import { transactionPage } from "../../../../shared/contract/transaction-query.ts";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { fundWallet } from "../../../../shared/ledger/ledger-entry.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import { transactionPk } from "../../../../shared/ledger/schema.ts";
import { cancelOrder } from "../../../../shared/orders/cancel-order.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { reconcileWallet } from "../../../../shared/reconciliation/reconcile-wallet.ts";
import { type FaultyLedger, openFaultyLedger } from "../../../builders/ledger/faulty-ledger.ts";
import { keyedHashes } from "../../../builders/ledger/secrets.ts";
import { type Answer, startTestService, type TestService } from "../../../builders/service/service.ts";
import { identityProducts } from "../../../builders/upstream/identity.ts";

/** Goal: a cancelled order is never placed, whenever a copy of its request arrives, and a placed one is not touched. */
const CANCEL = "/transactions/cancel";
const viewOf = (answer: Answer) => transactionLookup.parse(answer.body.data).transaction;

/** Every kind of order, with what it costs. */
const orders = [
  {
    type: "data",
    path: "/vtu/data/purchase",
    body: { network_id: 1, plan_id: 101, phone_number: "08031234567" },
    naira: 500,
  },
  {
    type: "airtime",
    path: "/vtu/airtime/purchase",
    body: { network: "mtn", amount: 100, phone_number: "08031234567" },
    naira: 100,
  },
  ...identityProducts.filter(({ name }) => !name.includes("advanced")),
] as const;

describe("the route", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service.stop());

  const cancel = (key: string, reference: string, type = "data", options = {}): Promise<Answer> =>
    service.call("POST", CANCEL, { key, body: { reference, type }, ...options });

  test.each(orders)(
    "an order of the type $type that was refused for the balance and cancelled is not placed by a late copy, although the wallet is funded",
    async ({ type, path, body, naira }) => {
      const caller = await service.newCaller({ naira: 0 });
      const { key, accountId } = caller;
      const reference = `order-${randomUUID()}`;
      const send = () => service.call("POST", path, { key, body: { ...body, reference } });
      expect((await send()).headers.get("x-error-code")).toBe("insufficient_balance");

      const cancelled = await cancel(key, reference, type);
      expect(cancelled.status).toBe(200);
      const transaction = viewOf(cancelled);
      expect(transaction).toMatchObject({
        status: "failed",
        error_code: "order_cancelled",
        amount: 0,
        type,
        caller_reference: reference,
      });
      expect(cancelled.headers.get("x-transaction-reference")).toBe(transaction.reference);
      expect(cancelled.headers.get("idempotent-replayed")).toBeNull();

      await fundWallet(service.ledger, { accountId, fundingId: randomUUID(), amountKobo: koboFromNaira(naira) });
      const before = service.simulator.state.requests.length;
      const copy = await send();
      expect(copy.status).toBe(422);
      expect(copy.headers.get("x-error-code")).toBe("order_cancelled");
      expect(copy.headers.get("x-transaction-reference")).toBe(transaction.reference);
      expect(copy.headers.get("idempotent-replayed")).toBe("true");
      expect(await caller.balance()).toBe(naira);
      expect(service.simulator.state.requests).toHaveLength(before);

      const again = await cancel(key, reference, type);
      expect(again.body).toEqual(cancelled.body);
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      const found = await service.call("GET", `/transactions/${reference}`, { key });
      expect(viewOf(found)).toEqual(transaction);
      const list = await service.call("GET", "/transactions?status=failed", { key });
      expect(transactionPage.parse(list.body.data).transactions).toEqual([transaction]);
      expect(await reconcileWallet(service.ledger, accountId)).toMatchObject({ difference_kobo: 0 });
    },
  );

  test("a placed order is not changed, and the answer has its status", async () => {
    const caller = await service.newCaller({ naira: 10_000 });
    const key = await caller.newKey({ mode: "test" });
    const outcomes = { "08031234567": "success", "08000000001": "failed", "08000000004": "processing" };
    for (const [phoneNumber, status] of Object.entries(outcomes)) {
      const body = { network_id: 1, plan_id: 101, phone_number: phoneNumber, reference: `order-${status}` };
      await service.call("POST", "/vtu/data/purchase", { key, body });
      const before = await service.call("GET", `/transactions/${body.reference}`, { key });
      const answer = await cancel(key, body.reference, "airtime");
      expect(answer.body).toMatchObject({ data: before.body.data, message: "An order already has the reference" });
      expect(viewOf(answer).status).toBe(status);
      expect(answer.headers.get("idempotent-replayed")).toBe("true");
      expect((await service.call("GET", `/transactions/${body.reference}`, { key })).body).toEqual(before.body);
    }
  });

  test("the service's own reference of a placed order is refused, because its order would not be cancelled", async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    const body = { network_id: 1, plan_id: 101, phone_number: "08031234567", reference: "order-1" };
    const placed = await service.call("POST", "/vtu/data/purchase", { key: caller.key, body });
    const own = placed.headers.get("x-transaction-reference") ?? "";
    const refused = await cancel(caller.key, own);
    expect([refused.status, refused.headers.get("x-error-code")]).toEqual([422, "validation_failed"]);
    expect(refused.body.errors).toEqual({ reference: [expect.stringContaining("the service's own")] });
    expect(refused.headers.get("x-transaction-reference")).toBeNull();

    // It says nothing to an account that has it as a reference of its own: a caller can sell this service again.
    const other = await service.newCaller({ naira: 1_000 });
    expect((await cancel(other.key, own)).status).toBe(200);
  });

  test("the service's own reference of a failed order is no reference of the next one, whose lookups would find the first", async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    const test = await caller.newKey({ mode: "test" });
    const body = { network_id: 1, plan_id: 101, phone_number: "08000000001" };
    const failed = await service.call("POST", "/vtu/data/purchase", { key: test, body });
    const own = failed.headers.get("x-transaction-reference") ?? "";
    const order = { ...body, phone_number: "08031234567", reference: own };
    const check = { nin: "00000000000", is_consent: true, reference: own };
    for (const [path, sent] of [
      ["/vtu/data/purchase", order],
      ["/vtu/airtime/purchase", { network: "mtn", amount: 100, phone_number: "08031234567", reference: own }],
      ["/identity/nin/verify", check],
    ] as const) {
      const refused = await service.call("POST", path, { key: test, body: sent });
      expect([refused.status, refused.headers.get("x-error-code")], path).toEqual([422, "validation_failed"]);
      expect(refused.body.errors).toEqual({ reference: [expect.stringContaining("the service's own")] });
      expect(refused.headers.get("x-transaction-reference")).toBeNull();
    }
    // It is no reference of this mode, nor of another account, which can sell the service again.
    expect((await service.call("POST", "/vtu/data/purchase", { key: caller.key, body: order })).status).toBe(200);
    const other = await service.newCaller({ naira: 1_000 });
    expect((await service.call("POST", "/vtu/data/purchase", { key: other.key, body: order })).status).toBe(200);
  });

  test.each([
    [["vtu"], 200],
    [["identity"], 200],
    [["identity:retrieve"], 200],
    [[], 403],
  ] as const)("a key with the permissions %j gets %i", async (permissions, status) => {
    const key = await (await service.newCaller()).newKey({ permissions });
    expect((await cancel(key, "order-1")).status).toBe(status);
  });
});

describe("the write", () => {
  let ledger: FaultyLedger;
  beforeAll(async () => {
    ledger = await openFaultyLedger();
  });
  beforeEach(() => ledger.reset());
  afterAll(() => ledger.proxy.stop());

  const cancel = (accountId: string, purchases: "on" | "off" = "on") =>
    cancelOrder({ ledger, keyedHashes, gate: { purchases: async () => purchases } })({
      input: { reference: "order-1", type: transactionType.def.entries.data },
      caller: { accountId, keyId: "key_1", mode: "live", entitlements: ALL_ENTITLEMENTS },
      deadline: deadlineIn(20_000),
    });
  const statusOf = async (answer: ReturnType<typeof cancel>) => (await answer).data.transaction.status;
  const aDebit = async (accountId: string) => {
    const id = (await keyedHashes()).transactionId({ accountId, mode: "live", callerReference: "order-1" });
    return ledger.aTransaction(accountId, { pk: transactionPk(id), caller_reference: "order-1" });
  };

  test("a debit that lands after the cancellation takes nothing, however late it is", async () => {
    const accountId = await ledger.aWallet(500);
    const transaction = await aDebit(accountId);
    // The service itself voids a debit without an answer: that comes later.
    ledger.proxy.fault = ({ operation, body }) => {
      if (operation === "TransactWriteItems") return "lands_late";
      return body.includes('"void"') ? "conflict" : undefined;
    };
    const opened = openTransaction(ledger, transaction, [], deadlineIn(20_000));
    expect(await statusOf(cancel(accountId))).toBe("failed");
    ledger.proxy.fault = () => undefined;
    expect(await opened).toMatchObject({ kind: "exists", transaction: { debit: "cancelled" } });
    await ledger.proxy.landLateWrites();
    expect(await readTransaction(ledger, transaction.pk)).toMatchObject({ failure: { code: "order_cancelled" } });
    expect(await ledger.balanceOf(accountId)).toBe(500);
  });

  test("a cancellation whose answer is lost takes effect once, and one that meets a conflict is tried again", async () => {
    for (const fault of ["answer_lost", "conflict", "throttled"] as const) {
      const accountId = await ledger.aWallet(500);
      let faults = 0;
      ledger.proxy.fault = ({ operation }) => {
        if (operation !== "PutItem" || faults > 0) return undefined;
        faults += 1;
        return fault;
      };
      const cancelled = await cancel(accountId);
      expect(cancelled.data.transaction.status, fault).toBe("failed");
      expect(cancelled.headers, fault).not.toHaveProperty("idempotent-replayed");
      expect(faults).toBe(1);
      ledger.proxy.fault = () => undefined;
      expect(await openTransaction(ledger, await aDebit(accountId), [], deadlineIn(20_000))).toMatchObject({
        kind: "exists",
      });
    }
  });

  test("a cancellation without a conclusive answer has an unknown outcome, and so no error code", async () => {
    const accountId = await ledger.aWallet(500);
    ledger.proxy.fault = ({ operation }) => (operation === "PutItem" ? "never_arrives" : undefined);
    await expect(cancel(accountId)).rejects.toMatchObject({ name: "OutcomeUnknown" });
  });

  test("nothing is cancelled while purchases are off, because a ledger that is being restored may lack the order", async () => {
    const accountId = await ledger.aWallet(500);
    await expect(cancel(accountId, "off")).rejects.toMatchObject({
      code: "provider_unavailable",
      details: { retryAfterS: 300 },
    });
    expect(await openTransaction(ledger, await aDebit(accountId), [], deadlineIn(20_000))).toEqual({ kind: "opened" });
  });
});
