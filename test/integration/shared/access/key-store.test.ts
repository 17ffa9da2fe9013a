import { describe, expect, test } from "vitest";
import { setAccountLimits, setAccountStatus, setWhitelist } from "../../../../shared/access/accounts.ts";
import { createKey, setKeyLimits } from "../../../../shared/access/keys.ts";
import { type OrderLimits, orderLimitName } from "../../../../shared/contract/order-limits.ts";
import { entitlementSchema, permissionSchema } from "../../../../shared/contract/permission.ts";
import { routes } from "../../../../shared/contract/routes.ts";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { accessForTests, admissionCode, NEIGHBOUR, OFFICE, remainingOf } from "../../../builders/ledger/access.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const access = await accessForTests();

describe("the rate of a key", () => {
  test("the rate of a key is 60 purchases per minute: the 61st is 429 with the seconds to the next minute, which starts at 59 again", async () => {
    const { key } = await access.anAccount();
    access.nowMs = NOON_MS + 17_500;
    for (let left = 59; left >= 0; left -= 1) expect(await remainingOf(access.withKey(key))).toBe(left);
    const refused = await access.withKey(key);
    if (!("refusal" in refused)) expect.unreachable();
    expect(refused.rate).toEqual({ limit: 60, remaining: 0 });
    expect([refused.refusal.code, refused.refusal.details.retryAfterS]).toEqual(["rate_limited", 43]);
    access.nowMs = NOON_MS + 59_999;
    expect(await admissionCode(access.withKey(key))).toBe("rate_limited");
    access.nowMs = NOON_MS + MINUTE_MS;
    expect(await remainingOf(access.withKey(key))).toBe(59);
  });

  test("the rate of a key counts requests that are 403: after 3 of them and a good one 56 of 60 are left", async () => {
    const { key } = await access.anAccount();
    for (let request = 0; request < 3; request += 1) {
      expect(await admissionCode(access.withKey(key, { sourceIp: NEIGHBOUR }))).toBe("ip_not_whitelisted");
    }
    expect(await remainingOf(access.withKey(key))).toBe(56);
  });

  test("the rate of a key is separate for each group: after all purchases the first read leaves 119 of 120", async () => {
    const { key } = await access.anAccount();
    await access.useUp(key, "vtu");
    expect(await admissionCode(access.withKey(key))).toBe("rate_limited");
    expect(await access.withKey(key, { route: routes.getWallet })).toMatchObject({
      rate: { limit: 120, remaining: 119 },
    });
    expect(await remainingOf(access.withKey(key, { route: routes.listCatalog }))).toBe(118);
  });

  test("the rate of a key is separate for each key of an account, live and test", async () => {
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

  test("the rate of a key admits 60 of 70 simultaneous requests, and each of them sees another number", async () => {
    const { key } = await access.anAccount();
    const admissions = await Promise.all(Array.from({ length: 70 }, () => access.withKey(key)));
    const admitted = admissions.filter((admission) => !("refusal" in admission));
    const left = admitted.map(({ rate }) => rate.remaining).toSorted((a, b) => b - a);
    expect(left).toEqual(Array.from({ length: 60 }, (_, index) => 59 - index));
    const refused = admissions.flatMap((admission) => ("refusal" in admission ? [admission.refusal.code] : []));
    expect(refused).toEqual(Array(10).fill("rate_limited"));
  });

  test("the rate of a key survives changes of the account: 57 are left after 3 requests, a status change and a whitelist change", async () => {
    const { key, accountId } = await access.anAccount();
    await access.withKey(key);
    await setAccountStatus(access.store, accountId, "active");
    await access.withKey(key);
    await setWhitelist(access.store, accountId, [OFFICE, NEIGHBOUR]);
    expect(await remainingOf(access.withKey(key))).toBe(57);
  });
});

describe("the counters in a key's item", () => {
  test("a key's counters of a group that is no longer in the table are removed with the others, and no other attribute is", async () => {
    const { key } = await access.anAccount();
    const before = await access.keyItem(key);
    const { db, accessTable } = access.tables;
    const former = Object.fromEntries(Array.from({ length: 8 }, (_, minute) => [`former:${minute}`, 1]));
    await db.put({ TableName: accessTable, Item: { ...before, ...former } });
    await access.withKey(key);
    expect(await access.keyItem(key)).toEqual({ ...before, [`vtu:${NOON_MS / MINUTE_MS}`]: 1 });
  });

  test("a key's counters of the previous minute are removed in the same write: 10 consecutive minutes are 10 calls and 1 counter", async () => {
    const { key } = await access.anAccount();
    for (let minute = 0; minute < 10; minute += 1) {
      access.nowMs = NOON_MS + minute * MINUTE_MS;
      await access.withKey(key);
    }
    expect(await access.countersOf(key)).toEqual({ [`vtu:${NOON_MS / MINUTE_MS + 9}`]: 1 });
    expect(access.proxy.calls).toHaveLength(10);
  });

  test("a key's counters stay until 8 are stale, then 1 more update removes all 8 and keeps the current one", async () => {
    const { key } = await access.anAccount();
    const calls: number[] = [];
    for (let visit = 0; visit < 10; visit += 1) {
      access.nowMs = NOON_MS + visit * 2 * MINUTE_MS;
      access.proxy.calls.length = 0;
      await access.withKey(key);
      calls.push(access.proxy.calls.length);
    }
    expect(calls).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 2, 1]);
    const minute = NOON_MS / MINUTE_MS;
    expect(await access.countersOf(key)).toEqual({ [`vtu:${minute + 16}`]: 1, [`vtu:${minute + 18}`]: 1 });
  });

  test("a key's counters of another group in the same minute stay when stale ones are removed", async () => {
    const { key } = await access.anAccount();
    for (let visit = 0; visit < 9; visit += 1) {
      access.nowMs = NOON_MS + visit * 2 * MINUTE_MS;
      if (visit === 8) await access.withKey(key, { route: routes.getWallet });
      await access.withKey(key);
    }
    const minute = NOON_MS / MINUTE_MS + 16;
    expect(await access.countersOf(key)).toEqual({ [`vtu:${minute}`]: 1, [`catalog:${minute}`]: 1 });
  });

  test("limits of a key that another person has changed since are not replaced", async () => {
    const { accountId, keyId } = await access.anAccount();
    const limit = (day_orders: number, before?: OrderLimits) =>
      setKeyLimits(access.store, accountId, keyId, { day_orders }, before);
    await limit(1, {});
    await expect(limit(2, {})).rejects.toThrow("Another person has changed the limits");
    const { keys, version } = await limit(3, { day_orders: 1 });
    // The answer was lost, and the same is sent again.
    expect(await limit(3, { day_orders: 1 })).toMatchObject({ version });
    expect(keys.map(({ order_limits }) => order_limits)).toEqual([{ day_orders: 3 }]);
  });

  test("a key's counters fit into 1 KB with 20 IPv6 entries, all permissions, quotas and limits, so that a request costs 1 write unit", async () => {
    const whitelist = Array.from({ length: 20 }, (_, index) => `2001:db8:ffff:ffff:ffff:ffff:ffff:${index + 1}`);
    const entitlements = Object.fromEntries(entitlementSchema.options.map((each) => [each, 1_000_000]));
    const { key, accountId, keyId } = await access.anAccount({
      ...{ whitelist, entitlements, permissions: permissionSchema.options },
    });
    const limits = Object.fromEntries(orderLimitName.options.map((each) => [each, 987_654_321]));
    await setAccountLimits(access.store, accountId, limits);
    await setKeyLimits(access.store, accountId, keyId, limits);
    access.reset();
    const sourceIp = "2001:db8:ffff:ffff:ffff:ffff:ffff:14";
    let most = 0;
    for (let visit = 0; visit < 12; visit += 1) {
      access.nowMs = NOON_MS + visit * 2 * MINUTE_MS;
      expect(await admissionCode(access.withKey(key, { sourceIp }))).toBe("admitted");
      expect(await admissionCode(access.withKey(key, { sourceIp, route: routes.getWallet }))).toBe("admitted");
      most = Math.max(most, Object.keys(await access.countersOf(key)).length);
    }
    expect(most).toBeGreaterThanOrEqual(8);
    expect(access.proxy.calls.length).toBeGreaterThan(24);
    expect(access.proxy.calls.filter(({ tableUnits }) => tableUnits !== 1)).toEqual([]);
  });
});

test("a request is admitted even if its key's stale counters cannot be removed", async () => {
  const { key } = await access.anAccount();
  for (let visit = 0; visit < 8; visit += 1) {
    access.nowMs = NOON_MS + visit * 2 * MINUTE_MS;
    await access.withKey(key);
  }
  access.nowMs = NOON_MS + 16 * MINUTE_MS;
  access.proxy.fault = ({ body }) => (body.includes("#stale0") ? "throttled" : undefined);
  try {
    expect(await admissionCode(access.withKey(key))).toBe("admitted");
  } finally {
    access.proxy.fault = () => undefined;
  }
});

describe("the count of a request whose account is being changed", () => {
  test.each(["conflict", "throttled"] as const)(
    "the count of a request whose account is being changed is retried after %s until the change is written",
    async (fault) => {
      const { key } = await access.anAccount();
      let left = 4;
      access.proxy.fault = ({ operation }) => {
        if (operation !== "UpdateItem" || left === 0) return undefined;
        left -= 1;
        return fault;
      };
      expect(await remainingOf(access.withKey(key))).toBe(59);
      expect(left).toBe(0);
    },
  );

  test("the count of a request whose account is being changed fails after 2 s if the change does not end, and the next request is counted as the first", async () => {
    const { key } = await access.anAccount();
    access.proxy.fault = ({ operation }) => (operation === "UpdateItem" ? "conflict" : undefined);
    const startMs = Date.now();
    await expect(access.withKey(key)).rejects.toMatchObject({ name: "TransactionConflictException" });
    expect(Date.now() - startMs).toBeGreaterThan(1_900);
    access.proxy.fault = () => undefined;
    expect(await remainingOf(access.withKey(key))).toBe(59);
  });
});
