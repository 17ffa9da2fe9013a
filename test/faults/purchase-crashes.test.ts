import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { readTransaction, readTransactions } from "../../shared/ledger/find-transactions.ts";
import { ownedKeys } from "../../shared/ledger/query-index.ts";
import { transactionOwner } from "../../shared/ledger/schema.ts";
import { pkOfReference, referenceOf } from "../../shared/ledger/transaction.ts";
import type { Fault } from "../builders/dynamodb-proxy.ts";
import { seeded } from "../builders/seeded.ts";
import {
  type Answer,
  anOrder,
  BUY_DATA,
  startTestService,
  type TestCaller,
  type TestService,
} from "../builders/service.ts";
import { strictNames, strictSettings } from "../strict/settings.ts";

/**
 * Goal: whatever the table does to a write, no money is lost or taken twice, and no error speaks of a purchase that was charged.
 * Method: a proxy on the wire between the real SDK and the emulator raises conflicts, loses answers and delays writes; or it does
 * all that AWS documents, as test/strict has it.
 */
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterEach(() => {
  service.proxy.fault = () => undefined;
});
afterAll(() => service.stop());

const isLedgerWrite = ({ operation, body }: { operation: string; body: string }): boolean =>
  operation === "TransactWriteItems" || (operation === "UpdateItem" && body.includes("transaction#"));
const isDebit = (call: { operation: string; body: string }): boolean =>
  call.operation === "TransactWriteItems" && call.body.includes("attribute_not_exists");
const isRefund = (call: { operation: string; body: string }): boolean =>
  call.operation === "TransactWriteItems" && !call.body.includes("attribute_not_exists");

/** The first `count` matching calls meet the fault. */
const firstOnly = (count: number, matches: (call: { operation: string; body: string }) => boolean, fault: Fault) => {
  let left = count;
  service.proxy.fault = (call) => {
    if (left === 0 || !matches(call)) return undefined;
    left -= 1;
    return fault;
  };
};

const buy = (caller: TestCaller, changes: Readonly<Record<string, unknown>> = {}): Promise<Answer> =>
  service.call("POST", BUY_DATA, { key: caller.key, body: anOrder(changes) });

const rowOf = async (answer: Answer) => {
  const pk = pkOfReference(answer.headers.get("x-transaction-reference") ?? "");
  return pk === undefined ? undefined : readTransaction(service.ledger, pk);
};

const eventually = async (check: () => Promise<void>, patienceMs: number): Promise<void> => {
  const end = Date.now() + patienceMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((wake) => setTimeout(wake, 250));
    }
  }
};

describe("100 simultaneous purchases on one wallet", () => {
  test("with 30 % conflicts and 10 % lost answers: exact, none double, none lost, no error about what was charged", async () => {
    const caller = await service.newCaller({ naira: 60_000 });
    const keys = [caller.key, await caller.newKey()];
    const random = seeded(20_261_121);
    service.proxy.fault = (call) => {
      if (!isLedgerWrite(call)) return undefined;
      const draw = random();
      if (draw < 0.3) return "conflict";
      return draw < 0.4 ? "answer_lost" : undefined;
    };
    const ordersBefore = service.simulator.state.purchases.length;
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        service.call("POST", BUY_DATA, {
          key: keys[index % 2] ?? caller.key,
          body: anOrder({ reference: `storm-${index}` }),
        }),
      ),
    );
    service.proxy.fault = () => undefined;

    const rows = await Promise.all(answers.map(rowOf));
    const charged = rows.filter((transaction) => transaction !== undefined && transaction.status !== "failed").length;
    expect(await caller.balance()).toBe(60_000 - charged * 500);
    expect(service.simulator.state.purchases.length - ordersBefore).toBe(charged);
    answers.forEach((answer, index) => {
      const uncharged = rows[index] === undefined || rows[index].status === "failed";
      expect(answer.headers.has("x-error-code"), `purchase ${index}`).toBe(uncharged);
    });
    expect(charged).toBeGreaterThan(90);
  });
});

describe("40 simultaneous purchases on one wallet", () => {
  const COUNT = 40;
  const FUNDED_NAIRA = 30_000;
  const seed = Date.now() % 1_000_000_000;

  test.each(strictNames)(
    `are exact, and an error is only about what was not charged (AWS: %s, seed ${seed})`,
    { timeout: 60_000 },
    async (name) => {
      const caller = await service.newCaller({ naira: FUNDED_NAIRA });
      const keys = [caller.key, await caller.newKey()];
      const settings = strictSettings[name];
      const strict = settings && service.proxy.beStrict(settings, seed);
      const send = async (index: number) => {
        const response = await fetch(`${service.baseUrl}${BUY_DATA}`, {
          method: "POST",
          headers: { authorization: `Bearer ${keys[index % 2]}`, "content-type": "application/json" },
          body: JSON.stringify(anOrder({ reference: `strict-${index}` })),
        });
        const { headers } = response;
        return {
          status: response.status,
          code: headers.get("x-error-code"),
          replayed: headers.get("idempotent-replayed"),
        };
      };
      const answers = await Promise.all(Array.from({ length: COUNT }, (_, index) => send(index)));
      service.proxy.strict = undefined;
      expect(strict?.notSimulated ?? []).toEqual([]);

      const rows = new Map((await rowsOf(caller)).map((transaction) => [transaction.caller_reference, transaction]));
      const kept = [...rows.values()].filter(({ status }) => status !== "failed");
      expect(await caller.balance()).toBe(FUNDED_NAIRA - kept.length * 500);
      for (const [index, { status, code }] of answers.entries()) {
        const row = rows.get(`strict-${index}`);
        const isUncharged = row === undefined || row.status === "failed";
        if (code !== null) expect(isUncharged, `purchase ${index}: ${status} ${code}`).toBe(true);
        if (status === 200) expect(isUncharged, `purchase ${index}: 200`).toBe(false);
        const orders = service.simulator.state.requests.filter(
          ({ reference }) => row !== undefined && reference === referenceOf(row),
        );
        expect(orders.length, `orders of purchase ${index}`).toBeLessThanOrEqual(1);
        if (row?.status === "success") expect(orders).toHaveLength(1);
      }

      for (const [index, { status }] of answers.entries()) {
        if (status === 200) expect(await send(index)).toEqual({ status: 200, code: null, replayed: "true" });
      }
      expect(await caller.balance()).toBe(FUNDED_NAIRA - kept.length * 500);
    },
  );

  const rowsOf = async ({ accountId }: TestCaller) => {
    const range = { from: "0000", to: "9999" };
    return readTransactions(
      service.ledger,
      await ownedKeys(service.ledger, transactionOwner(accountId, "live"), range),
    );
  };
});

describe("the debit", () => {
  test("whose answer is lost, even three times, goes on with the one purchase that was made", async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    const orders = service.simulator.state.purchases.length;
    firstOnly(3, isDebit, "answer_lost");
    const answer = await buy(caller);
    expect(answer.body.data).toMatchObject({ transaction: { status: "success" } });
    expect(await caller.balance()).toBe(500);
    expect(service.simulator.state.purchases.length).toBe(orders + 1);
  });

  test("that takes the last of the balance and loses its answer is not mistaken for a poor wallet", async () => {
    const caller = await service.newCaller({ naira: 500 });
    firstOnly(1, isDebit, "answer_lost");
    const answer = await buy(caller);
    expect(answer.status).toBe(200);
    expect(await caller.balance()).toBe(0);
  });

  const isDebitOrLook = (call: { operation: string; body: string }): boolean =>
    isDebit(call) || call.operation === "GetItem";

  test("that never arrives and cannot be looked up: 502, nothing sent, nothing charged", async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    const orders = service.simulator.state.purchases.length;
    service.proxy.fault = (call) => (isDebitOrLook(call) ? "never_arrives" : undefined);
    const answer = await buy(caller);
    service.proxy.fault = () => undefined;
    expect(answer.status).toBe(502);
    expect(answer.headers.get("x-error-code")).toBe("delivery_failed");
    expect(await caller.balance()).toBe(1_000);
    expect(service.simulator.state.purchases.length).toBe(orders);
  });

  test("that never arrives and cannot be looked up, under a caller's reference: no error of ours, and the reference can be used", async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    const orders = service.simulator.state.purchases.length;
    service.proxy.fault = (call) => (isDebitOrLook(call) ? "never_arrives" : undefined);
    const { status, headers } = await buyRaw(caller, "never");
    service.proxy.fault = () => undefined;
    expect([status, headers.get("x-error-code"), headers.get("x-transaction-reference")]).toEqual([500, null, null]);
    expect(await caller.balance()).toBe(1_000);
    expect(service.simulator.state.purchases.length).toBe(orders);
    expect((await buy(caller, { reference: "never" })).status).toBe(200);
  });

  test("of a repeat that never arrives and cannot be looked up says nothing of the order that was delivered", async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    const first = await buy(caller, { reference: "delivered" });
    service.proxy.fault = (call) => (isDebitOrLook(call) ? "never_arrives" : undefined);
    const { status, headers } = await buyRaw(caller, "delivered");
    service.proxy.fault = () => undefined;
    expect([status, headers.get("x-error-code"), headers.get("x-transaction-reference")]).toEqual([500, null, null]);
    const again = await buy(caller, { reference: "delivered" });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
  });

  /** The platform's own answers are in no envelope. */
  const buyRaw = (caller: TestCaller, reference: string): Promise<Response> =>
    fetch(`${service.baseUrl}${BUY_DATA}`, {
      method: "POST",
      headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
      body: JSON.stringify(anOrder({ reference })),
    });
});

describe("the refund", () => {
  test("whose answer is lost is given once, and the caller learns of the failure", async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    firstOnly(2, isRefund, "answer_lost");
    const answer = await buy(caller, { phone_number: "08000000005" });
    expect(answer.status).toBe(502);
    expect(answer.headers.get("x-error-code")).toBe("delivery_failed");
    expect(await caller.balance()).toBe(1_000);
  });

  test("that conflicts for 3 s is given all the same", async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    const end = Date.now() + 3_000;
    service.proxy.fault = (call) => (isRefund(call) && Date.now() < end ? "conflict" : undefined);
    const answer = await buy(caller, { phone_number: "08000000005" });
    expect(answer.status).toBe(502);
    expect(await caller.balance()).toBe(1_000);
  });
});

describe("the write of the outcome", () => {
  test("whose answer is lost is recognised as our own", async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    firstOnly(2, (call) => call.operation === "UpdateItem" && call.body.includes("transaction#"), "answer_lost");
    const answer = await buy(caller);
    expect(answer.body.data).toMatchObject({ transaction: { status: "success" } });
    expect(await rowOf(answer)).toMatchObject({ status: "success" });
  });

  test("that cannot be made before the deadline: 200 processing, and the outcomes queue makes it", {
    timeout: 60_000,
  }, async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    let blocked = true;
    service.proxy.fault = (call) =>
      blocked && call.operation === "UpdateItem" && call.body.includes("transaction#") ? "throttled" : undefined;
    const answer = await buy(caller);
    expect(answer.body.data).toMatchObject({ transaction: { status: "processing" } });
    blocked = false;
    await eventually(async () => expect(await rowOf(answer)).toMatchObject({ status: "success" }), 20_000);
    expect(await caller.balance()).toBe(500);
  });
});

describe("an upstream that does not answer", () => {
  test("before the deadline of 20 s: 200 processing, one order, and the debit stands", {
    timeout: 60_000,
  }, async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    const orders = service.simulator.state.purchases.length;
    const begun = Date.now();
    const answer = await buy(caller, { phone_number: "08000000007" });
    expect(Date.now() - begun).toBeLessThan(23_000);
    expect(answer.body.data).toMatchObject({ transaction: { status: "processing" } });
    expect(await caller.balance()).toBe(500);
    expect(service.simulator.state.purchases.length).toBe(orders + 1);
  });
});
