import { describe, expect, test } from "vitest";
import type { RateGroup } from "../../../../shared/contract/limits.ts";
import type { ExchangeResult } from "../../../../shared/upstream/exchange.ts";
import { BLOCK_MS_MAX, retryAfterS, upstreamLimit } from "../../../../shared/upstream/rate-limit.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { PROFILE } from "../../../builders/upstream/upstream-simulator.ts";

const answered = (status: number, headers: Readonly<Record<string, string>> = {}): ExchangeResult => ({
  kind: "answered",
  status,
  headers,
  body: "",
});

/** What the upstream states when a limit is spent. */
const none = { "x-ratelimit-remaining": "0" };

/** A limit with one key, unless the test names others, and a clock that only the test moves. */
const limitAt = (startMs: number) => {
  let nowMs = startMs;
  const limit = upstreamLimit(() => nowMs, PROFILE.limits);
  return {
    record: (group: RateGroup, result: ExchangeResult, key = "one") => limit.record(group, result, key),
    waitS: (group: RateGroup, keys: readonly string[] = ["one"]) => limit.waitS(group, keys),
    left: (keys: readonly string[] = ["one"]) => limit.requestsLeft("vtu", keys),
    learn: limit.learn,
    perMinute: () => limit.perMinute("vtu", ["one"]),
    spentUntilMs: (keys: readonly string[]) => limit.spentUntilMs("vtu", keys),
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
};

test.for([
  ["no request was sent yet", undefined],
  ["the upstream has 1 request left", answered(200, { "x-ratelimit-remaining": "1" })],
  ["the upstream states no limit", answered(200)],
  ["the upstream failed with 500", answered(500)],
  ["no response came", { kind: "no_answer", reason: "timeout" } satisfies ExchangeResult],
  ["the request was not sent", { kind: "never_sent", reason: "ECONNREFUSED" } satisfies ExchangeResult],
] as const)("the group may be used at once while %s", ([, result]) => {
  const { record, waitS } = limitAt(NOON_MS);
  if (result !== undefined) record("vtu", result);
  expect(waitS("vtu")).toBe(0);
});

test("a limit that another process found spent holds for each key, then one request with each tells what is left", () => {
  const { record, waitS, left, learn, pass } = limitAt(NOON_MS);
  const keys = ["one", "two"];
  record("vtu", answered(200, { "x-ratelimit-remaining": "50" }));
  record("vtu", answered(429, { "retry-after": "40" }), "two");
  learn("vtu", keys, NOON_MS + 30_000);
  expect([waitS("vtu", keys), waitS("vtu", ["two"]), left(keys)]).toEqual([30, 40, 0]);
  pass(40_000);
  expect([waitS("vtu", keys), left(keys)]).toEqual([0, 2]);
  record("vtu", answered(200, { "x-ratelimit-remaining": "50" }));
  learn("vtu", keys, NOON_MS + 30_000);
  expect(left(keys)).toBe(51);
});

describe("an exhausted group", () => {
  test("after a success with 0 remaining at :20 the group waits 40 s, to the end of the minute", () => {
    const { record, waitS } = limitAt(NOON_MS + 20_000);
    record("vtu", answered(200, { "x-ratelimit-remaining": "0" }));
    expect(waitS("vtu")).toBe(40);
  });

  test("after a 429 with Retry-After 7 the group waits 7 s", () => {
    const { record, waitS, pass } = limitAt(NOON_MS);
    record("vtu", answered(429, { "retry-after": "7" }));
    expect(waitS("vtu")).toBe(7);
    pass(6_001);
    expect(waitS("vtu")).toBe(1);
    pass(998);
    expect(waitS("vtu")).toBe(1);
    pass(1);
    expect(waitS("vtu")).toBe(0);
  });

  test("after a 429 without Retry-After the group waits to the end of the minute", () => {
    const { record, waitS } = limitAt(NOON_MS + 55_000);
    record("vtu", answered(429));
    expect(waitS("vtu")).toBe(5);
  });

  test.for([
    ["a 429 with Retry-After 86400", answered(429, { "retry-after": "86400" })],
    ["a success with 0 remaining and Retry-After 86400", answered(200, { ...none, "retry-after": "86400" })],
  ] as const)("after %s a group waits for one minute, and then one request finds out", ([, result]) => {
    const { record, waitS, left, spentUntilMs, pass } = limitAt(NOON_MS);
    record("vtu", result);
    expect([waitS("vtu"), left(), spentUntilMs(["one"])]).toEqual([60, 0, NOON_MS + 60_000]);
    pass(60_000);
    expect([waitS("vtu"), left()]).toEqual([0, 1]);
    record("vtu", result);
    expect([waitS("vtu"), left()]).toEqual([60, 0]);
    pass(60_000);
    record("vtu", answered(200, { "x-ratelimit-remaining": "58" }));
    expect([waitS("vtu"), left()]).toEqual([0, 58]);
  });

  test("after a 429 with Retry-After 0 the group may be used at once, one request at a time", () => {
    const { record, waitS, left } = limitAt(NOON_MS);
    record("vtu", answered(200, { "x-ratelimit-remaining": "30" }));
    record("vtu", answered(429, { ...none, "retry-after": "0" }));
    expect([waitS("vtu"), left()]).toEqual([0, 1]);
  });
});

test("a clock that is set back prolongs the wait for a spent limit to 70 s at most", () => {
  const { record, waitS, spentUntilMs, pass } = limitAt(NOON_MS);
  record("vtu", answered(429, { "retry-after": "30" }));
  pass(-3_600_000);
  expect([waitS("vtu"), spentUntilMs(["one"])]).toEqual([70, NOON_MS - 3_600_000 + BLOCK_MS_MAX]);
  pass(BLOCK_MS_MAX);
  expect([waitS("vtu"), spentUntilMs(["one"])]).toEqual([0, undefined]);
});

describe("a 429 about one order", () => {
  const stating = (remaining: string) => answered(429, { "x-ratelimit-remaining": remaining, "retry-after": "60" });

  test("that states requests left leaves the key free, and says how many are left", () => {
    const { record, waitS, left } = limitAt(NOON_MS);
    expect(record("vtu", stating("50"))).toBe(true);
    expect([waitS("vtu"), left()]).toEqual([0, 50]);
  });

  test.for(["0", "-50", "", "many", "1.5"])("is not one that states %j requests left", (remaining) => {
    const { record, waitS } = limitAt(NOON_MS);
    expect(record("vtu", stating(remaining))).toBe(false);
    expect(waitS("vtu")).toBe(60);
  });

  test("does not free a key that is spent", () => {
    const { record, waitS } = limitAt(NOON_MS);
    record("vtu", answered(429, { "retry-after": "30" }));
    expect(record("vtu", stating("50"))).toBe(true);
    expect(waitS("vtu")).toBe(30);
  });

  test("is one without a count that comes less than a second after a success under the same key", () => {
    const { record, waitS, left, pass } = limitAt(NOON_MS);
    record("vtu", answered(200, { "x-ratelimit-remaining": "30" }));
    pass(999);
    expect(record("vtu", answered(429))).toBe(true);
    expect([waitS("vtu"), left()]).toEqual([0, 30]);
    pass(1);
    expect(record("vtu", answered(429))).toBe(false);
    expect(waitS("vtu")).toBe(59);
  });

  test("is not one without a count after a success before which the clock was ahead", () => {
    const { record, waitS, pass } = limitAt(NOON_MS);
    record("vtu", answered(200));
    pass(-3_600_000);
    expect(record("vtu", answered(429))).toBe(false);
    expect(waitS("vtu")).toBe(60);
  });

  test("is not one without a count after a success under another key, in another group, or that was the last", () => {
    const { record, waitS } = limitAt(NOON_MS);
    record("vtu", answered(200), "two");
    record("catalog", answered(200));
    expect(record("vtu", answered(429))).toBe(false);
    expect(record("vtu", answered(429, none), "two")).toBe(false);
    record("identity", answered(200, none));
    expect(record("identity", answered(429))).toBe(false);
    expect([waitS("vtu", ["one"]), waitS("vtu", ["two"]), waitS("identity")]).toEqual([60, 60, 60]);
  });

  test("is no response with another status", () => {
    const { record } = limitAt(NOON_MS);
    for (const status of [200, 400, 403, 503]) {
      expect(record("vtu", answered(status, { "x-ratelimit-remaining": "50" })), String(status)).toBe(false);
    }
    expect(record("vtu", { kind: "no_answer", reason: "timeout" })).toBe(false);
  });
});

test("an exhausted catalog group does not delay purchases, nor the reverse", () => {
  const { record, waitS } = limitAt(NOON_MS);
  record("catalog", answered(429, { "retry-after": "30" }));
  expect([waitS("catalog"), waitS("vtu"), waitS("identity")]).toEqual([30, 0, 0]);
});

describe("the requests that are left", () => {
  const remaining = (count: number) => answered(200, { "x-ratelimit-remaining": String(count) });

  test("are as many as the last response said, and one as long as none said so", () => {
    const { record, left } = limitAt(NOON_MS);
    expect(left()).toBe(1);
    record("vtu", answered(500));
    expect(left()).toBe(1);
    record("vtu", remaining(59));
    expect(left()).toBe(59);
  });

  test("are not more again after a response that later ones overtook, which states up to 10 more", () => {
    const { record, left } = limitAt(NOON_MS);
    for (const count of [22, 20, 21, 30]) record("vtu", remaining(count));
    expect(left()).toBe(20);
    record("vtu", remaining(31));
    expect(left()).toBe(31);
  });

  test("are more again in a new minute, whether the last one was exhausted or not", () => {
    const { record, left, pass } = limitAt(NOON_MS);
    for (const count of [3, 59]) record("vtu", remaining(count));
    expect(left()).toBe(59);
    record("vtu", remaining(0));
    expect(left()).toBe(0);
    pass(60_000);
    expect(left()).toBe(1);
    record("vtu", remaining(58));
    expect(left()).toBe(58);
  });

  test("are those of all keys that are not exhausted", () => {
    const { record, left } = limitAt(NOON_MS);
    record("vtu", remaining(7), "one");
    record("vtu", answered(429), "two");
    expect(left(["one", "two", "three"])).toBe(8);
  });
});

test("the limit is the last number that the upstream stated, and the documented one before", () => {
  const { record, perMinute } = limitAt(NOON_MS);
  expect(perMinute()).toBe(60);
  record("vtu", answered(200, { "x-ratelimit-limit": "100" }));
  for (const text of ["0", "-1", "many", "1000000"]) record("vtu", answered(200, { "x-ratelimit-limit": text }));
  record("vtu", answered(200));
  expect(perMinute()).toBe(100);
});

test("of several keys the group waits for the first that is free again, and for none without a key", () => {
  const keys = ["one", "two"];
  const { record, waitS, spentUntilMs, pass } = limitAt(NOON_MS);
  record("vtu", answered(429, { "retry-after": "30" }), "one");
  expect([waitS("vtu", keys), waitS("vtu", ["one"]), waitS("vtu", ["two"]), waitS("vtu", [])]).toEqual([0, 30, 0, 0]);
  expect([spentUntilMs(keys), spentUntilMs([])]).toEqual([undefined, undefined]);
  record("vtu", answered(429, { "retry-after": "7" }), "two");
  expect([waitS("vtu", keys), spentUntilMs(keys)]).toEqual([7, NOON_MS + 7_000]);
  pass(7_000);
  expect([waitS("vtu", keys), spentUntilMs(keys)]).toEqual([0, undefined]);
});

test.for([
  ["0", 0],
  ["1", 1],
  ["60", 60],
  ["61", 60],
  ["86400", 60],
  ["9".repeat(400), 60],
] as const)("a Retry-After of %s is %i s", ([text, seconds]) => {
  expect(retryAfterS(answered(429, { "retry-after": text }))).toBe(seconds);
});

test.for(["", "-1", "1.5", "1e3", " 1", "soon", "+5", "Sat, 21 Nov 2026 12:00:10 GMT"])(
  "the Retry-After %j is ignored",
  (text) => {
    expect(retryAfterS(answered(429, { "retry-after": text }))).toBeUndefined();
  },
);

test("without a response there is no Retry-After", () => {
  expect(retryAfterS({ kind: "no_answer", reason: "timeout" })).toBeUndefined();
  expect(retryAfterS(answered(429))).toBeUndefined();
});
