import { describe, expect, test } from "vitest";
import { koboFromNaira } from "../../../../shared/contract/money.ts";
import type { Mode } from "../../../../shared/contract/transaction.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { fulfilPurchase, type Sending } from "../../../../shared/queued-orders/send-purchase.ts";
import { type Outcome, RATE_LIMITED, type Upstream } from "../../../../shared/upstream/upstream.ts";
import { captureLog } from "../../../builders/captured-log.ts";
import { aTransaction } from "../../../builders/transaction.ts";

const order = { kind: "data", networkId: 1, planId: 101, phoneNumber: "08031234567" } as const;
const facts = { upstreamReference: "U1", upstreamAmountKobo: koboFromNaira(480) };
const kept = { upstream_reference: "U1", upstream_amount_kobo: 480_00 };
const NO_BLOCKS = { limitUntilMs: 0, unrecognizedUntilMs: 0 };
const FAILED = "delivery_failed";

/**
 * The fulfilment of an order for 500 NGN whose upstream reports this outcome; without `wait` it is never made to wait.
 */
const fulfil = (outcome: Outcome, mode: Mode = "live", wait?: Sending["wait"]) => {
  const upstream: Upstream = {
    waitS: () => 0,
    blocks: () => NO_BLOCKS,
    learnBlocks: () => {},
    assertReady: () => Promise.reject(new Error("Not expected after the debit")),
    buy: async () => outcome,
    check: () => Promise.reject(new Error("Not expected for a purchase")),
  };
  return fulfilPurchase(
    { upstream, gate: { blocks: () => NO_BLOCKS, noteBlocks: async () => {}, noteOutcome: async () => {} }, wait },
    order,
    aTransaction({ mode }),
    deadlineIn(1_000),
  );
};

describe("the settlement of a purchase", () => {
  test.each<readonly [string, Outcome, object]>([
    [
      "delivered settles as success with the upstream's facts",
      { kind: "delivered", ...facts },
      { status: "success", ...kept },
    ],
    [
      "refused without a field settles as failed with delivery_failed",
      { kind: "refused", fields: [], ...facts },
      { status: "failed", failure: { code: FAILED }, ...kept },
    ],
    [
      "refused on the plan settles as failed with plan_unavailable",
      { kind: "refused", fields: ["phone_number", "plan_id"] },
      { status: "failed", failure: { code: "plan_unavailable", fields: ["phone_number", "plan_id"] } },
    ],
    [
      "refused on another field settles as failed with validation_failed",
      { kind: "refused", fields: ["phone_number"] },
      { status: "failed", failure: { code: "validation_failed", fields: ["phone_number"] } },
    ],
    [
      "account_error settles as failed with delivery_failed",
      { kind: "account_error", reason: "key", ...facts },
      { status: "failed", failure: { code: FAILED }, ...kept },
    ],
  ])("a purchase whose outcome is %s", async (_what, outcome, settlement) => {
    expect(await fulfil(outcome)).toEqual({ settlement });
  });

  test("an unknown outcome without an upstream reference settles nothing, even if the amount is known", async () => {
    expect(await fulfil({ kind: "unknown", reason: "timeout" })).toStrictEqual({});
    expect(
      await fulfil({ kind: "unknown", reason: "processing", upstreamAmountKobo: koboFromNaira(480) }),
    ).toStrictEqual({});
  });

  test("an unknown outcome with an upstream reference leaves the order processing and records the reference", async () => {
    expect(await fulfil({ kind: "unknown", reason: "processing", ...facts })).toStrictEqual({
      settlement: { status: "processing", ...kept },
    });
  });

  test.each([
    ["success", { status: "success" }],
    ["failed", { status: "failed", failure: { code: FAILED } }],
  ] as const)("a sandbox order that becomes %s later is settled after the delay", async (status, settlement) => {
    const outcome: Outcome = { kind: "unknown", reason: "processing", later: { status, afterS: 5 } };
    expect(await fulfil(outcome)).toStrictEqual({ later: { afterS: 5, settlement } });
  });
});

describe("a purchase that the upstream refuses with 429", () => {
  const limited = (reason: string): Outcome => ({ kind: "account_error", reason });
  const waits = { order: { kind: "data", network_id: 1, plan_id: 101 } } as const;
  const wait: Sending["wait"] = (reason) => ({ ...waits, ...(reason === "order_limited" && { refusals: 1 }) });
  const refunded = { settlement: { status: "failed", failure: { code: FAILED } } };

  test("waits without a count after one about the limit, and with one refusal after one about this order", async () => {
    expect(await fulfil(limited("rate_limited"), "live", wait)).toStrictEqual({ wait: waits });
    expect(await fulfil(limited("order_limited"), "live", wait)).toStrictEqual({ wait: { ...waits, refusals: 1 } });
  });

  test("is refunded if it does not wait, or not any more", async () => {
    for (const reason of ["rate_limited", "order_limited"]) {
      expect(await fulfil(limited(reason)), reason).toMatchObject(refunded);
      expect(await fulfil(limited(reason), "live", () => undefined), reason).toMatchObject(refunded);
    }
  });

  test("waits for no other reason", async () => {
    expect(await fulfil(limited("status_403"), "live", wait)).toMatchObject(refunded);
  });
});

describe("the log of a purchase's outcome", () => {
  /** The log lines of an order with this outcome. */
  const logOf = async (outcome: Outcome, mode?: Mode): Promise<string> => {
    const log = captureLog();
    await fulfil(outcome, mode);
    return log.text();
  };

  test.each<readonly [string, Outcome]>([
    ["is delivered for less", { kind: "delivered", ...facts }],
    ["is delivered for more", { kind: "delivered", upstreamAmountKobo: koboFromNaira(500.01) }],
    ["is processing for less", { kind: "unknown", reason: "processing", ...facts }],
  ])("an order that %s than our price raises an alarm, except in the sandbox", async (_what, outcome) => {
    expect(await logOf(outcome)).toContain("transaction.amount_differs");
    expect(await logOf(outcome, "test")).toBe("");
  });

  test.each<readonly [string, Outcome]>([
    ["is delivered at our price", { kind: "delivered", upstreamAmountKobo: koboFromNaira(500) }],
    ["is delivered without an amount", { kind: "delivered", upstreamReference: "U1" }],
    ["is refused, and so was not charged", { kind: "refused", fields: [], ...facts }],
  ])("an order that %s logs nothing", async (_what, outcome) => {
    expect(await logOf(outcome)).toBe("");
  });

  test("an account_error raises an alarm, except in the sandbox", async () => {
    expect(await logOf({ kind: "account_error", reason: "status_401" })).toContain("upstream.account_error");
    expect(await logOf({ kind: "account_error", reason: "key" }, "test")).toBe("");
  });

  test("an order that the upstream's rate limit refuses logs a counted warning without an alarm", async () => {
    const log = await logOf({ kind: "account_error", reason: "rate_limited" });
    expect(log).toContain('"level":"warn","event":"upstream.rate_limited"');
    expect(log).toContain('"UpstreamRateLimited":1');
    expect(log).not.toMatch(/account_error|Alarms/);
    expect(await logOf({ kind: "account_error", reason: "rate_limited" }, "test")).toBe("");
  });

  test("an unknown outcome is logged, and an order that is still processing is not", async () => {
    expect(await logOf({ kind: "unknown", reason: "timeout" })).toContain("upstream.outcome_unknown");
    expect(await logOf({ kind: "unknown", reason: "processing" })).toBe("");
  });
});

test("an order that the limit refuses waits before anything is noted, so that the sender holds its account's next orders", async () => {
  const steps: string[] = [];
  const note = (step: string) => async () => void steps.push(step);
  await fulfilPurchase(
    {
      upstream: {
        blocks: () => NO_BLOCKS,
        learnBlocks: () => {},
        buy: async () => ({ kind: "account_error", reason: RATE_LIMITED }),
      },
      gate: { blocks: () => NO_BLOCKS, noteBlocks: note("blocks"), noteOutcome: note("outcome") },
      wait: () => {
        steps.push("wait");
        return { order: { kind: "data", network_id: 1, plan_id: 101 } };
      },
    },
    order,
    aTransaction(),
    deadlineIn(1_000),
  );
  expect(steps).toEqual(["wait", "outcome", "blocks"]);
});
