import { GetCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { AccountError, findAccount } from "../../shared/access/account-store.ts";
import {
  createAccount,
  createKey,
  revokeKey,
  rotateKey,
  setAccountStatus,
  setWhitelist,
} from "../../shared/access/accounts.ts";
import { admitting } from "../../shared/access/admit.ts";
import { keyHash, newApiKey } from "../../shared/access/api-key.ts";
import { keyRow } from "../../shared/access/key-store.ts";
import { ServiceError } from "../../shared/contract/errors.ts";
import { type Permission, routes } from "../../shared/contract/routes.ts";
import type { Mode } from "../../shared/contract/transaction.ts";
import type { Admission } from "../../shared/platform/api-handler.ts";
import { apiEvent } from "../../shared/platform/api-request.ts";
import { anApiEvent } from "../builders/api-event.ts";
import { type DynamoDbProxy, startDynamoDbProxy } from "../builders/dynamodb-proxy.ts";
import { emulatorClient, freshTables } from "../builders/tables.ts";

const NOON = Date.parse("2026-11-21T12:00:00.000Z");
const MINUTE_MS = 60_000;
const OFFICE = "203.0.113.7";
const NEIGHBOUR = "203.0.113.8";

let tables: Awaited<ReturnType<typeof freshTables>>;
let proxy: DynamoDbProxy;
let now_ms = NOON;
const clock = () => now_ms;

beforeAll(async () => {
  tables = await freshTables();
  proxy = await startDynamoDbProxy(inject("dynamodbEndpoint"));
});
afterAll(() => proxy.stop());
beforeEach(() => {
  now_ms = NOON;
  proxy.calls.length = 0;
});

const store = () => ({ db: tables.db, accessTable: tables.accessTable, ledgerTable: tables.ledgerTable, clock });

type AccountWish = {
  readonly whitelist?: readonly string[];
  readonly permissions?: readonly Permission[];
  readonly mode?: Mode;
};

/** An account with one key. */
const anAccount = async ({ whitelist = [OFFICE], permissions, mode = "live" }: AccountWish = {}) => {
  const { account_id } = await createAccount(store(), { name: "demo", whitelist });
  const created = await createKey(store(), account_id, { mode, ...(permissions && { permissions }) });
  return { accountId: account_id, ...created };
};

type Ask = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly sourceIp?: string;
  readonly route?: (typeof routes)[keyof typeof routes];
};

/** One request through the gates, every DynamoDB call of which is counted. */
const admit = ({ headers = {}, sourceIp = OFFICE, route = routes.buyData }: Ask): Promise<Admission> =>
  admitting(
    emulatorClient(proxy.endpoint),
    tables.accessTable,
    clock,
  )(route, apiEvent.parse(anApiEvent({ method: route.method, path: route.path, headers, sourceIp })));
const withKey = (key: string, ask: Omit<Ask, "headers"> = {}) =>
  admit({ ...ask, headers: { authorization: `Bearer ${key}` } });

/** What the gate said: the code it refused with, or `admitted`. */
const verdictOf = async (admission: Promise<Admission>): Promise<string> => {
  try {
    const result = await admission;
    return "refusal" in result ? result.refusal.code : "admitted";
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
};
const remainingOf = async (admission: Promise<Admission>): Promise<number> => (await admission).rate.remaining;

const keyItem = async (key: string) => {
  const { Item } = await tables.db.send(
    new GetCommand({ TableName: tables.accessTable, Key: { pk: keyHash(key) }, ConsistentRead: true }),
  );
  return keyRow.parse(Item);
};
const countersOf = async (key: string) =>
  Object.fromEntries(Object.entries(await keyItem(key)).filter(([name]) => name.includes(":")));

describe("a request without a good key costs no DynamoDB call", () => {
  const good = newApiKey("live");
  const misspelt = `${good.slice(0, 20)}${good[20] === "A" ? "B" : "A"}${good.slice(21)}`;
  const bad: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
    ["no header at all", {}, "missing_api_key"],
    ["an empty X-API-KEY", { "x-api-key": "" }, "missing_api_key"],
    ["half a key", { authorization: `Bearer ${good.slice(0, 21)}` }, "invalid_api_key"],
    [
      "a key with 1 wrong letter, so that its checksum fails",
      { authorization: `Bearer ${misspelt}` },
      "invalid_api_key",
    ],
    [
      "a key of the other mode's prefix",
      { authorization: `Bearer ${good.replace("live_", "test_")}` },
      "invalid_api_key",
    ],
    ["a key without Bearer", { authorization: good }, "invalid_api_key"],
    ["a key as Basic", { authorization: `Basic ${good}` }, "invalid_api_key"],
    ["Bearer without a key", { authorization: "Bearer " }, "invalid_api_key"],
    ["two keys after Bearer", { authorization: `Bearer ${good} ${good}` }, "invalid_api_key"],
    ["garbage in X-API-KEY", { "x-api-key": "' OR 1=1" }, "invalid_api_key"],
    [
      "a good key in X-API-KEY behind a bad Bearer",
      { authorization: "Bearer x", "x-api-key": good },
      "invalid_api_key",
    ],
  ];
  test.for(bad)("%s", async ([, headers, code]) => {
    expect(await verdictOf(admit({ headers }))).toBe(code);
    expect(proxy.calls).toEqual([]);
  });
});

test("a well-formed key that nobody was given is 401 after 1 call, and leaves nothing in the table", async () => {
  const key = newApiKey("live");
  expect(await verdictOf(withKey(key))).toBe("invalid_api_key");
  expect(proxy.calls).toHaveLength(1);
  const { Item } = await tables.db.send(new GetCommand({ TableName: tables.accessTable, Key: { pk: keyHash(key) } }));
  expect(Item).toBeUndefined();
});

describe("a good key is admitted", () => {
  test("in 1 call of 1 write unit, as its account and its mode, with 59 of 60 left", async () => {
    const { key, keyId, accountId } = await anAccount();
    expect(await withKey(key)).toEqual({
      rate: { limit: 60, remaining: 59 },
      caller: { accountId, keyId, mode: "live" },
    });
    expect(proxy.calls).toMatchObject([{ operation: "UpdateItem", tables: [tables.accessTable], tableUnits: 1 }]);
  });

  test("by X-API-KEY, by bearer in lower case and by Bearer with 2 blanks", async () => {
    const { key } = await anAccount();
    const ways: readonly Readonly<Record<string, string>>[] = [
      { "x-api-key": key },
      { "x-api-key": ` ${key} ` },
      { authorization: `bearer ${key}` },
      { authorization: `Bearer  ${key} ` },
    ];
    for (const headers of ways) expect(await verdictOf(admit({ headers })), JSON.stringify(headers)).toBe("admitted");
  });
});

describe("the gates stand in this order", () => {
  test("a revoked key is 401 from the next request on; the account's other key goes on", async () => {
    const { key, keyId, accountId } = await anAccount();
    const other = await createKey(store(), accountId, { mode: "live" });
    expect(await verdictOf(withKey(key))).toBe("admitted");
    await revokeKey(store(), accountId, keyId);
    expect(await verdictOf(withKey(key))).toBe("invalid_api_key");
    expect(await verdictOf(withKey(other.key))).toBe("admitted");
    await revokeKey(store(), accountId, keyId);
    expect(await verdictOf(withKey(key))).toBe("invalid_api_key");
  });

  test("a rotated key is admitted up to its end, in 1 call, and 401 from then on; the new one goes on", async () => {
    const { key, keyId, accountId } = await anAccount();
    const fresh = await rotateKey(store(), accountId, keyId, 5 * MINUTE_MS);
    now_ms = NOON + 5 * MINUTE_MS - 1;
    proxy.calls.length = 0;
    expect(await verdictOf(withKey(key))).toBe("admitted");
    expect(proxy.calls).toHaveLength(1);
    now_ms = NOON + 5 * MINUTE_MS;
    expect(await verdictOf(withKey(key))).toBe("invalid_api_key");
    expect(await verdictOf(withKey(fresh.key))).toBe("admitted");
  });

  test("a restricted account is 403 for its 2 keys at once, and no longer once that is lifted", async () => {
    const { key, accountId } = await anAccount();
    const probe = await createKey(store(), accountId, { mode: "test" });
    await setAccountStatus(store(), accountId, "restricted");
    expect(await verdictOf(withKey(key))).toBe("account_restricted");
    expect(await verdictOf(withKey(probe.key))).toBe("account_restricted");
    await setAccountStatus(store(), accountId, "active");
    expect(await verdictOf(withKey(key))).toBe("admitted");
  });

  test("a key made while its account is restricted is 403 too", async () => {
    const { accountId } = await anAccount();
    await setAccountStatus(store(), accountId, "restricted");
    const { key } = await createKey(store(), accountId, { mode: "live" });
    expect(await verdictOf(withKey(key))).toBe("account_restricted");
  });

  test("restricted comes before permission, permission before address, address before rate", async () => {
    const { key, accountId } = await anAccount({ permissions: ["identity"] });
    await setAccountStatus(store(), accountId, "restricted");
    expect(await verdictOf(withKey(key, { sourceIp: NEIGHBOUR }))).toBe("account_restricted");
    await setAccountStatus(store(), accountId, "active");
    expect(await verdictOf(withKey(key, { sourceIp: NEIGHBOUR }))).toBe("permission_denied");
    expect(await verdictOf(withKey(key, { sourceIp: NEIGHBOUR, route: routes.getWallet }))).toBe("ip_not_whitelisted");
    for (let request = 0; request < 120; request += 1)
      await withKey(key, { sourceIp: NEIGHBOUR, route: routes.getWallet });
    expect(await verdictOf(withKey(key, { sourceIp: NEIGHBOUR, route: routes.getWallet }))).toBe("ip_not_whitelisted");
    expect(await verdictOf(withKey(key, { route: routes.getWallet }))).toBe("rate_limited");
  });
});

describe("permissions", () => {
  test("of a new key are vtu and identity", async () => {
    const { key } = await anAccount();
    expect((await keyItem(key)).permissions).toEqual(new Set(["vtu", "identity"]));
  });

  test("without vtu leave the catalog, the wallet and the lookup", async () => {
    const { key } = await anAccount({ permissions: ["identity"] });
    expect(await verdictOf(withKey(key))).toBe("permission_denied");
    for (const route of [routes.listCatalog, routes.getWallet, routes.getTransaction, routes.listTransactions]) {
      expect(await verdictOf(withKey(key, { route })), route.path).toBe("admitted");
    }
  });

  test("may be none at all: the catalog is still there, a purchase is 403", async () => {
    const { key } = await anAccount({ permissions: [] });
    expect(await verdictOf(withKey(key))).toBe("permission_denied");
    expect(await verdictOf(withKey(key, { route: routes.listCatalog }))).toBe("admitted");
  });
});

describe("the whitelist", () => {
  test("of another account lets nobody in here: 403, and it names the address that we saw", async () => {
    const { key } = await anAccount();
    await anAccount({ whitelist: [NEIGHBOUR] });
    const admission = await withKey(key, { sourceIp: NEIGHBOUR });
    if (!("refusal" in admission)) expect.unreachable();
    expect([admission.refusal.code, admission.refusal.message]).toEqual([
      "ip_not_whitelisted",
      `The IP address ${NEIGHBOUR} is not whitelisted`,
    ]);
  });

  test("that is empty means nobody", async () => {
    const { key } = await anAccount({ whitelist: [] });
    expect(await verdictOf(withKey(key))).toBe("ip_not_whitelisted");
  });

  test("holds for test keys too", async () => {
    const { key } = await anAccount({ mode: "test" });
    expect(await verdictOf(withKey(key))).toBe("admitted");
    expect(await verdictOf(withKey(key, { sourceIp: NEIGHBOUR }))).toBe("ip_not_whitelisted");
  });

  test("with one IPv6 address keeps its neighbour out, and with a /64 the neighbouring /64", async () => {
    const { key } = await anAccount({ whitelist: ["2001:db8::1", "2001:db8:1:2::/64"] });
    const asked = ["2001:db8::1", "2001:db8::2", "2001:db8:1:2:ffff::1", "2001:db8:1:3::", "2001:db8:1:1:ffff::"];
    const verdicts = await Promise.all(asked.map((sourceIp) => verdictOf(withKey(key, { sourceIp }))));
    expect(verdicts).toEqual([
      "admitted",
      "ip_not_whitelisted",
      "admitted",
      "ip_not_whitelisted",
      "ip_not_whitelisted",
    ]);
  });

  test("is not fooled by X-Forwarded-For, X-Real-IP or Forwarded", async () => {
    const { key } = await anAccount();
    const headers = {
      authorization: `Bearer ${key}`,
      "x-forwarded-for": OFFICE,
      "x-real-ip": OFFICE,
      forwarded: `for=${OFFICE}`,
    };
    expect(await verdictOf(admit({ headers, sourceIp: NEIGHBOUR }))).toBe("ip_not_whitelisted");
  });

  test("is replaced for all 2 keys at once, also by an empty one", async () => {
    const { key, accountId } = await anAccount();
    const other = await createKey(store(), accountId, { mode: "test" });
    await setWhitelist(store(), accountId, ["198.51.100.0/24", "2001:db8::/32"]);
    for (const text of [key, other.key]) {
      expect(await verdictOf(withKey(text))).toBe("ip_not_whitelisted");
      expect(await verdictOf(withKey(text, { sourceIp: "198.51.100.77" }))).toBe("admitted");
    }
    await setWhitelist(store(), accountId, []);
    expect(await verdictOf(withKey(key, { sourceIp: "198.51.100.77" }))).toBe("ip_not_whitelisted");
    await setWhitelist(store(), accountId, [OFFICE]);
    expect(await verdictOf(withKey(key))).toBe("admitted");
  });

  test("may name the same range twice, in 2 spellings", async () => {
    const { key, accountId } = await anAccount({ whitelist: [OFFICE, `${OFFICE}/32`] });
    expect(await verdictOf(withKey(key))).toBe("admitted");
    await setWhitelist(store(), accountId, ["198.51.100.1/24", "198.51.100.2/24", "2001:db8::1", "2001:DB8:0::1"]);
    expect(await verdictOf(withKey(key, { sourceIp: "198.51.100.9" }))).toBe("admitted");
  });

  test("of 21 entries, or with one that is no address, is refused and changes nothing", async () => {
    const { key, accountId } = await anAccount();
    const tooMany = Array.from({ length: 21 }, (_, index) => `198.51.100.${index}`);
    for (const whitelist of [tooMany, ["198.51.100.1", "127.1"], [""], ["office.example.com"]]) {
      await expect(setWhitelist(store(), accountId, whitelist)).rejects.toThrow(AccountError);
      await expect(createAccount(store(), { name: "demo", whitelist })).rejects.toThrow(AccountError);
    }
    expect((await findAccount(store(), accountId))?.whitelist).toEqual([OFFICE]);
    expect(await verdictOf(withKey(key))).toBe("admitted");
  });
});

describe("the rate", () => {
  test("of 60 purchases a minute: the 61st is 429 with the seconds to the next minute, which begins anew", async () => {
    const { key } = await anAccount();
    now_ms = NOON + 17_500;
    for (let left = 59; left >= 0; left -= 1) expect(await remainingOf(withKey(key))).toBe(left);
    const refused = await withKey(key);
    if (!("refusal" in refused)) expect.unreachable();
    expect(refused.rate).toEqual({ limit: 60, remaining: 0 });
    expect([refused.refusal.code, refused.refusal.details.retryAfterS]).toEqual(["rate_limited", 43]);
    now_ms = NOON + 59_999;
    expect(await verdictOf(withKey(key))).toBe("rate_limited");
    now_ms = NOON + MINUTE_MS;
    expect(await remainingOf(withKey(key))).toBe(59);
  });

  test("counts what is answered 403: after 3 of them 56 of 60 are left", async () => {
    const { key } = await anAccount();
    for (let request = 0; request < 3; request += 1) {
      expect(await verdictOf(withKey(key, { sourceIp: NEIGHBOUR }))).toBe("ip_not_whitelisted");
    }
    expect(await remainingOf(withKey(key))).toBe(56);
  });

  test("of one group does not touch another's: 60 purchases leave 119 of 120 reads", async () => {
    const { key } = await anAccount();
    for (let request = 0; request < 61; request += 1) await withKey(key);
    expect(await verdictOf(withKey(key))).toBe("rate_limited");
    expect(await withKey(key, { route: routes.getWallet })).toMatchObject({ rate: { limit: 120, remaining: 119 } });
    expect(await remainingOf(withKey(key, { route: routes.listCatalog }))).toBe(118);
  });

  test("of one key does not touch that of the account's other key, nor of its test key", async () => {
    const { key, accountId } = await anAccount();
    const second = await createKey(store(), accountId, { mode: "live" });
    const probe = await createKey(store(), accountId, { mode: "test" });
    for (let request = 0; request < 5; request += 1) await withKey(key);
    expect(await remainingOf(withKey(second.key))).toBe(59);
    const admission = await withKey(probe.key);
    expect(admission).toMatchObject({
      rate: { remaining: 59 },
      caller: { accountId, keyId: probe.keyId, mode: "test" },
    });
  });

  test("of 25 requests at once counts 25: each sees another number, and 34 are left after the 26th", async () => {
    const { key } = await anAccount();
    const left = await Promise.all(Array.from({ length: 25 }, () => remainingOf(withKey(key))));
    expect(left.toSorted((a, b) => b - a)).toEqual(Array.from({ length: 25 }, (_, index) => 59 - index));
    expect(await remainingOf(withKey(key))).toBe(34);
  });

  test("of 70 requests at once admits 60", async () => {
    const { key } = await anAccount();
    const verdicts = await Promise.all(Array.from({ length: 70 }, () => verdictOf(withKey(key))));
    expect(verdicts.filter((verdict) => verdict === "admitted")).toHaveLength(60);
    expect(verdicts.filter((verdict) => verdict === "rate_limited")).toHaveLength(10);
  });

  test("stands untouched while the account's status and whitelist change: 57 left after 3 and 2 changes", async () => {
    const { key, accountId } = await anAccount();
    await withKey(key);
    await setAccountStatus(store(), accountId, "active");
    await withKey(key);
    await setWhitelist(store(), accountId, [OFFICE, NEIGHBOUR]);
    expect(await remainingOf(withKey(key))).toBe(57);
  });
});

describe("the counters in a key's item", () => {
  test("of the minute before go in the same write: 10 minutes in a row, 10 calls, 1 counter", async () => {
    const { key } = await anAccount();
    for (let minute = 0; minute < 10; minute += 1) {
      now_ms = NOON + minute * MINUTE_MS;
      await withKey(key);
    }
    expect(await countersOf(key)).toEqual({ [`vtu:${NOON / MINUTE_MS + 9}`]: 1 });
    expect(proxy.calls).toHaveLength(10);
  });

  test("that are stale stay until there are 8, and then 1 more update removes all 8 and keeps the current one", async () => {
    const { key } = await anAccount();
    const calls: number[] = [];
    for (let visit = 0; visit < 10; visit += 1) {
      now_ms = NOON + visit * 2 * MINUTE_MS;
      proxy.calls.length = 0;
      await withKey(key);
      calls.push(proxy.calls.length);
    }
    expect(calls).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 2, 1]);
    const minute = NOON / MINUTE_MS;
    expect(await countersOf(key)).toEqual({ [`vtu:${minute + 16}`]: 1, [`vtu:${minute + 18}`]: 1 });
  });

  test("of other groups in the same minute are not stale", async () => {
    const { key } = await anAccount();
    for (let visit = 0; visit < 9; visit += 1) {
      now_ms = NOON + visit * 2 * MINUTE_MS;
      if (visit === 8) await withKey(key, { route: routes.getWallet });
      await withKey(key);
    }
    const minute = NOON / MINUTE_MS + 16;
    expect(await countersOf(key)).toEqual({ [`vtu:${minute}`]: 1, [`catalog:${minute}`]: 1 });
  });

  test("and 20 IPv6 entries, 3 permissions and the most counters that there can be stay below 1 KB: 1 write unit a request", async () => {
    const whitelist = Array.from({ length: 20 }, (_, index) => `2001:db8:ffff:ffff:ffff:ffff:ffff:${index + 1}`);
    const { key } = await anAccount({ whitelist, permissions: ["vtu", "identity", "identity:retrieve"] });
    const sourceIp = "2001:db8:ffff:ffff:ffff:ffff:ffff:14";
    let most = 0;
    for (let visit = 0; visit < 30; visit += 1) {
      now_ms = NOON + visit * 2 * MINUTE_MS;
      expect(await verdictOf(withKey(key, { sourceIp }))).toBe("admitted");
      expect(await verdictOf(withKey(key, { sourceIp, route: routes.getWallet }))).toBe("admitted");
      most = Math.max(most, Object.keys(await countersOf(key)).length);
    }
    expect(most).toBeGreaterThanOrEqual(8);
    expect(proxy.calls.length).toBeGreaterThan(60);
    expect(proxy.calls.filter(({ tableUnits }) => tableUnits !== 1)).toEqual([]);
  });
});

test("nothing of a key's text is in any table", async () => {
  const { key } = await anAccount();
  const secretPart = key.slice(5, 37);
  for (const TableName of [tables.accessTable, tables.ledgerTable]) {
    const { Items = [] } = await tables.db.send(new ScanCommand({ TableName }));
    expect(Items.length).toBeGreaterThan(0);
    expect(JSON.stringify(Items)).not.toContain(secretPart);
  }
});

test("of 10 changes at once, each that succeeded is in the account, and its key says the same", async () => {
  const { key, accountId } = await anAccount();
  const changes = Array.from({ length: 10 }, (_, index) =>
    setWhitelist(store(), accountId, [OFFICE, `198.51.100.${index}`]),
  );
  const succeeded = (await Promise.allSettled(changes)).filter(({ status }) => status === "fulfilled").length;
  expect(succeeded).toBeGreaterThan(0);
  const account = await findAccount(store(), accountId);
  // Made with version 1, raised by its key, and by each change.
  expect(account?.version).toBe(2 + succeeded);
  const address = account?.whitelist[1] ?? "";
  expect(await verdictOf(withKey(key, { sourceIp: address }))).toBe("admitted");
  expect((await keyItem(key)).whitelist?.size).toBe(2);
});

test("an account or a key that does not exist is an AccountError, and no account is made by it", async () => {
  const { accountId } = await anAccount();
  await expect(createKey(store(), "acc_none", { mode: "live" })).rejects.toThrow(AccountError);
  await expect(setAccountStatus(store(), "acc_none", "restricted")).rejects.toThrow(AccountError);
  await expect(revokeKey(store(), accountId, "key_none")).rejects.toThrow(AccountError);
  expect(await findAccount(store(), "acc_none")).toBeUndefined();
});

test("a table that cannot be written is an error, not an unknown key", async () => {
  const { key } = await anAccount();
  proxy.fault = () => "throttled";
  await expect(withKey(key)).rejects.toSatisfy((error) => !(error instanceof ServiceError));
  proxy.fault = () => undefined;
  expect(await verdictOf(withKey(key))).toBe("admitted");
});

test("a request whose stale counters cannot be removed is admitted all the same", async () => {
  const { key } = await anAccount();
  for (let visit = 0; visit < 8; visit += 1) {
    now_ms = NOON + visit * 2 * MINUTE_MS;
    await withKey(key);
  }
  now_ms = NOON + 16 * MINUTE_MS;
  proxy.fault = ({ body }) => (body.includes("#stale0") ? "throttled" : undefined);
  try {
    expect(await verdictOf(withKey(key))).toBe("admitted");
  } finally {
    proxy.fault = () => undefined;
  }
});
