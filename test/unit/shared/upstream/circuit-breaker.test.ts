import { expect, test } from "vitest";
import { circuitBreaker } from "../../../../shared/upstream/circuit-breaker.ts";
import { classify } from "../../../../shared/upstream/classify.ts";
import type { ExchangeResult } from "../../../../shared/upstream/exchange.ts";
import { BLOCK_MS_MAX } from "../../../../shared/upstream/rate-limit.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { PROFILE } from "../../../builders/upstream/upstream-simulator.ts";

const answered = (status: number, body: string): ExchangeResult => ({ kind: "answered", status, headers: {}, body });
const page = answered(404, "<html>");
const own = JSON.stringify({ status: false, message: "No" });

const aBreaker = () => {
  const state = { nowMs: NOON_MS };
  const breaker = circuitBreaker(() => state.nowMs);
  return {
    ...breaker,
    state,
    record: (...results: readonly ExchangeResult[]) => {
      for (const result of results) breaker.record(result, classify(PROFILE, result, []));
    },
  };
};

test("purchases stop for a minute after the third answer in a row that is not the upstream's", () => {
  const { record, waitS, isTrusted, state } = aBreaker();
  expect([waitS(), isTrusted()]).toEqual([0, true]);
  record(page, page);
  expect([waitS(), isTrusted()]).toEqual([0, false]);
  record(page);
  expect(waitS()).toBe(60);
  state.nowMs += 59_001;
  expect(waitS()).toBe(1);
  state.nowMs += 999;
  expect([waitS(), isTrusted()]).toEqual([0, false]);
});

test("after the minute one answer decides: another page stops purchases again, the upstream's own lets them go on", () => {
  const { record, waitS, isTrusted, state } = aBreaker();
  record(page, page, page);
  state.nowMs += 60_000;
  record(page);
  expect(waitS()).toBe(60);
  record(answered(400, own));
  expect([waitS(), isTrusted()]).toEqual([0, true]);
  record(page, page);
  expect(waitS()).toBe(0);
});

test("a clock that is set back prolongs a stop to 70 s at most", () => {
  const { record, waitS, untilMs, state } = aBreaker();
  record(page, page, page);
  state.nowMs -= 3_600_000;
  expect([waitS(), untilMs()]).toEqual([70, state.nowMs + BLOCK_MS_MAX]);
  state.nowMs += BLOCK_MS_MAX;
  expect(waitS()).toBe(0);
});

test("another instance's stop counts as three answers, until the upstream itself answers this one", () => {
  const { record, waitS, isTrusted, untilMs, learn, state } = aBreaker();
  const endMs = NOON_MS + 60_000;
  learn(endMs);
  expect([waitS(), isTrusted(), untilMs()]).toEqual([60, false, endMs]);
  state.nowMs = endMs;
  expect([waitS(), isTrusted(), untilMs()]).toEqual([0, false, endMs]);
  record(page);
  expect(waitS()).toBe(60);
  record(answered(400, own));
  // An older stop, and its own that comes back.
  learn(endMs);
  learn(endMs + 60_000);
  expect([waitS(), isTrusted(), untilMs()]).toEqual([0, true, 0]);
});

test.for([
  ["a refusal", answered(422, own)],
  ["an outcome that is unknown", answered(409, own)],
  ["a success", answered(200, JSON.stringify({ status: true, data: { transaction: { status: "success" } } }))],
] as const)("%s of the upstream itself begins the count again", ([, result]) => {
  const { record, waitS } = aBreaker();
  record(page, page, result, page, page);
  expect(waitS()).toBe(0);
});

test.for([
  ["a 500", answered(500, own)],
  ["a 503", answered(503, "<html>")],
  ["no answer", { kind: "no_answer", reason: "timeout" }],
  ["a request that was not sent", { kind: "never_sent", reason: "ECONNREFUSED" }],
] as const satisfies readonly (readonly [string, ExchangeResult])[])(
  "%s does not count, and proves nothing",
  ([, result]) => {
    const { record, waitS } = aBreaker();
    record(result, result, result, page, page);
    expect(waitS()).toBe(0);
    record(result, page);
    expect(waitS()).toBe(60);
  },
);
