import { describe, expect, test, vi } from "vitest";
import type { Mode } from "../../../../shared/contract/transaction.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { koboFromNaira } from "../../../../shared/platform/money.ts";
import { fulfilPurchase } from "../../../../shared/purchase/fulfil-purchase.ts";
import type { Outcome, Upstream } from "../../../../shared/upstream/upstream.ts";
import { aTransaction } from "../../../builders/transaction.ts";

const order = { kind: "data", networkId: 1, planId: 101, phoneNumber: "08031234567" } as const;
const facts = { upstreamReference: "U1", upstreamAmountKobo: koboFromNaira(480) };
const kept = { upstream_reference: "U1", upstream_amount_kobo: 480_00 };
const FAILED = "delivery_failed";

/** What the ledger is told once the provider has said this. */
const toldOf = (outcome: Outcome, mode: Mode = "live") => {
  const provider: Upstream = {
    assertReady: () => Promise.reject(new Error("Was asked before the debit")),
    buy: async () => outcome,
    check: () => Promise.reject(new Error("This is no check")),
  };
  return fulfilPurchase(provider, order, aTransaction({ mode }), deadlineIn(1_000));
};

describe("what the provider said, and what the ledger is told", () => {
  test.each<readonly [string, Outcome, object]>([
    [
      "delivered is success, with the upstream's facts",
      { kind: "delivered", ...facts },
      { status: "success", ...kept },
    ],
    [
      "refused about no field of ours is a failed delivery",
      { kind: "refused", fields: [], ...facts },
      { status: "failed", failure: { code: FAILED }, ...kept },
    ],
    [
      "refused about the plan is a plan that is not available",
      { kind: "refused", fields: ["phone_number", "plan_id"] },
      { status: "failed", failure: { code: "plan_unavailable", fields: ["phone_number", "plan_id"] } },
    ],
    [
      "refused about another field is a field that is not valid",
      { kind: "refused", fields: ["phone_number"] },
      { status: "failed", failure: { code: "validation_failed", fields: ["phone_number"] } },
    ],
    [
      "trouble that is ours is a failed delivery: the reference is used up",
      { kind: "account_error", reason: "key", ...facts },
      { status: "failed", failure: { code: FAILED }, ...kept },
    ],
  ])("%s", async (_name, outcome, settlement) => {
    expect(await toldOf(outcome)).toEqual({ settlement });
  });

  test("an unknown outcome without a name teaches nothing", async () => {
    expect(await toldOf({ kind: "unknown", reason: "timeout" })).toStrictEqual({});
    expect(
      await toldOf({ kind: "unknown", reason: "processing", upstreamAmountKobo: koboFromNaira(480) }),
    ).toStrictEqual({});
  });

  test("an unknown outcome with a name stays processing under that name", async () => {
    expect(await toldOf({ kind: "unknown", reason: "processing", ...facts })).toStrictEqual({
      settlement: { status: "processing", ...kept },
    });
  });

  test.each([
    ["success", { status: "success" }],
    ["failed", { status: "failed", failure: { code: FAILED } }],
  ] as const)("a sandbox order that ends as %s later says so, and when", async (status, settlement) => {
    const outcome: Outcome = { kind: "unknown", reason: "processing", later: { status, afterS: 5 } };
    expect(await toldOf(outcome)).toStrictEqual({ later: { afterS: 5, settlement } });
  });
});

describe("what the operator hears of it", () => {
  const amounts: readonly (readonly [string, boolean, Outcome])[] = [
    ["a delivery at less", true, { kind: "delivered", ...facts }],
    ["a delivery at more", true, { kind: "delivered", upstreamAmountKobo: koboFromNaira(500.01) }],
    ["a processing order at less", true, { kind: "unknown", reason: "processing", ...facts }],
    ["a delivery at our amount", false, { kind: "delivered", upstreamAmountKobo: koboFromNaira(500) }],
    ["a delivery whose amount is not stated", false, { kind: "delivered", upstreamReference: "U1" }],
    ["a refusal that was not charged", false, { kind: "refused", fields: [], ...facts }],
  ];
  test.each(amounts)(
    "of the amount of %s is an alarm: %s; in the sandbox it is none",
    async (_name, rings, outcome) => {
      expect((await saidOf(outcome)).includes("transaction.amount_differs")).toBe(rings);
      expect(await saidOf(outcome, "test")).not.toContain("transaction.amount_differs");
    },
  );

  const saidOf = async (outcome: Outcome, mode?: Mode): Promise<string> => {
    const said = vi.spyOn(console, "log").mockImplementation(() => undefined);
    await toldOf(outcome, mode);
    const words = said.mock.calls.flat().map(String).join();
    said.mockRestore();
    return words;
  };

  test("is an alarm where the trouble is ours, but not in the sandbox, where it is meant", async () => {
    expect(await saidOf({ kind: "account_error", reason: "key" })).toContain("upstream.account_error");
    expect(await saidOf({ kind: "account_error", reason: "key" }, "test")).toBe("");
  });

  test("is a warning that is counted, and no alarm, where the upstream's rate limit refused the order", async () => {
    const said = await saidOf({ kind: "account_error", reason: "rate_limited" });
    expect(said).toContain('"level":"warn","event":"upstream.rate_limited"');
    expect(said).toContain('"UpstreamRateLimited":1');
    expect(said).not.toMatch(/trouble_is_ours|Alarms/);
    expect(await saidOf({ kind: "account_error", reason: "rate_limited" }, "test")).toBe("");
  });

  test("is a line where the outcome is unknown, but not where it is under way", async () => {
    expect(await saidOf({ kind: "unknown", reason: "timeout" })).toContain("upstream.outcome_unknown");
    expect(await saidOf({ kind: "unknown", reason: "processing" })).toBe("");
  });

  test("is nothing where it was delivered or refused", async () => {
    expect(await saidOf({ kind: "delivered" })).toBe("");
    expect(await saidOf({ kind: "refused", fields: [] })).toBe("");
  });
});
