import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { ServiceError } from "../../../../shared/contract/errors.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { httpUpstream } from "../../../../shared/upstream/http-upstream.ts";
import { upstreamKeyId } from "../../../../shared/upstream/key-pool.ts";
import type { IdentityCheck, UpstreamOrder } from "../../../../shared/upstream/upstream.ts";
import type { Fault } from "../../../../tools/simulator/faults.ts";
import { type SimulatorOptions, startSimulator } from "../../../../tools/simulator/server.ts";
import { type CapturedLog, captureLog } from "../../../builders/captured-log.ts";
import { PROFILE } from "../../../builders/upstream-simulator.ts";

const mtn1gb = { kind: "data", networkId: 1, planId: 101, phoneNumber: "08031234567" } satisfies UpstreamOrder;
const nin = {
  kind: "identity",
  idType: "nin",
  by: { number: "12345678900", mode: "basic" },
} satisfies IdentityCheck;
const KEYS = ["live_key_one_of_three", "live_key_two_of_three", "live_key_three_of_three"] as const;
const [ONE, TWO, THREE] = KEYS;

let log: CapturedLog;
beforeEach(() => {
  log = captureLog();
});
const rejections = () => log.lines("upstream.key_rejected");

type Setting = {
  readonly simulator?: Partial<SimulatorOptions>;
  readonly keys?: readonly string[];
  /** The keys of the secret when it is fetched again. */
  readonly currentKeys?: readonly string[];
  readonly faults?: readonly Fault[];
};

/** A client with three keys of a simulator that accepts all of them, unless the test says otherwise. */
const aClient = async ({ simulator: options, keys = KEYS, currentKeys = keys, faults = [] }: Setting = {}) => {
  const simulator = await startSimulator({ liveKey: KEYS, ...options });
  onTestFinished(() => simulator.stop());
  simulator.state.faults.add(...faults);
  const secretReads = { refetches: 0 };
  const upstream = httpUpstream({
    baseUrl: simulator.baseUrl,
    profile: PROFILE,
    liveKey: {
      value: async () => keys.join("\n"),
      refetch: async () => {
        secretReads.refetches += 1;
        return currentKeys.join("\n");
      },
    },
  });
  let orders = 0;
  return {
    upstream,
    state: simulator.state,
    secretReads,
    buy: () => {
      orders += 1;
      return upstream.buy(mtn1gb, `DATA_${orders}`, deadlineIn(29_000));
    },
    keysUsed: () => simulator.state.purchases.map(({ keyUsed }) => keyUsed),
    /** How many requests met a fault that was set for 9 of them. */
    faultyRequests: (): number => 9 - (simulator.state.faults.list()[0]?.times ?? 0),
  };
};

const countsOf = (values: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries([...new Set(values)].map((value) => [value, values.filter((other) => other === value).length]));

describe("an order that is refused because of its key", () => {
  test.each<[string, Fault, number]>([
    ["a 401", { kind: "status", status: 401, times: 1 }, 1],
    ["a 429 with Retry-After 60", { kind: "rate_limited", retry_after_s: 60, times: 1 }, 0],
  ])(
    "after %s an order is sent again at once with another key, under the same reference",
    async (_name, fault, refetches) => {
      const { buy, state, secretReads } = await aClient({ faults: [fault] });
      // After a wait of 60 s there would be no time left.
      const outcome = await buy();
      const [{ upstreamReference } = { upstreamReference: undefined }] = state.purchases;
      expect(outcome).toEqual({ kind: "delivered", upstreamReference, upstreamAmountKobo: 500_00 });
      expect(state.purchases).toMatchObject([{ reference: "DATA_1" }]);
      expect(secretReads.refetches).toBe(refetches);
    },
  );

  test("an account that is restricted upstream costs one order and loses its turn, and the other keys deliver", async () => {
    const { buy, state, keysUsed } = await aClient();
    state.restrictedKeys.add(TWO);
    const outcomes: string[] = [];
    for (let order = 0; order < 6; order += 1) outcomes.push((await buy()).kind);
    expect(countsOf(outcomes)).toEqual({ account_error: 1, delivered: 5 });
    expect(keysUsed()).not.toContain(TWO);
    expect(rejections()).toMatchObject([{ upstream_key: upstreamKeyId(TWO), status: 403, group: "vtu" }]);
  });

  test("a rotation of all keys reads the secret once, and the order is sent again with a new one", async () => {
    const { buy, secretReads, keysUsed } = await aClient({
      keys: ["live_old_a", "live_old_b"],
      currentKeys: [ONE, TWO],
    });
    expect((await buy()).kind).toBe("delivered");
    expect([secretReads.refetches, keysUsed().length, rejections()]).toEqual([1, 1, []]);
  });

  test.each<[string, Fault, string, number]>([
    ["401", { kind: "status", status: 401, times: 9 }, "status_401", 2],
    ["429 with Retry-After 1", { kind: "rate_limited", retry_after_s: 1, times: 9 }, "rate_limited", 2],
    ["403 in the envelope", { kind: "status", status: 403, times: 9 }, "status_403", 1],
  ])("with a %s for every key an order is an account_error, %s", async (_name, fault, reason, requests) => {
    const { buy, faultyRequests } = await aClient({ faults: [fault] });
    expect(await buy()).toEqual({ kind: "account_error", reason });
    expect(faultyRequests()).toBe(requests);
  });

  test("after a 429 about the order it is not sent under another key, and no key is spent", async () => {
    const { buy, upstream, state } = await aClient();
    state.limitedRecipients.add(mtn1gb.phoneNumber);
    expect(await buy()).toEqual({ kind: "account_error", reason: "order_limited" });
    expect(state.requests).toHaveLength(1);
    expect(upstream.waitS("vtu")).toBe(0);
    state.limitedRecipients.clear();
    for (let order = 0; order < 3; order += 1) expect((await buy()).kind).toBe("delivered");
    expect(countsOf(state.purchases.map(({ keyUsed }) => keyUsed))).toEqual({ [ONE]: 1, [TWO]: 1, [THREE]: 1 });
  });

  test("two keys that one order found rejected are both set aside", async () => {
    const { buy, keysUsed } = await aClient({ faults: [{ kind: "status", status: 401, times: 2 }] });
    expect((await buy()).kind).toBe("account_error");
    for (let order = 0; order < 3; order += 1) await buy();
    expect(Object.values(countsOf(keysUsed()))).toEqual([3]);
    expect(rejections()).toHaveLength(2);
  });

  test("an empty balance upstream is an account_error and not sent under another key", async () => {
    const { buy, state } = await aClient({ simulator: { balanceKobo: 0 } });
    expect(await buy()).toEqual({ kind: "account_error", reason: "upstream_balance" });
    expect(state.requests).toHaveLength(1);
  });
});

describe("identity checks and the catalog", () => {
  test("identity checks use the keys in turn, each with the upstream's limit of its own", async () => {
    const { upstream, state } = await aClient({ simulator: { limits: { identity: 2 } } });
    for (let check = 0; check < 6; check += 1) {
      expect((await upstream.check(nin, `VERIFY_${check}`, deadlineIn(29_000))).kind).toBe("found");
    }
    expect(countsOf(state.purchases.map(({ keyUsed }) => keyUsed))).toEqual({ [ONE]: 2, [TWO]: 2, [THREE]: 2 });
    await expect(upstream.assertReady(nin, deadlineIn(29_000))).rejects.toThrow(ServiceError);
    await expect(upstream.assertReady(mtn1gb, deadlineIn(29_000))).resolves.toBeUndefined();
  });

  test("the catalog is read with a key that is accepted, also when the upstream rejects another", async () => {
    const { upstream } = await aClient({ simulator: { liveKey: [ONE, THREE] } });
    for (let read = 0; read < 3; read += 1) {
      expect(await upstream.fetchCatalog(deadlineIn(29_000))).toMatchObject({ kind: "answered", status: 200 });
    }
    expect(rejections()).toMatchObject([{ upstream_key: upstreamKeyId(TWO), group: "catalog" }]);
  });

  test.each<[string, Fault]>([
    ["a 403, because reading it again changes nothing", { kind: "status", status: 403, times: 1 }],
    ["a 429 with Retry-After 30", { kind: "rate_limited", retry_after_s: 30, times: 1 }],
  ])("the catalog is read at once with another key after %s", async (_what, fault) => {
    const { upstream } = await aClient({ faults: [fault] });
    expect(await upstream.fetchCatalog(deadlineIn(29_000))).toMatchObject({ kind: "answered", status: 200 });
  });
});
