import { beforeEach, expect, test } from "vitest";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { logOutcome } from "../../../../shared/orders/log-outcome.ts";
import type { CheckOutcome, Outcome } from "../../../../shared/upstream/upstream.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";
import { type CapturedLog, captureLog } from "../../../builders/run/captured-log.ts";
import { FACE_VALUES } from "../../../builders/upstream/upstream-costs.ts";

let log: CapturedLog;
beforeEach(() => {
  log = captureLog();
});

const logged = (outcome: Outcome | CheckOutcome, mode: "live" | "test" = "live") => {
  logOutcome(aTransaction({ mode }), outcome, FACE_VALUES);
  return log
    .lines()
    .filter((line) => "event" in line)
    .map(({ level, event, reason }) => [level, event, reason]);
};

test.each<readonly [Outcome | CheckOutcome, readonly (string | undefined)[]]>([
  [{ kind: "unknown", reason: "unrecognized_404" }, ["error", "upstream.answer_unrecognized", "unrecognized_404"]],
  [{ kind: "unknown", reason: "status_502" }, ["warn", "upstream.outcome_unknown", "status_502"]],
  [{ kind: "unknown", reason: "timeout" }, ["warn", "upstream.outcome_unknown", "timeout"]],
  [{ kind: "account_error", reason: "rate_limited" }, ["warn", "upstream.rate_limited", "rate_limited"]],
  [{ kind: "account_error", reason: "order_limited" }, ["warn", "upstream.order_limited", "order_limited"]],
  [{ kind: "account_error", reason: "turn_over" }, ["warn", "order.turn_over", undefined]],
  [{ kind: "account_error", reason: "no_time" }, ["warn", "upstream.not_sent", "no_time"]],
  [{ kind: "account_error", reason: "ECONNREFUSED" }, ["error", "upstream.unreachable", "ECONNREFUSED"]],
  [{ kind: "account_error", reason: "connect_timeout" }, ["error", "upstream.unreachable", "connect_timeout"]],
  [{ kind: "account_error", reason: "status_401" }, ["error", "upstream.account_error", "status_401"]],
  [{ kind: "account_error", reason: "status_403" }, ["error", "upstream.account_error", "status_403"]],
  [{ kind: "account_error", reason: "upstream_balance" }, ["error", "upstream.account_error", "upstream_balance"]],
  [{ kind: "account_error", reason: "no_upstream_key" }, ["error", "upstream.account_error", "no_upstream_key"]],
])("the outcome %j is logged as %j, with the transaction's reference", (outcome, line) => {
  expect(logged(outcome)).toEqual([line]);
  expect(log.lines().find((found) => "event" in found)).toHaveProperty("reference", expect.stringMatching(/^DATA_/));
});

test("an order that the upstream's rate limit refused is counted", () => {
  logged({ kind: "account_error", reason: "rate_limited" });
  expect(log.lines()).toContainEqual(expect.objectContaining({ UpstreamRateLimited: 1 }));
});

test.each<Outcome | CheckOutcome>([
  { kind: "delivered" },
  { kind: "found", record: {} },
  { kind: "no_record" },
  { kind: "refused", fields: [] },
  { kind: "unknown", reason: "processing" },
])("the expected outcome %j logs nothing", (outcome) => {
  expect(logged(outcome)).toEqual([]);
});

test("an outcome in the sandbox logs nothing", () => {
  expect(logged({ kind: "unknown", reason: "timeout", upstreamAmountKobo: koboFromNaira(1) }, "test")).toEqual([]);
});

const upstreamAmountKobo = koboFromNaira(480);
test.each<Outcome | CheckOutcome>([
  { kind: "delivered", upstreamAmountKobo },
  { kind: "found", record: {}, upstreamAmountKobo },
  { kind: "unknown", reason: "processing", upstreamAmountKobo },
])("another amount of the upstream raises an alarm for the outcome %j, which may be charged", (outcome) => {
  expect(logged(outcome)).toEqual([["error", "transaction.amount_differs", undefined]]);
});

test("an order that the upstream refused is logged with the upstream's status, and a test order is not", () => {
  const outcome = { kind: "refused", fields: ["phone_number"], status: 422 } as const;
  expect(logged(outcome, "test")).toEqual([]);
  expect(logged(outcome)).toEqual([["warn", "upstream.refused", "status_422"]]);
});

test("another amount of the upstream raises no alarm for a refused order, which is not charged", () => {
  expect(logged({ kind: "refused", fields: [], upstreamAmountKobo })).toEqual([]);
});
