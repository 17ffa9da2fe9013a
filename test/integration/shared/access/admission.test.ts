import { describe, expect, test } from "vitest";
import { setAccountStatus } from "../../../../shared/access/accounts.ts";
import { hashApiKey, newApiKey } from "../../../../shared/access/api-key.ts";
import { revokeKey } from "../../../../shared/access/keys.ts";
import { ServiceError } from "../../../../shared/contract/errors.ts";
import { routes } from "../../../../shared/contract/routes.ts";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { accessForTests, admissionCode, NEIGHBOUR, OFFICE } from "../../../builders/ledger/access.ts";
import { CHECKSUM_KEY } from "../../../builders/ledger/secrets.ts";

const access = await accessForTests();

describe("a malformed key", () => {
  const good = newApiKey("live", CHECKSUM_KEY);
  const otherMode = good.replace("live_", "test_");
  const misspelt = `${good.slice(0, 20)}${good[20] === "A" ? "B" : "A"}${good.slice(21)}`;
  const hint = ": send it as Authorization: Bearer <key>, without quotation marks";
  const invalid = "The API key is not valid";
  const anything = expect.stringMatching(/./);
  test.for<[string, Readonly<Record<string, string>>, string, unknown]>([
    ["no header at all", {}, "missing_api_key", anything],
    ["an empty X-API-KEY", { "x-api-key": "" }, "missing_api_key", anything],
    ["half a key", { authorization: `Bearer ${good.slice(0, 21)}` }, "invalid_api_key", invalid],
    ["a key with 1 wrong letter", { authorization: `Bearer ${misspelt}` }, "invalid_api_key", invalid],
    ["the other mode's prefix", { authorization: `Bearer ${otherMode}` }, "invalid_api_key", invalid],
    ["a key without Bearer", { authorization: good }, "invalid_api_key", `${invalid}${hint}`],
    ["a key as Basic", { authorization: `Basic ${good}` }, "invalid_api_key", `${invalid}${hint}`],
    ["a key behind two words", { authorization: `Token Bearer ${good}` }, "invalid_api_key", anything],
    ["Bearer without a key", { authorization: "Bearer " }, "invalid_api_key", `${invalid}${hint}`],
    ["a quoted key", { authorization: `Bearer "${good}"` }, "invalid_api_key", `${invalid}${hint}`],
    ["two keys after Bearer", { authorization: `Bearer ${good} ${good}` }, "invalid_api_key", anything],
    ["garbage in X-API-KEY", { "x-api-key": "' OR 1=1" }, "invalid_api_key", anything],
    ["a bad key before a good one", { authorization: "Bearer x", "x-api-key": good }, "invalid_api_key", anything],
    ["a bad X-API-KEY behind no Bearer", { authorization: good, "x-api-key": "x" }, "invalid_api_key", invalid],
  ])(
    "%s costs no DynamoDB call, and is refused with the form of the header where that helps",
    async ([, headers, code, message]) => {
      await expect(access.admit({ headers })).rejects.toMatchObject({ code, message });
      expect(access.proxy.calls).toEqual([]);
    },
  );
});

test("an unknown well-formed key is 401 after 1 call and leaves nothing in the table", async () => {
  const key = newApiKey("live", CHECKSUM_KEY);
  expect(await admissionCode(access.withKey(key))).toBe("invalid_api_key");
  expect(access.proxy.calls).toHaveLength(1);
  const { Item } = await access.tables.db.get({ TableName: access.tables.accessTable, Key: { pk: hashApiKey(key) } });
  expect(Item).toBeUndefined();
});

describe("a valid key", () => {
  test("a valid key is admitted in 1 call of 1 write unit, with its account, its mode and 59 of 60 requests left", async () => {
    const { key, keyId, accountId } = await access.anAccount();
    expect(await access.withKey(key)).toEqual({
      rate: { limit: 60, remaining: 59 },
      caller: {
        accountId,
        keyId,
        mode: "live",
        entitlements: { vtu: null, identity: null, "identity:advanced": null },
      },
    });
    expect(access.proxy.calls).toMatchObject([
      { operation: "UpdateItem", tables: [access.tables.accessTable], tableUnits: 1 },
    ]);
  });

  test("a valid key is admitted in X-API-KEY, after bearer in lower case and after Bearer with 2 spaces or a tab", async () => {
    const { key } = await access.anAccount();
    const ways: readonly Readonly<Record<string, string>>[] = [
      { "x-api-key": key },
      { "x-api-key": ` ${key} ` },
      { authorization: `bearer ${key}` },
      { authorization: `Bearer  ${key} ` },
      { authorization: `Bearer\t${key}\t` },
    ];
    for (const headers of ways)
      expect(await admissionCode(access.admit({ headers })), JSON.stringify(headers)).toBe("admitted");
  });

  test("a valid key in both headers is admitted, and two different valid keys are refused without a call", async () => {
    const { key } = await access.anAccount();
    const another = await access.anAccount();
    const bothWith = (apiKey: string) => ({ headers: { authorization: `Bearer ${key}`, "x-api-key": apiKey } });
    for (const apiKey of [key, ` ${key} `, ""]) {
      expect(await admissionCode(access.admit(bothWith(apiKey)))).toBe("admitted");
    }
    const calls = access.proxy.calls.length;
    await expect(access.admit(bothWith(another.key))).rejects.toMatchObject({
      code: "invalid_api_key",
      message: "The API key is not valid: Authorization and X-API-KEY have different keys, send one of them",
    });
    expect(access.proxy.calls).toHaveLength(calls);
  });
});

test("while the key of the checksums cannot be read, a valid key is admitted, and an invented one is looked up", async () => {
  const { key } = await access.anAccount();
  const checksums = async () => undefined;
  expect(await admissionCode(access.withKey(key, { checksums }))).toBe("admitted");
  const misspelt = `${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`;
  expect(await admissionCode(access.withKey(misspelt, { checksums }))).toBe("invalid_api_key");
  expect(access.proxy.calls).toHaveLength(2);
});

test("a restriction precedes the permission, the permission the address, the address the rate", async () => {
  const { key, accountId } = await access.anAccount({ permissions: ["identity", "read"] });
  const codeOf = (ask: Parameters<typeof access.withKey>[1]) => admissionCode(access.withKey(key, ask));
  const { getWallet: route } = routes;
  await setAccountStatus(access.store, accountId, "restricted");
  expect(await codeOf({ sourceIp: NEIGHBOUR })).toBe("account_restricted");
  await setAccountStatus(access.store, accountId, "active");
  expect(await codeOf({ sourceIp: NEIGHBOUR })).toBe("permission_denied");
  expect(await codeOf({ sourceIp: NEIGHBOUR, route })).toBe("ip_not_whitelisted");
  await access.useUp(key, route.group);
  expect(await codeOf({ sourceIp: NEIGHBOUR, route })).toBe("ip_not_whitelisted");
  expect(await codeOf({ route })).toBe("rate_limited");
});

describe("a key beyond its limit", () => {
  const { getWallet: route, listTransactions: other } = routes;
  const over = async () => {
    const caller = await access.anAccount();
    const admit = access.newInstance();
    const ask = (more: Parameters<typeof admit>[0] = {}) =>
      admissionCode(admit({ route, headers: { authorization: `Bearer ${caller.key}` }, ...more }));
    await access.useUp(caller.key, route.group);
    expect(await ask()).toBe("rate_limited");
    access.proxy.calls.length = 0;
    return { ...caller, ask, admit };
  };

  test("is refused without a call until the minute ends: a flood of one key would throttle its item and keep functions busy", async () => {
    const { ask } = await over();
    expect([await ask(), await ask({ route: other })]).toEqual(["rate_limited", "rate_limited"]);
    expect(await ask({ sourceIp: NEIGHBOUR })).toBe("ip_not_whitelisted");
    expect(access.proxy.calls).toEqual([]);
    access.nowMs += MINUTE_MS;
    expect(await ask()).toBe("admitted");
  });

  test("has spent its minute with the request after the last one that is admitted", async () => {
    const { key } = await access.anAccount();
    const admit = access.newInstance();
    const ask = () => admissionCode(admit({ route, headers: { authorization: `Bearer ${key}` } }));
    await access.useUp(key, route.group, 1);
    expect([await ask(), await ask(), await ask()]).toEqual(["admitted", "rate_limited", "rate_limited"]);
  });

  test("has its other groups, and another key its own limit", async () => {
    const { key, admit } = await over();
    const another = await access.anAccount();
    const bearer = (of: string) => ({ headers: { authorization: `Bearer ${of}` } });
    expect(await admissionCode(admit({ ...bearer(key), route: routes.buyData }))).toBe("admitted");
    expect(await admissionCode(admit({ ...bearer(another.key), route }))).toBe("admitted");
  });

  test("that was revoked in between is refused as one that is", async () => {
    const { accountId, key, keyId } = await access.anAccount();
    const admit = access.newInstance();
    const ask = () => admissionCode(admit({ route, headers: { authorization: `Bearer ${key}` } }));
    await access.useUp(key, route.group);
    await revokeKey(access.store, accountId, keyId);
    expect(await ask()).toBe("invalid_api_key");
    access.proxy.calls.length = 0;
    expect(await ask()).toBe("invalid_api_key");
    expect(access.proxy.calls).toEqual([]);
  });
});

describe("the permissions of a key", () => {
  const reads = [routes.getWallet, routes.getTransaction, routes.listTransactions];

  test("a key that may only read sees the wallet and the lookups of any account, and places no order", async () => {
    const { key } = await access.anAccount({ permissions: ["read"], entitlements: {} });
    const admission = await access.withKey(key);
    if (!("refusal" in admission)) expect.unreachable();
    const { code, message } = admission.refusal;
    expect([code, message]).toEqual(["permission_denied", "This API key lacks the permission vtu"]);
    for (const route of [routes.listCatalog, ...reads]) {
      expect(await admissionCode(access.withKey(key, { route })), route.path).toBe("admitted");
    }
  });

  test("a key without read and identity:retrieve sees the catalog, neither the wallet nor a transaction, and retrieves nobody", async () => {
    const { key } = await access.anAccount({ permissions: ["vtu", "identity"] });
    for (const route of [...reads, routes.retrieveNin, routes.retrieveBvn]) {
      expect(await admissionCode(access.withKey(key, { route })), route.path).toBe("permission_denied");
    }
    expect(await admissionCode(access.withKey(key, { route: routes.listCatalog }))).toBe("admitted");
  });

  test("a key that a rotation left without any permission is denied", async () => {
    const { key } = await access.anAccount({ permissions: [] });
    expect(await admissionCode(access.withKey(key, { route: routes.getWallet }))).toBe("permission_denied");
  });
});

describe("the whitelist of an account", () => {
  test("an address that only another account's whitelist has is 403 with a message that names the address", async () => {
    const { key } = await access.anAccount();
    await access.anAccount({ whitelist: [NEIGHBOUR] });
    const admission = await access.withKey(key, { sourceIp: NEIGHBOUR });
    if (!("refusal" in admission)) expect.unreachable();
    expect([admission.refusal.code, admission.refusal.message]).toEqual([
      "ip_not_whitelisted",
      `The IP address ${NEIGHBOUR} is not whitelisted`,
    ]);
  });

  test("the whitelist of an account ignores X-Forwarded-For, X-Real-IP and Forwarded", async () => {
    const { key } = await access.anAccount();
    const headers = {
      authorization: `Bearer ${key}`,
      "x-forwarded-for": OFFICE,
      "x-real-ip": OFFICE,
      forwarded: `for=${OFFICE}`,
    };
    expect(await admissionCode(access.admit({ headers, sourceIp: NEIGHBOUR }))).toBe("ip_not_whitelisted");
  });
});

test("a failed write is an unexpected error, not an unknown key", async () => {
  const { key } = await access.anAccount();
  access.proxy.fault = () => "throttled";
  await expect(access.withKey(key)).rejects.toSatisfy((error) => !(error instanceof ServiceError));
  access.proxy.fault = () => undefined;
  expect(await admissionCode(access.withKey(key))).toBe("admitted");
});
