import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { errorsOf } from "../../../../shared/contract/route.ts";
import { routes } from "../../../../shared/contract/routes.ts";
import type { Fault } from "../../../../tools/simulator/faults.ts";
import { startTestService, type TestService, transactionOf } from "../../../builders/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterEach(() => service.simulator.state.faults.clear());
afterAll(() => service.stop());

const BUY_AIRTIME = "/vtu/airtime/purchase";
const anAirtimeOrder = (changes: Readonly<Record<string, unknown>> = {}) => ({
  network: "mtn",
  phone_number: "08031234567",
  amount: 100,
  ...changes,
});
const requestCount = (): number => service.simulator.state.requests.length;

describe("a live airtime purchase", () => {
  test("a live airtime purchase answers success, costs exactly its amount and sends one order", async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    const before = requestCount();
    const answer = await service.call("POST", BUY_AIRTIME, { key: caller.key, body: anAirtimeOrder() });
    expect(answer.status).toBe(200);
    const transaction = transactionOf(answer);
    expect(transaction).toEqual({
      reference: expect.stringMatching(/^AIRTIME_[0-9A-Z]{26}$/),
      status: "success",
      amount: 100,
      description: "MTN airtime for 08031234567",
      type: "airtime",
      caller_reference: null,
      phone_number: "08031234567",
    });
    expect(answer.headers.get("x-transaction-reference")).toBe(transaction.reference);
    expect(await caller.balance()).toBe(900);
    expect(requestCount()).toBe(before + 1);
    expect(service.simulator.state.requests.at(-1)?.body).toEqual({
      network: "mtn",
      amount: 100,
      phone_number: "08031234567",
      reference: transaction.reference,
    });
  });

  test("a live airtime purchase is read back with its network, number and type", async () => {
    const { key } = await service.newCaller();
    await service.call("POST", BUY_AIRTIME, { key, body: anAirtimeOrder({ reference: "shown" }) });
    const found = await service.call("GET", "/transactions/shown", { key });
    expect(found.body.data).toMatchObject({
      transaction: { type: "airtime", network: "MTN", phone_number: "08031234567", caller_reference: "shown" },
    });
  });

  // Amounts whose product with 100 is no whole number in floating point are among them.
  test.each([50, 50.01, 64.1, 100.55, 128.56, 1_138.29, 4_035.3, 49_999.99, 50_000])(
    "a live airtime purchase of %d NGN leaves the balance exact to the kobo, and the upstream gets the amount unchanged",
    async (amount) => {
      const caller = await service.newCaller({ naira: 60_000.07 });
      const answer = await service.call("POST", BUY_AIRTIME, { key: caller.key, body: anAirtimeOrder({ amount }) });
      expect(transactionOf(answer).amount).toBe(amount);
      const leftKobo = 6_000_007 - Number((amount * 100).toFixed(0));
      expect(await caller.balance()).toBe(leftKobo / 100);
      expect(service.simulator.state.requests.at(-1)?.body).toMatchObject({ amount });
    },
  );

  test.each([
    [54.019999999999996, 54.02],
    [100.1 + 200.2, 300.3],
    [49.99999999999999, 50],
  ])(
    "a live airtime purchase of %d NGN, a sum with floating-point noise, is one of %d NGN, and so is its replay",
    async (amount, naira) => {
      const caller = await service.newCaller({ naira: 1_000 });
      const body = anAirtimeOrder({ amount, reference: "computed" });
      const first = await service.call("POST", BUY_AIRTIME, { key: caller.key, body });
      expect(transactionOf(first).amount).toBe(naira);
      expect(service.simulator.state.requests.at(-1)?.body).toMatchObject({ amount: naira });
      const replay = await service.call("POST", BUY_AIRTIME, {
        key: caller.key,
        body: anAirtimeOrder({ amount: naira, reference: "computed" }),
      });
      expect(replay.body).toEqual(first.body);
      expect(await caller.balance()).toBe(Math.round((1_000 - naira) * 100) / 100);
    },
  );
});

describe("the network of an airtime purchase", () => {
  const spellings: readonly (readonly [string, string])[] = [
    ["mtn", "mtn"],
    ["MTN", "mtn"],
    ["  Mtn ", "mtn"],
    ["Airtel", "airtel"],
    ["GLO", "glo"],
    ["globacom", "glo"],
    ["Globacom ", "glo"],
    ["9mobile", "9mobile"],
    ["9MOBILE", "9mobile"],
    ["etisalat", "9mobile"],
    ["ETISALAT", "9mobile"],
    ["t2", "9mobile"],
    [" T2", "9mobile"],
  ];
  test.each(spellings)("the network %j is sent upstream as %s", async (network, code) => {
    const { key } = await service.newCaller();
    const answer = await service.call("POST", BUY_AIRTIME, { key, body: anAirtimeOrder({ network }) });
    expect(answer.status).toBe(200);
    expect(service.simulator.state.requests.at(-1)?.body).toMatchObject({ network: code });
  });

  test("the network does not follow from the number's prefix, because numbers are ported", async () => {
    const { key } = await service.newCaller();
    const body = anAirtimeOrder({ network: "glo", phone_number: "08031234567" });
    const answer = await service.call("POST", BUY_AIRTIME, { key, body });
    expect(transactionOf(answer).description).toBe("Glo airtime for 08031234567");
  });

  test.each([[""], ["   "], ["mtnn"], ["airte"], ["234"], ["m t n"], ["mtn,airtel"], ["__proto__"], ["constructor"]])(
    "the network %j is answered 422 with the list of networks",
    async (network) => {
      const caller = await service.newCaller({ naira: 1_000 });
      const before = requestCount();
      const answer = await service.call("POST", BUY_AIRTIME, { key: caller.key, body: anAirtimeOrder({ network }) });
      expect(answer.status).toBe(422);
      expect(answer.headers.get("x-error-code")).toBe("validation_failed");
      expect(Object.keys(answer.body.errors ?? {})).toEqual(["network"]);
      for (const code of ["mtn", "airtel", "glo", "9mobile"]) {
        expect(answer.body.errors?.network?.join()).toMatch(new RegExp(`\\b${code}\\b`));
      }
      expect(await caller.balance()).toBe(1_000);
      expect(requestCount()).toBe(before);
    },
  );
});

test.each([50_000.01, 1e9])(
  "an airtime purchase of %d NGN is above the largest amount: it is refused about it, and nothing is charged or sent",
  async (amount) => {
    const caller = await service.newCaller({ naira: 100_000 });
    const before = requestCount();
    const answer = await service.call("POST", BUY_AIRTIME, { key: caller.key, body: anAirtimeOrder({ amount }) });
    expect([answer.status, answer.headers.get("x-error-code")]).toEqual([422, "validation_failed"]);
    expect(Object.keys(answer.body.errors ?? {})).toEqual(["amount"]);
    expect(answer.headers.get("x-transaction-reference")).toBeNull();
    expect(await caller.balance()).toBe(100_000);
    expect(requestCount()).toBe(before);
  },
);

describe("an airtime purchase with a used reference", () => {
  test("an airtime purchase with a used reference is a replay however network and amount are written", async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    const raw = (network: string, amount: string) =>
      `{"network":"${network}","amount":${amount},"phone_number":"08031234567","reference":"same"}`;
    const first = await service.call("POST", BUY_AIRTIME, { key: caller.key, raw: raw("9mobile", "100") });
    const before = requestCount();
    for (const [network, amount] of [
      ["9MOBILE", "100.00"],
      ["etisalat", "1e2"],
      [" T2 ", "100"],
    ] as const) {
      const replay = await service.call("POST", BUY_AIRTIME, { key: caller.key, raw: raw(network, amount) });
      expect(replay.status).toBe(200);
      expect(replay.body).toEqual(first.body);
      expect(replay.headers.get("idempotent-replayed")).toBe("true");
    }
    expect(requestCount()).toBe(before);
    expect(await caller.balance()).toBe(900);
  });

  test.each([
    ["amount", { amount: 100.01 }],
    ["network", { network: "airtel" }],
    ["number", { phone_number: "08031234568" }],
  ])(
    "an airtime purchase with a used reference and another %s is answered 422 about the reference, and changes nothing",
    async (_name, changes) => {
      const caller = await service.newCaller({ naira: 1_000 });
      const body = anAirtimeOrder({ reference: "other" });
      await service.call("POST", BUY_AIRTIME, { key: caller.key, body });
      const before = requestCount();
      const answer = await service.call("POST", BUY_AIRTIME, { key: caller.key, body: { ...body, ...changes } });
      expect(answer.status).toBe(422);
      expect(answer.headers.get("x-error-code")).toBe("reference_reused");
      expect(requestCount()).toBe(before);
      expect(await caller.balance()).toBe(900);
    },
  );
});

describe("an airtime purchase whose upstream refuses", () => {
  const blaming = (field: string): Fault => ({
    kind: "status",
    path: BUY_AIRTIME,
    status: 422,
    body: { status: false, message: "Their words", errors: { [field]: ["Their words"] } },
  });
  const buyUnder = async (fault: Fault) => {
    const caller = await service.newCaller({ naira: 1_000 });
    service.simulator.state.faults.add(fault);
    const answer = await service.call("POST", BUY_AIRTIME, { key: caller.key, body: anAirtimeOrder() });
    expect(await caller.balance()).toBe(1_000);
    expect(JSON.stringify(answer.body)).not.toContain("Their words");
    return answer;
  };

  test.each(["network", "amount", "phone_number"])(
    "an airtime purchase whose %s the upstream refuses is refunded and answered 422 about it",
    async (field) => {
      const answer = await buyUnder(blaming(field));
      expect(answer.status).toBe(422);
      expect(answer.headers.get("x-error-code")).toBe("validation_failed");
      expect(Object.keys(answer.body.errors ?? {})).toEqual([field]);
    },
  );

  test.each(["plan_id", "network_id", "nin", "channel"])(
    "an airtime purchase refused on %s, which it does not have, is refunded and answered without that field",
    async (field) => {
      const answer = await buyUnder(blaming(field));
      expect(answer.body.errors ?? {}).not.toHaveProperty(field);
      expect(errorsOf(routes.buyAirtime)).toContain(answer.headers.get("x-error-code"));
      expect(answer.headers.get("x-error-code")).toBe("delivery_failed");
    },
  );
});
