import { afterEach, describe, expect, test } from "vitest";
import type { Caller } from "../../../../shared/call/call.ts";
import { errors } from "../../../../shared/contract/errors.ts";
import { ALL_ENTITLEMENTS } from "../../../../shared/contract/permission.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { aSellingService } from "../../../builders/service/selling-service.ts";
import { serviceForTests, transactionOf } from "../../../builders/service/service.ts";

const service = await serviceForTests();
afterEach(() => service.simulator.state.faults.clear());

const BUY_AIRTIME = "/vtu/airtime/purchase";
const anAirtimeOrder = (changes: Readonly<Record<string, unknown>> = {}) => ({
  network: "mtn",
  phone_number: "08031234567",
  amount: 100,
  ...changes,
});
const requestCount = (): number => service.simulator.state.requests.length;
/** What the upstream got last. */
const sent = (): unknown => service.simulator.state.requests.at(-1)?.body;

/** Sends orders of one caller, which has this much. */
const aBuyer = async (naira: number) => {
  const caller = await service.newCaller({ naira });
  return {
    ...caller,
    buy: (changes: Readonly<Record<string, unknown>> = {}) =>
      service.call("POST", BUY_AIRTIME, { key: caller.key, body: anAirtimeOrder(changes) }),
  };
};

describe("a live airtime purchase", () => {
  test("answers success, costs exactly its amount, sends one order, and is read back with its network", async () => {
    const { key, balance, buy } = await aBuyer(1_000);
    const before = requestCount();
    const answer = await buy({ reference: "shown" });
    expect(answer.status).toBe(200);
    const transaction = transactionOf(answer);
    expect(transaction).toEqual({
      reference: expect.stringMatching(/^AIRTIME_[0-9A-Z]{26}$/),
      status: "success",
      amount: 100,
      description: "MTN airtime for 08031234567",
      type: "airtime",
      caller_reference: "shown",
      phone_number: "08031234567",
    });
    expect(answer.headers.get("x-transaction-reference")).toBe(transaction.reference);
    expect(await balance()).toBe(900);
    expect(requestCount()).toBe(before + 1);
    expect(sent()).toEqual({
      network: "mtn",
      amount: 100,
      phone_number: "08031234567",
      reference: transaction.reference,
    });
    const found = await service.call("GET", "/transactions/shown", { key });
    expect(found.body.data).toMatchObject({
      transaction: { type: "airtime", network: "MTN", phone_number: "08031234567", caller_reference: "shown" },
    });
  });

  test("leaves the balance exact to the kobo, and the upstream gets the amount unchanged", async () => {
    let leftKobo = 200_000_07;
    const { balance, buy } = await aBuyer(leftKobo / 100);
    // Amounts whose product with 100 is no whole number in floating point are among them.
    for (const amount of [50, 50.01, 64.1, 100.55, 128.56, 1_138.29, 4_035.3, 49_999.99, 50_000]) {
      expect(transactionOf(await buy({ amount })).amount).toBe(amount);
      leftKobo -= Number((amount * 100).toFixed(0));
      expect(await balance()).toBe(leftKobo / 100);
      expect(sent()).toMatchObject({ amount });
    }
  });
});

describe("the network of an airtime purchase", () => {
  test("is sent upstream by its code, however it is written", async () => {
    const { buy } = await aBuyer(2_000);
    for (const [code, spellings] of Object.entries({
      mtn: ["mtn", "MTN", "  Mtn "],
      airtel: ["Airtel"],
      glo: ["GLO", "globacom", "Globacom "],
      "9mobile": ["9mobile", "9MOBILE", "etisalat", "ETISALAT", "t2", " T2"],
    })) {
      for (const network of spellings) {
        expect((await buy({ network })).status, network).toBe(200);
        expect(sent(), network).toMatchObject({ network: code });
      }
    }
  });

  test("that does not exist is answered 422 with the list of networks", async () => {
    const { balance, buy } = await aBuyer(1_000);
    const before = requestCount();
    const wrong = ["", "   ", "mtnn", "airte", "234", "m t n", "mtn,airtel", "__proto__", "constructor"];
    for (const network of wrong) {
      const answer = await buy({ network });
      expect([answer.status, answer.headers.get("x-error-code")], network).toEqual([422, "validation_failed"]);
      expect(Object.keys(answer.body.errors ?? {}), network).toEqual(["network"]);
      for (const code of ["mtn", "airtel", "glo", "9mobile"]) {
        expect(answer.body.errors?.network?.join(), network).toMatch(new RegExp(`\\b${code}\\b`));
      }
    }
    expect(await balance()).toBe(1_000);
    expect(requestCount()).toBe(before);
  });
});

test("an airtime purchase above the largest amount is refused about it, and nothing is charged or sent", async () => {
  const { balance, buy } = await aBuyer(100_000);
  const before = requestCount();
  for (const amount of [50_000.01, 1e9]) {
    const answer = await buy({ amount });
    expect([answer.status, answer.headers.get("x-error-code")]).toEqual([422, "validation_failed"]);
    expect(answer.body.errors).toEqual({ amount: ["Must be at most 50000 NGN"] });
    expect(answer.headers.get("x-transaction-reference")).toBeNull();
  }
  expect(await balance()).toBe(100_000);
  expect(requestCount()).toBe(before);
});

test("the replay of a purchase is answered, and not charged, whatever the stage and its account allow less since then", async () => {
  const ledger = await openLedgerAtNoon();
  const selling = await aSellingService(ledger);
  const accountId = await ledger.anAccount(1_000);
  const order = { network: "mtn", phone_number: "08031234567", amount: 100, reference: "before" };
  const allowed = { accountId, keyId: "key_1", mode: "live", entitlements: ALL_ENTITLEMENTS } as const;
  const topUp = (caller: Caller, airtimeMax?: number) =>
    selling.instance({ airtimeMax }).topUp({
      ...{ input: order, caller, deadline: deadlineIn(29_000), request: { headers: {} } },
    });
  const { transaction } = (await topUp(allowed)).data;
  const callers: readonly Caller[] = [
    { ...allowed, limits: { account: { order_naira: 99 }, key: undefined } },
    { ...allowed, limits: { account: { day_naira: 100 }, key: { month_orders: 1 } } },
    { ...allowed, duplicateWindowS: 86_400 },
    { ...allowed, entitlements: { vtu: 1 } },
    { ...allowed, entitlements: {} },
  ];
  for (const caller of callers) expect((await topUp(caller)).data.transaction).toEqual(transaction);
  expect((await topUp(allowed, 99)).data.transaction).toEqual(transaction);
  expect(await readWallet(ledger, accountId)).toMatchObject({ balance_kobo: 900_00 });
  expect(selling.arrived()).toHaveLength(1);
});

test("an airtime purchase waits, debited, once the upstream has refused one for a minute, and is not sent", async () => {
  const ledger = await openLedgerAtNoon();
  const selling = await aSellingService(ledger);
  const { topUp } = selling.instance();
  const accountId = await ledger.anAccount(1_000);
  const caller = { accountId, keyId: "key_1", mode: "live", entitlements: ALL_ENTITLEMENTS } as const;
  selling.refuse(1);
  for (const reference of ["refused", "later"]) {
    const input = { network: "mtn", phone_number: "08031234567", amount: 100, reference };
    const { data, headers } = await topUp({ input, caller, deadline: deadlineIn(29_000), request: { headers: {} } });
    expect(data.transaction.status).toBe("processing");
    expect(headers).toHaveProperty("x-estimated-delivery");
  }
  expect(await readWallet(ledger, accountId)).toMatchObject({ balance_kobo: 800_00 });
  expect(selling.arrived()).toEqual([]);
});

describe("an airtime purchase with a used reference", () => {
  test("is a replay however network and amount are written", async () => {
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

  test("and another amount, network or number is answered 422 about the reference, and changes nothing", async () => {
    const { balance, buy } = await aBuyer(1_000);
    await buy({ reference: "other" });
    const before = requestCount();
    for (const changes of [{ amount: 100.01 }, { network: "airtel" }, { phone_number: "08031234568" }]) {
      const answer = await buy({ reference: "other", ...changes });
      expect(answer.status).toBe(422);
      expect(answer.headers.get("x-error-code"), JSON.stringify(changes)).toBe("reference_reused");
    }
    expect(requestCount()).toBe(before);
    expect(await balance()).toBe(900);
  });
});

test("an airtime purchase that the upstream refuses is refunded, and answered 422 about the fields that it has", async () => {
  const { balance, buy } = await aBuyer(1_000);
  for (const [code, fields] of [
    ["validation_failed", ["network", "amount", "phone_number"]],
    ["delivery_failed", ["plan_id", "network_id", "nin", "channel"]],
  ] as const) {
    for (const field of fields) {
      const body = { status: false, message: "Their words", errors: { [field]: ["Their words"] } };
      service.simulator.state.faults.add({ kind: "status", path: BUY_AIRTIME, status: 422, body });
      const answer = await buy();
      service.simulator.state.faults.clear();
      expect(answer.headers.get("x-error-code"), field).toBe(code);
      expect(answer.status, field).toBe(errors[code].status);
      expect(Object.keys(answer.body.errors ?? {})).toEqual(code === "validation_failed" ? [field] : []);
      expect(JSON.stringify(answer.body)).not.toContain("Their words");
      expect(await balance()).toBe(1_000);
    }
  }
});
