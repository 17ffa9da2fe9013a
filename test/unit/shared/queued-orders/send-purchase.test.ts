import { describe, expect, test } from "vitest";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { referenceOf } from "../../../../shared/ledger/transaction.ts";
import { upstreamCosts } from "../../../../shared/ledger/upstream-costs.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { fulfilmentOf, noteSent, queueReasonOf, sendPurchase } from "../../../../shared/queued-orders/send-purchase.ts";
import type { Outcome } from "../../../../shared/upstream/upstream.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { FACE_VALUES } from "../../../builders/upstream/upstream-costs.ts";

const order = { kind: "data", networkId: 1, planId: 101, phoneNumber: "08031234567" } as const;
const facts = { upstreamReference: "U1", upstreamAmountKobo: koboFromNaira(480) };
const kept = { upstream_reference: "U1", upstream_amount_kobo: 480_00 };
const NO_BLOCKS = { limitUntilMs: 0, unrecognizedUntilMs: 0 };
const FAILED = "delivery_failed";

test("before it gets an order, the upstream learns the blocks that all instances know", async () => {
  const blocks = { limitUntilMs: 1, unrecognizedUntilMs: 2 };
  const calls: unknown[] = [];
  const outcome = { kind: "delivered" } as const;
  const upstream = {
    blocks: () => NO_BLOCKS,
    learnBlocks: (known: unknown) => void calls.push(known),
    buy: async (...args: readonly unknown[]) => {
      calls.push(args);
      return outcome;
    },
  };
  const gate = { blocks: () => blocks, noteBlocks: async () => {}, noteOutcome: async () => {} };
  const [transaction, deadline] = [aTransaction(), deadlineIn(1_000)];
  const sent = await sendPurchase({ upstream, gate, costs: FACE_VALUES }, order, transaction, deadline);
  expect(sent).toEqual({ outcome, blocksBefore: blocks });
  expect(calls).toEqual([blocks, [order, referenceOf(transaction), deadline, undefined]]);
});

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
  ])("a purchase whose outcome is %s", (_what, outcome, settlement) => {
    expect(fulfilmentOf(outcome, FACE_VALUES)).toEqual({ settlement });
  });

  test("the upstream's charge is the cost of a purchase that was delivered, and not of one that failed", () => {
    const costs = upstreamCosts.parse({ amountIs: "charged" });
    expect(fulfilmentOf({ kind: "delivered", ...facts }, costs)).toEqual({
      settlement: { status: "success", ...kept, cost_kobo: 480_00 },
    });
    expect(fulfilmentOf({ kind: "refused", fields: [], ...facts }, costs)).toEqual({
      settlement: { status: "failed", failure: { code: FAILED }, ...kept },
    });
  });

  test("an unknown outcome without an upstream reference settles nothing, even if the amount is known", () => {
    expect(fulfilmentOf({ kind: "unknown", reason: "timeout" }, FACE_VALUES)).toStrictEqual({});
    expect(
      fulfilmentOf({ kind: "unknown", reason: "processing", upstreamAmountKobo: koboFromNaira(480) }, FACE_VALUES),
    ).toStrictEqual({});
  });

  test("an unknown outcome with an upstream reference leaves the order processing and records the reference", () => {
    expect(fulfilmentOf({ kind: "unknown", reason: "processing", ...facts }, FACE_VALUES)).toStrictEqual({
      settlement: { status: "processing", ...kept },
    });
  });

  test.each([
    ["success", { status: "success" }],
    ["failed", { status: "failed", failure: { code: FAILED } }],
  ] as const)("a sandbox order that becomes %s later is settled after the delay", (status, settlement) => {
    const outcome: Outcome = { kind: "unknown", reason: "processing", later: { status, afterS: 5 } };
    expect(fulfilmentOf(outcome, FACE_VALUES)).toStrictEqual({ later: { afterS: 5, settlement } });
    const waiting: Outcome = { kind: "unknown", reason: "processing", later: { status, afterS: 5, waits: true } };
    expect(fulfilmentOf(waiting, FACE_VALUES)).toStrictEqual({ later: { afterS: 5, settlement, estimatedS: 5 } });
  });
});

describe("a purchase that the upstream refuses with 429", () => {
  const limited = (reason: string): Outcome => ({ kind: "account_error", reason });

  test.each(["rate_limited", "order_limited", "turn_over"])("is queued for the reason %s", (reason) => {
    expect(queueReasonOf(limited(reason))).toBe(reason);
  });

  test("is refunded if it is not queued", () => {
    expect(fulfilmentOf(limited("rate_limited"), FACE_VALUES)).toEqual({
      settlement: { status: "failed", failure: { code: FAILED } },
    });
  });

  test("is queued for no other reason", () => {
    expect(queueReasonOf(limited("status_403"))).toBeUndefined();
    expect(queueReasonOf({ kind: "unknown", reason: "rate_limited" })).toBeUndefined();
  });
});

test("the outcome of a purchase that is sent is logged, with our costs", async () => {
  const log = captureLog();
  const gate = { blocks: () => NO_BLOCKS, noteBlocks: async () => {}, noteOutcome: async () => {} };
  const upstream = {
    ...{ blocks: () => NO_BLOCKS, learnBlocks: () => {} },
    buy: async (): Promise<Outcome> => ({ kind: "unknown", reason: "timeout", ...facts }),
  };
  await sendPurchase({ upstream, gate, costs: FACE_VALUES }, order, aTransaction(), deadlineIn(1_000));
  expect(log.lines().map(({ event }) => event)).toEqual(["transaction.amount_differs", "upstream.outcome_unknown"]);
});

describe("the notes of a sent purchase", () => {
  test.each([
    ["a live purchase that may be queued", "live", true, ["outcome", "blocks"]],
    ["a live purchase that is never queued", "live", false, ["outcome"]],
    ["a purchase of the sandbox", "test", false, []],
  ] as const)("of %s", async (_what, mode, mayBeQueued, notes) => {
    const noted: string[] = [];
    const note = (what: string) => async () => void noted.push(what);
    const gate = { blocks: () => NO_BLOCKS, noteBlocks: note("blocks"), noteOutcome: note("outcome") };
    const upstream = {
      blocks: () => NO_BLOCKS,
      learnBlocks: () => {},
      buy: () => Promise.reject(new Error("It is sent already")),
    };
    const sent = { outcome: { kind: "delivered" }, blocksBefore: NO_BLOCKS } as const;
    await noteSent({ upstream, gate }, sent, { mode, mayBeQueued }, deadlineIn(1_000));
    expect(noted).toEqual(notes);
  });
});
