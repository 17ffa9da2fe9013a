import { describe, expect, test } from "vitest";
import type { RateGroup } from "../../../../shared/contract/limits.ts";
import type { ExchangeResult } from "../../../../shared/upstream/exchange.ts";
import { keyLines, keyPool, SET_ASIDE_MS, upstreamKeyId, usableKeys } from "../../../../shared/upstream/key-pool.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { PROFILE } from "../../../builders/upstream/upstream-simulator.ts";

const answered = (status: number, headers: Readonly<Record<string, string>> = {}): ExchangeResult => ({
  kind: "answered",
  status,
  headers,
  body: "",
});
const spent = answered(200, { "x-ratelimit-remaining": "0" });

/** A loaded pool, with a clock and a secret that only the test changes. */
const aPool = async (...keys: readonly string[]) => {
  const state = { nowMs: NOON_MS, text: keys.join("\n"), refetched: undefined as string | undefined };
  const pool = keyPool(
    { value: async () => state.text, refetch: async () => state.refetched ?? state.text },
    () => state.nowMs,
    PROFILE.limits,
  );
  await pool.load();
  return {
    ...pool,
    state,
    /** The keys of the next requests. */
    take: (count: number, group: RateGroup = "vtu") => Array.from({ length: count }, () => pool.next(group)),
  };
};

describe("the secret's text", () => {
  test.each([
    ["one key", "live_a", ["live_a"]],
    ["a key on each line", "live_a\nlive_b\nlive_c", ["live_a", "live_b", "live_c"]],
    ["lines of Windows, empty lines and spaces around a key", "\r\nlive_a \r\n\r\n\tlive_b\r\n", ["live_a", "live_b"]],
    ["a key twice", "live_a\nlive_b\nlive_a", ["live_a", "live_b"]],
    ["a line with a space in it", "live_a\nlive b", ["live_a"]],
    ["a line with an invisible letter in it", "live_\u200ba\nlive_b", ["live_b"]],
    ["only lines that no header can hold", "live a\nlivé", []],
    ["nothing", undefined, []],
  ] as const)("of %s the usable keys are taken", (_name, text, keys) => {
    expect(usableKeys(text)).toEqual(keys);
  });

  test("the lines of a text are those with something in them", () => {
    expect(keyLines("\n a b \n\n\tc\r\n")).toEqual(["a b", "c"]);
  });

  test("a pool says whether it holds a key, also after the secret was fetched again", async () => {
    const { load, reload, state } = await aPool("a");
    expect(await load()).toBe(true);
    state.refetched = "";
    expect(await reload()).toBe(false);
    state.refetched = "b";
    expect(await reload()).toBe(true);
  });
});

describe("the turn", () => {
  test("every key is used once before one is used again, in every group", async () => {
    const { take } = await aPool("a", "b", "c");
    const round = take(3);
    expect(new Set(round)).toEqual(new Set(["a", "b", "c"]));
    expect(take(3, "identity")).toEqual(round);
    expect(take(3, "catalog")).toEqual(round);
  });

  test("pools begin with different keys, so that new instances do not all use the first one", async () => {
    const firsts = await Promise.all(Array.from({ length: 60 }, async () => (await aPool("a", "b")).next("vtu")));
    expect(new Set(firsts)).toEqual(new Set(["a", "b"]));
  });

  test("a key with an exhausted group is passed over in this group until its minute is over", async () => {
    const { take, record, state, waitS } = await aPool("a", "b");
    record("vtu", spent, "a");
    expect(take(3)).toEqual(["b", "b", "b"]);
    expect(new Set(take(2, "identity"))).toEqual(new Set(["a", "b"]));
    expect(waitS("vtu")).toBe(0);
    state.nowMs += 60_000;
    expect(new Set(take(2))).toEqual(new Set(["a", "b"]));
  });

  test("a pool without a key has no next key, and is not spent", async () => {
    const { take, waitS, another } = await aPool();
    expect([take(1), waitS("vtu"), another("vtu", "a")]).toEqual([[undefined], 0, undefined]);
  });
});

describe("spent keys", () => {
  test("a rejected key with budget does not keep the pool from being spent", async () => {
    const { record, reject, waitS } = await aPool("a", "b");
    reject("vtu", 401, "a");
    record("vtu", answered(429, { "retry-after": "30" }), "b");
    expect(waitS("vtu")).toBe(30);
  });

  test("the upstream takes as many requests a minute as it states, or else documents, from each healthy key", async () => {
    const { record, reject, perMinute } = await aPool("a", "b", "c");
    expect([perMinute("vtu"), perMinute("identity")]).toEqual([180, 90]);
    record("vtu", answered(200, { "x-ratelimit-limit": "100" }), "a");
    reject("vtu", 401, "b");
    expect([perMinute("vtu"), perMinute("identity")]).toEqual([200, 60]);
  });

  test("the requests left are those of the healthy keys", async () => {
    const { record, reject, requestsLeft } = await aPool("a", "b");
    for (const key of ["a", "b"]) record("vtu", answered(200, { "x-ratelimit-remaining": "20" }), key);
    expect(requestsLeft("vtu")).toBe(40);
    reject("vtu", 401, "a");
    expect([requestsLeft("vtu"), requestsLeft("catalog")]).toEqual([20, 1]);
  });

  test("a request that is sent although every key is spent still has a key, and there is no other to try", async () => {
    const { record, take, another } = await aPool("a", "b");
    record("vtu", spent, "a");
    record("vtu", spent, "b");
    expect(another("vtu", "a")).toBeUndefined();
    expect(new Set(take(2))).toEqual(new Set(["a", "b"]));
  });
});

test("a 429 about one order leaves its key free, and is reported", async () => {
  const { record, waitS, take } = await aPool("a", "b");
  expect(record("vtu", answered(429, { "x-ratelimit-remaining": "50" }), "a")).toBe(true);
  expect(waitS("vtu")).toBe(0);
  expect(new Set(take(2))).toEqual(new Set(["a", "b"]));
  expect(record("vtu", answered(429), "a")).toBe(false);
  expect(take(2)).toEqual(["b", "b"]);
});

describe("rejected keys", () => {
  test("a key with a 401 is set aside in every group for 4 minutes", async () => {
    const { reject, take, state } = await aPool("a", "b");
    reject("vtu", 401, "a");
    for (const group of ["vtu", "identity", "catalog"] as const) expect(take(2, group)).toEqual(["b", "b"]);
    state.nowMs += SET_ASIDE_MS - 1;
    expect(take(2)).toEqual(["b", "b"]);
    state.nowMs += 1;
    expect(new Set(take(2))).toEqual(new Set(["a", "b"]));
  });

  test("a clock that is set back does not prolong the 4 minutes", async () => {
    const { reject, take, state } = await aPool("a", "b");
    reject("vtu", 401, "a");
    state.nowMs -= 1;
    expect(new Set(take(2))).toEqual(new Set(["a", "b"]));
  });

  test("a key with a 403 is set aside in the group that it was refused in, because it may lack one permission", async () => {
    const { reject, take } = await aPool("a", "b");
    reject("identity", 403, "a");
    expect(take(2, "identity")).toEqual(["b", "b"]);
    expect(new Set(take(2, "vtu"))).toEqual(new Set(["a", "b"]));
  });

  test("a rejected key is used again at once after a success in its group, and after no other answer", async () => {
    const { reject, record, take } = await aPool("a", "b");
    reject("vtu", 403, "a");
    record("vtu", answered(403), "a");
    record("vtu", answered(500), "a");
    record("vtu", { kind: "no_answer", reason: "timeout" }, "a");
    record("identity", answered(200), "a");
    expect(take(2)).toEqual(["b", "b"]);
    record("vtu", answered(200), "a");
    expect(new Set(take(2))).toEqual(new Set(["a", "b"]));
  });

  test("a rejected key is used again once the secret has changed", async () => {
    const { reject, take, load, state } = await aPool("a", "b");
    reject("vtu", 401, "a");
    await load();
    expect(take(2)).toEqual(["b", "b"]);
    state.text = "a\nb\nc";
    await load();
    expect(new Set(take(3))).toEqual(new Set(["a", "b", "c"]));
  });

  test("a spent key stays spent when the secret changes", async () => {
    const { record, take, reload, state } = await aPool("a", "b");
    record("vtu", spent, "a");
    state.refetched = "a\nc";
    await reload();
    expect(take(2)).toEqual(["c", "c"]);
  });

  test("while all keys are rejected all are tried, and the first that is accepted is used alone", async () => {
    const { reject, record, take, another } = await aPool("a", "b", "c");
    for (const key of ["a", "b", "c"]) reject("vtu", 401, key);
    expect(new Set(take(3))).toEqual(new Set(["a", "b", "c"]));
    expect(another("vtu", "a")).not.toBe("a");
    record("vtu", answered(200), "b");
    expect(take(3)).toEqual(["b", "b", "b"]);
  });

  test("another key is healthy, has budget, and is not the refused one", async () => {
    const { reject, record, another } = await aPool("a", "b", "c", "d");
    reject("vtu", 401, "b");
    record("vtu", spent, "c");
    expect([another("vtu", "a"), another("vtu", "d")]).toEqual(["d", "a"]);
  });
});

describe("the alarm on a rejected key", () => {
  test("a rejection is logged once with the key's id, the status and the group, and never with the key", async () => {
    const { reject, state } = await aPool("live_a_secret_key", "b");
    const log = captureLog();
    reject("vtu", 401, "live_a_secret_key");
    reject("identity", 401, "live_a_secret_key");
    expect(log.lines()).toMatchObject([
      {
        event: "upstream.key_rejected",
        level: "error",
        upstream_key: upstreamKeyId("live_a_secret_key"),
        status: 401,
        group: "vtu",
      },
    ]);
    state.nowMs += SET_ASIDE_MS;
    reject("vtu", 401, "live_a_secret_key");
    expect(log.lines()).toHaveLength(2);
    expect(log.text()).not.toContain("live_a_secret_key");
  });

  test("the rejection of the only key, or of one that has left the secret, is not logged", async () => {
    const { reject, reload, state } = await aPool("a", "b");
    const log = captureLog();
    state.refetched = "c";
    await reload();
    reject("vtu", 401, "a");
    reject("vtu", 401, "c");
    expect(log.lines()).toEqual([]);
  });

  test("an id is the first 8 hexadecimal digits of the key's SHA-256", () => {
    expect(upstreamKeyId("abc")).toBe("ba7816bf");
  });
});
