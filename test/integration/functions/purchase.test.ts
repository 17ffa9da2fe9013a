import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalogSchema } from "../../../shared/contract/catalog.ts";
import { ServiceError } from "../../../shared/contract/errors.ts";
import { placeOrder } from "../../../shared/orders/place-order.ts";
import { deadlineIn } from "../../../shared/platform/deadline.ts";
import { loadKeyedHashes } from "../../../shared/platform/keyed-hashes.ts";
import { koboFromNaira } from "../../../shared/platform/money.ts";
import {
  anOrder,
  BUY_DATA,
  ORDER_NAIRA,
  startTestService,
  type TestService,
  transactionOf,
} from "../../builders/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const ordersOf = (reference: string) =>
  service.simulator.state.purchases.filter((order) => order.reference === reference);

describe("a live purchase", () => {
  test("answers success, takes exactly the plan's price and sends one order with the live key", async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    const before = service.simulator.state.purchases.length;

    const answer = await service.call("POST", BUY_DATA, { key: caller.key, body: anOrder() });

    expect(answer.status).toBe(200);
    const transaction = transactionOf(answer);
    expect(transaction).toEqual({
      reference: expect.stringMatching(/^DATA_[0-9A-Z]{26}$/),
      status: "success",
      amount: ORDER_NAIRA,
      description: "MTN 1GB data for 08031234567",
    });
    expect(answer.headers.get("x-transaction-reference")).toBe(transaction.reference);
    expect(await caller.balance()).toBe(500);
    expect(service.simulator.state.purchases.length).toBe(before + 1);
    expect(ordersOf(transaction.reference)).toMatchObject([{ mode: "live", status: "success" }]);
  });

  test("of a plan at 485.50 NGN leaves the balance exact to the kobo", async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    const catalog = await service.call("GET", "/vtu/data", { key: caller.key });
    const plan = plansOf(catalog.body.data).find(({ price }) => price === 485.5);
    const answer = await service.call("POST", BUY_DATA, {
      key: caller.key,
      body: anOrder({ network_id: plan?.network_id, plan_id: plan?.id }),
    });
    expect(transactionOf(answer).amount).toBe(485.5);
    expect(await caller.balance()).toBe(514.5);
  });
});

describe("a test purchase", () => {
  test("has a TEST_ reference, debits nothing and reaches no upstream", async () => {
    const caller = await service.newCaller({ naira: 0 });
    const before = service.simulator.state.requests.length;
    const answer = await service.call("POST", BUY_DATA, {
      key: await caller.newKey({ mode: "test" }),
      body: anOrder(),
    });
    expect(transactionOf(answer)).toMatchObject({ reference: expect.stringMatching(/^TEST_/), status: "success" });
    expect(await caller.balance()).toBe(0);
    expect(service.simulator.state.requests.length).toBe(before);
  });
});

describe("the same reference again", () => {
  test("gets the same answer marked as replayed, without a second debit or order", async () => {
    const caller = await service.newCaller({ naira: 2_000 });
    const body = anOrder({ reference: "again-1" });
    const first = await service.call("POST", BUY_DATA, { key: caller.key, body });
    const second = await service.call("POST", BUY_DATA, { key: caller.key, body });
    expect(second.body).toEqual(first.body);
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(await caller.balance()).toBe(1_500);
    expect(ordersOf(transactionOf(first).reference)).toHaveLength(1);
  });

  test("sent as Idempotency-Key is the same reference", async () => {
    const caller = await service.newCaller();
    const first = await service.call("POST", BUY_DATA, { key: caller.key, body: anOrder({ reference: "again-2" }) });
    const second = await service.call("POST", BUY_DATA, {
      key: caller.key,
      body: anOrder(),
      headers: { "Idempotency-Key": "again-2" },
    });
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
  });

  test("50 at once: one debit and one order, and every answer names the one transaction", async () => {
    const caller = await service.newCaller({ naira: 5_000 });
    const body = anOrder({ reference: "fifty" });
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => service.call("POST", BUY_DATA, { key: caller.key, body })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    const references = new Set(answers.map((answer) => transactionOf(answer).reference));
    expect(references.size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get("idempotent-replayed") === null)).toHaveLength(1);
    expect(await caller.balance()).toBe(4_500);
    expect([...references].flatMap(ordersOf)).toHaveLength(1);
  });

  test("with another body is 422 on reference and changes nothing", async () => {
    const caller = await service.newCaller({ naira: 2_000 });
    await service.call("POST", BUY_DATA, { key: caller.key, body: anOrder({ reference: "changed" }) });
    const answer = await service.call("POST", BUY_DATA, {
      key: caller.key,
      body: anOrder({ reference: "changed", phone_number: "08039999999" }),
    });
    expect(answer.status).toBe(422);
    expect(answer.headers.get("x-error-code")).toBe("reference_reused");
    expect(answer.body.errors).toHaveProperty("reference");
    expect(await caller.balance()).toBe(1_500);
  });

  test("is another reference for another account, and for the same account's test key", async () => {
    const [one, two] = [await service.newCaller(), await service.newCaller()];
    const keys = [one.key, two.key, await one.newKey({ mode: "test" })];
    const references = new Set<string>();
    for (const key of keys) {
      const answer = await service.call("POST", BUY_DATA, { key, body: anOrder({ reference: "mine" }) });
      expect(answer.headers.get("idempotent-replayed")).toBeNull();
      references.add(transactionOf(answer).reference);
    }
    expect(references.size).toBe(3);
  });

  test("with a plan that does not exist is 422 on the plan, which is looked at before the reference", async () => {
    const caller = await service.newCaller({ naira: 2_000 });
    await service.call("POST", BUY_DATA, { key: caller.key, body: anOrder({ reference: "gone" }) });
    const answer = await service.call("POST", BUY_DATA, {
      key: caller.key,
      body: anOrder({ plan_id: 999_999, reference: "gone" }),
    });
    expect(answer.headers.get("x-error-code")).toBe("plan_unavailable");
    expect(await caller.balance()).toBe(1_500);
  });

  test("gets its transaction although the order could not be had any more", async () => {
    const caller = await service.newCaller({ naira: 2_000 });
    const wish = {
      caller: { accountId: caller.accountId, keyId: "key_1", mode: "live" },
      type: "data",
      reference: "vanished",
      fields: ["1", "101"],
      quote: async () => ({ amountKobo: koboFromNaira(500), description: "A bundle" }),
      fulfil: async () => ({ settlement: { status: "success" as const } }),
    } as const;
    const key = { value: async () => "k".repeat(43), refetch: async () => "k".repeat(43) };
    const deps = {
      ledger: service.ledger,
      keyedHashes: loadKeyedHashes(key),
      outcomeQueue: { send: () => Promise.reject(new Error("Nothing may be queued")) },
      purchases: "on",
    } as const;
    const first = await placeOrder(deps, wish, deadlineIn(29_000));
    const gone = { ...wish, quote: () => Promise.reject(new ServiceError("plan_unavailable")) };
    expect(await placeOrder(deps, gone, deadlineIn(29_000))).toMatchObject({
      row: { pk: first.transaction.pk },
      replayed: true,
    });
    const another = { ...gone, fields: ["1", "102"] };
    await expect(placeOrder(deps, another, deadlineIn(29_000))).rejects.toMatchObject({ code: "plan_unavailable" });
    expect(await caller.balance()).toBe(1_500);
  });
});

describe("the balance", () => {
  test("for one of two simultaneous purchases: one success, one insufficient_balance, exactly zero left", async () => {
    const caller = await service.newCaller({ naira: ORDER_NAIRA });
    const answers = await Promise.all([
      service.call("POST", BUY_DATA, { key: caller.key, body: anOrder() }),
      service.call("POST", BUY_DATA, { key: caller.key, body: anOrder() }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    const poor = answers.find(({ status }) => status === 400);
    expect(poor?.headers.get("x-error-code")).toBe("insufficient_balance");
    expect(poor?.headers.get("x-transaction-reference")).toBeNull();
    expect(poor?.body.errors).toBeUndefined();
    expect(await caller.balance()).toBe(0);
  });

  test("one kobo short is insufficient_balance and stays", async () => {
    const caller = await service.newCaller({ naira: 499.99 });
    const answer = await service.call("POST", BUY_DATA, { key: caller.key, body: anOrder() });
    expect(answer.status).toBe(400);
    expect(await caller.balance()).toBe(499.99);
  });

  test("is exact after 100 simultaneous purchases of 500 NGN from 60,000 NGN", async () => {
    const caller = await service.newCaller({ naira: 60_000 });
    const keys = [caller.key, await caller.newKey()];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        service.call("POST", BUY_DATA, { key: keys[index % 2] ?? caller.key, body: anOrder() }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(200));
    expect(await caller.balance()).toBe(10_000);
  });
});

describe("what cannot be bought", () => {
  const cases: readonly (readonly [string, unknown, number, string, string | undefined])[] = [
    ["plan_id as text", anOrder({ plan_id: "101" }), 422, "validation_failed", "plan_id"],
    ["a plan of another network", anOrder({ plan_id: 201 }), 422, "plan_unavailable", "plan_id"],
    ["an unknown plan", anOrder({ plan_id: 9_999 }), 422, "plan_unavailable", "plan_id"],
    ["an unknown network", anOrder({ network_id: 99 }), 422, "validation_failed", "network_id"],
    ["a fraction as plan_id", anOrder({ plan_id: 101.5 }), 422, "validation_failed", "plan_id"],
    ["phone_number as number", anOrder({ phone_number: 8_031_234_567 }), 422, "validation_failed", "phone_number"],
    ["phone_number with +234", anOrder({ phone_number: "+2348031234567" }), 422, "validation_failed", "phone_number"],
    ["phone_number with spaces", anOrder({ phone_number: "0803 123 4567" }), 422, "validation_failed", "phone_number"],
    [
      "phone_number in Arabic digits",
      anOrder({ phone_number: "٠٨٠٣١٢٣٤٥٦٧" }),
      422,
      "validation_failed",
      "phone_number",
    ],
    ["phone_number of 10 digits", anOrder({ phone_number: "0803123456" }), 422, "validation_failed", "phone_number"],
    ["phone_number of 12 digits", anOrder({ phone_number: "080312345678" }), 422, "validation_failed", "phone_number"],
    [
      "phone_number with a trailing newline",
      anOrder({ phone_number: "08031234567\n" }),
      422,
      "validation_failed",
      "phone_number",
    ],
    ["phone_number null", anOrder({ phone_number: null }), 422, "validation_failed", "phone_number"],
    ["a reference with a space", anOrder({ reference: "a b" }), 422, "validation_failed", "reference"],
    ["a reference of 101 characters", anOrder({ reference: "a".repeat(101) }), 422, "validation_failed", "reference"],
    ["an empty reference", anOrder({ reference: "" }), 422, "validation_failed", "reference"],
    ["no phone_number", anOrder({ phone_number: undefined }), 400, "missing_parameter", "phone_number"],
    ["an empty object", {}, 400, "missing_parameter", "plan_id"],
    ["a list", [], 400, "invalid_json", undefined],
  ];
  test.each(cases)(
    "%s: the documented code and field, and nothing is charged",
    async (_name, body, status, code, field) => {
      const caller = await service.newCaller({ naira: 1_000 });
      const orders = service.simulator.state.requests.length;
      const answer = await service.call("POST", BUY_DATA, { key: caller.key, body });
      expect(answer.status).toBe(status);
      expect(answer.headers.get("x-error-code")).toBe(code);
      expect(Object.keys(answer.body.errors ?? {}).includes(field ?? "")).toBe(field !== undefined);
      // Nothing was opened either: a debit that was given back would have a name.
      expect(answer.headers.get("x-transaction-reference")).toBeNull();
      expect(await caller.balance()).toBe(1_000);
      expect(service.simulator.state.requests.length).toBe(orders);
    },
  );

  const rawCases: readonly (readonly [string, string])[] = [
    ["half a JSON text", "{"],
    ["an empty body", ""],
    ["a body of 17 KB", JSON.stringify({ ...anOrder(), note: "x".repeat(17 * 1_024) })],
    ["a field __proto__", `{"__proto__": {"plan_id": 1}, ${JSON.stringify(anOrder()).slice(1)}`],
    [
      "a body nested 2,000 deep",
      `{"note": ${"[".repeat(2_000)}${"]".repeat(2_000)}, ${JSON.stringify(anOrder()).slice(1)}`,
    ],
    ["bytes that are no UTF-8 JSON", "\u0000"],
  ];
  test.each(rawCases)("%s: 400 invalid_json, and nothing is charged", async (_name, raw) => {
    const caller = await service.newCaller({ naira: 1_000 });
    const answer = await service.call("POST", BUY_DATA, { key: caller.key, raw });
    expect(answer.status).toBe(400);
    expect(answer.headers.get("x-error-code")).toBe("invalid_json");
    expect(await caller.balance()).toBe(1_000);
  });

  test("a reference and another Idempotency-Key: 422 on reference, and nothing is charged", async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    const answer = await service.call("POST", BUY_DATA, {
      key: caller.key,
      body: anOrder({ reference: "one" }),
      headers: { "Idempotency-Key": "two" },
    });
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toHaveProperty("reference");
    expect(await caller.balance()).toBe(1_000);
  });
});

const plansOf = (data: Record<string, unknown> | undefined) => {
  const { data_plans } = catalogSchema.parse(data);
  return data_plans;
};
