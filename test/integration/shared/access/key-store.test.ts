import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createKey, setAccountStatus, setWhitelist } from "../../../../shared/access/accounts.ts";
import { routes } from "../../../../shared/contract/routes.ts";
import {
  type AccessFixture,
  admissionCode,
  MINUTE_MS,
  NEIGHBOUR,
  NOON,
  OFFICE,
  openAccess,
  remainingOf,
} from "../../../builders/access.ts";

/** Goal: a key makes so many requests a minute in each group, counted in the one write that reads it. */
let access: AccessFixture;
beforeAll(async () => {
  access = await openAccess();
});
beforeEach(() => access.reset());
afterAll(() => access.proxy.stop());

describe("the rate", () => {
  test("of 60 purchases a minute: the 61st is 429 with the seconds to the next minute, which begins anew", async () => {
    const { key } = await access.anAccount();
    access.nowMs = NOON + 17_500;
    for (let left = 59; left >= 0; left -= 1) expect(await remainingOf(access.withKey(key))).toBe(left);
    const refused = await access.withKey(key);
    if (!("refusal" in refused)) expect.unreachable();
    expect(refused.rate).toEqual({ limit: 60, remaining: 0 });
    expect([refused.refusal.code, refused.refusal.details.retryAfterS]).toEqual(["rate_limited", 43]);
    access.nowMs = NOON + 59_999;
    expect(await admissionCode(access.withKey(key))).toBe("rate_limited");
    access.nowMs = NOON + MINUTE_MS;
    expect(await remainingOf(access.withKey(key))).toBe(59);
  });

  test("counts what is answered 403: after 3 of them 56 of 60 are left", async () => {
    const { key } = await access.anAccount();
    for (let request = 0; request < 3; request += 1) {
      expect(await admissionCode(access.withKey(key, { sourceIp: NEIGHBOUR }))).toBe("ip_not_whitelisted");
    }
    expect(await remainingOf(access.withKey(key))).toBe(56);
  });

  test("of one group does not touch another's: 60 purchases leave 119 of 120 reads", async () => {
    const { key } = await access.anAccount();
    for (let request = 0; request < 61; request += 1) await access.withKey(key);
    expect(await admissionCode(access.withKey(key))).toBe("rate_limited");
    expect(await access.withKey(key, { route: routes.getWallet })).toMatchObject({
      rate: { limit: 120, remaining: 119 },
    });
    expect(await remainingOf(access.withKey(key, { route: routes.listCatalog }))).toBe(118);
  });

  test("of one key does not touch that of the account's other key, nor of its test key", async () => {
    const { key, accountId } = await access.anAccount();
    const second = await createKey(access.store, accountId, { mode: "live" });
    const probe = await createKey(access.store, accountId, { mode: "test" });
    for (let request = 0; request < 5; request += 1) await access.withKey(key);
    expect(await remainingOf(access.withKey(second.key))).toBe(59);
    const admission = await access.withKey(probe.key);
    expect(admission).toMatchObject({
      rate: { remaining: 59 },
      caller: { accountId, keyId: probe.keyId, mode: "test" },
    });
  });

  test("of 25 requests at once counts 25: each sees another number, and 34 are left after the 26th", async () => {
    const { key } = await access.anAccount();
    const left = await Promise.all(Array.from({ length: 25 }, () => remainingOf(access.withKey(key))));
    expect(left.toSorted((a, b) => b - a)).toEqual(Array.from({ length: 25 }, (_, index) => 59 - index));
    expect(await remainingOf(access.withKey(key))).toBe(34);
  });

  test("of 70 requests at once admits 60", async () => {
    const { key } = await access.anAccount();
    const verdicts = await Promise.all(Array.from({ length: 70 }, () => admissionCode(access.withKey(key))));
    expect(verdicts.filter((settlement) => settlement === "admitted")).toHaveLength(60);
    expect(verdicts.filter((settlement) => settlement === "rate_limited")).toHaveLength(10);
  });

  test("stands untouched while the account's status and whitelist change: 57 left after 3 and 2 changes", async () => {
    const { key, accountId } = await access.anAccount();
    await access.withKey(key);
    await setAccountStatus(access.store, accountId, "active");
    await access.withKey(key);
    await setWhitelist(access.store, accountId, [OFFICE, NEIGHBOUR]);
    expect(await remainingOf(access.withKey(key))).toBe(57);
  });
});

describe("the counters in a key's item", () => {
  test("of the minute before go in the same write: 10 minutes in a row, 10 calls, 1 counter", async () => {
    const { key } = await access.anAccount();
    for (let minute = 0; minute < 10; minute += 1) {
      access.nowMs = NOON + minute * MINUTE_MS;
      await access.withKey(key);
    }
    expect(await access.countersOf(key)).toEqual({ [`vtu:${NOON / MINUTE_MS + 9}`]: 1 });
    expect(access.proxy.calls).toHaveLength(10);
  });

  test("that are stale stay until there are 8, and then 1 more update removes all 8 and keeps the current one", async () => {
    const { key } = await access.anAccount();
    const calls: number[] = [];
    for (let visit = 0; visit < 10; visit += 1) {
      access.nowMs = NOON + visit * 2 * MINUTE_MS;
      access.proxy.calls.length = 0;
      await access.withKey(key);
      calls.push(access.proxy.calls.length);
    }
    expect(calls).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 2, 1]);
    const minute = NOON / MINUTE_MS;
    expect(await access.countersOf(key)).toEqual({ [`vtu:${minute + 16}`]: 1, [`vtu:${minute + 18}`]: 1 });
  });

  test("of other groups in the same minute are not stale", async () => {
    const { key } = await access.anAccount();
    for (let visit = 0; visit < 9; visit += 1) {
      access.nowMs = NOON + visit * 2 * MINUTE_MS;
      if (visit === 8) await access.withKey(key, { route: routes.getWallet });
      await access.withKey(key);
    }
    const minute = NOON / MINUTE_MS + 16;
    expect(await access.countersOf(key)).toEqual({ [`vtu:${minute}`]: 1, [`catalog:${minute}`]: 1 });
  });

  test("and 20 IPv6 entries, 3 permissions and the most counters that there can be stay below 1 KB: 1 write unit a request", async () => {
    const whitelist = Array.from({ length: 20 }, (_, index) => `2001:db8:ffff:ffff:ffff:ffff:ffff:${index + 1}`);
    const { key } = await access.anAccount({ whitelist, permissions: ["vtu", "identity", "identity:retrieve"] });
    const sourceIp = "2001:db8:ffff:ffff:ffff:ffff:ffff:14";
    let most = 0;
    for (let visit = 0; visit < 30; visit += 1) {
      access.nowMs = NOON + visit * 2 * MINUTE_MS;
      expect(await admissionCode(access.withKey(key, { sourceIp }))).toBe("admitted");
      expect(await admissionCode(access.withKey(key, { sourceIp, route: routes.getWallet }))).toBe("admitted");
      most = Math.max(most, Object.keys(await access.countersOf(key)).length);
    }
    expect(most).toBeGreaterThanOrEqual(8);
    expect(access.proxy.calls.length).toBeGreaterThan(60);
    expect(access.proxy.calls.filter(({ tableUnits }) => tableUnits !== 1)).toEqual([]);
  });
});

test("a request whose stale counters cannot be removed is admitted all the same", async () => {
  const { key } = await access.anAccount();
  for (let visit = 0; visit < 8; visit += 1) {
    access.nowMs = NOON + visit * 2 * MINUTE_MS;
    await access.withKey(key);
  }
  access.nowMs = NOON + 16 * MINUTE_MS;
  access.proxy.fault = ({ body }) => (body.includes("#stale0") ? "throttled" : undefined);
  try {
    expect(await admissionCode(access.withKey(key))).toBe("admitted");
  } finally {
    access.proxy.fault = () => undefined;
  }
});

describe("a count that meets a change of the key's account", () => {
  test.each(["conflict", "throttled"] as const)("with %s, is made once the change is through", async (fault) => {
    const { key } = await access.anAccount();
    let left = 4;
    access.proxy.fault = ({ operation }) => {
      if (operation !== "UpdateItem" || left === 0) return undefined;
      left -= 1;
      return fault;
    };
    expect(await remainingOf(access.withKey(key))).toBe(59);
    expect(left).toBe(0);
  });

  test("that does not end is given up after 2 s, as a request about which nothing is known", async () => {
    const { key } = await access.anAccount();
    access.proxy.fault = ({ operation }) => (operation === "UpdateItem" ? "conflict" : undefined);
    const startMs = Date.now();
    await expect(access.withKey(key)).rejects.toMatchObject({ name: "TransactionConflictException" });
    expect(Date.now() - startMs).toBeGreaterThan(1_900);
    access.proxy.fault = () => undefined;
    expect(await remainingOf(access.withKey(key))).toBe(59);
  });
});
