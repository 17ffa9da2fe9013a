import { expect, test, vi } from "vitest";
import { createAccount, setOwners } from "../../../../shared/access/accounts.ts";
import { keysRuns } from "../../../../shared/actions/keys.ts";
import { routes } from "../../../../shared/contract/routes.ts";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { readAudit } from "../../../../shared/ledger/audit.ts";
import { NotAllowedError, NotFoundError, OperatorError } from "../../../../shared/platform/operator-error.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { beforeNext } from "../../../builders/dynamodb/another-process.ts";
import { accessForTests } from "../../../builders/ledger/access.ts";
import { anActionContext, anOwnersRequest } from "../../../builders/ledger/action-context.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const access = await accessForTests();

const clock = () => access.nowMs;
const operator = () => anActionContext(access.tables, { clock });
const owner = () => anActionContext(access.tables, { clock, ...anOwnersRequest() });
const anAccount = async () => {
  const made = await access.anAccount();
  await setOwners(access.store, made.accountId, [{ kind: "email", value: "bola@example.com" }]);
  return made;
};
const keysOf = async (account: string) => (await keysRuns["keys list"](owner(), { account })).keys;

test("a key is listed with the minute of its newest request, of whatever rate group", async () => {
  const { accountId, key } = await anAccount();
  const unused = await keysRuns["keys create"](owner(), { account: accountId, mode: "test", permissions: ["vtu"] });
  expect((await keysOf(accountId)).map(({ last_used_at }) => last_used_at)).toEqual([null, null]);
  await access.withKey(key);
  access.nowMs += 5 * MINUTE_MS + 1_234;
  await access.withKey(key, { route: routes.listCatalog });
  expect((await keysOf(accountId)).map(({ key_id, last_used_at }) => [key_id, last_used_at])).toEqual([
    [expect.any(String), isoTime(NOON_MS + 5 * MINUTE_MS)],
    [unused.key_id, null],
  ]);
});

test("the last use of a key is known while its older counters are removed", async () => {
  const { accountId, key } = await anAccount();
  for (let use = 0; use < 10; use += 1) {
    access.nowMs += 3 * MINUTE_MS;
    await access.withKey(key);
    const [listed] = await keysOf(accountId);
    expect(listed?.last_used_at).toBe(isoTime(access.nowMs));
  }
});

test("a key whose item is missing from the access table is listed as never used", async () => {
  const { accountId, key } = await anAccount();
  await access.deleteItem(key);
  expect(await keysOf(accountId)).toMatchObject([{ status: "active", last_used_at: null }]);
});

test("an owner who was removed after the request was authorised creates no key", async () => {
  const { accountId: account } = await anAccount();
  beforeNext(access.tables.db, "transactWrite", () => setOwners(access.store, account, []));
  const creation = keysRuns["keys create"](owner(), { account, mode: "live", permissions: ["vtu"] });
  await expect(creation).rejects.toThrow(NotAllowedError);
  expect(await keysOf(account)).toHaveLength(1);
});

test("an owner creates, rotates and revokes a key, and the audit log has their name", async () => {
  const { accountId: account } = await anAccount();
  const context = anActionContext(access.tables, { clock, ...anOwnersRequest(), by: { by: "bola@example.com" } });
  const made = await keysRuns["keys create"](context, { account, mode: "live", permissions: ["vtu"], why: "new app" });
  expect(await access.isAdmitted(made.key)).toBe(true);
  const overlap_ms = 30 * MINUTE_MS;
  const rotated = await keysRuns["keys rotate"](context, { account, key: made.key_id, overlap_ms });
  expect(rotated).toMatchObject({ instead_of: made.key_id, which_ends_at: isoTime(NOON_MS + overlap_ms) });
  for (const key of [made.key, rotated.key]) expect(await access.isAdmitted(key)).toBe(true);
  await keysRuns["keys revoke"](context, { account, key: rotated.key_id, why: "leaked" });
  expect(await access.isAdmitted(rotated.key)).toBe(false);
  const audit = await readAudit(context.ledger, account);
  expect(audit.map(({ by, action, why }) => [by, action, why])).toEqual(
    expect.arrayContaining([
      ["bola@example.com", "keys create", "new app"],
      ["bola@example.com", "keys rotate", undefined],
      ["bola@example.com", "keys revoke", "leaked"],
    ]),
  );
});

test("a revocation and limits of a key that are not written are errors", async () => {
  const { accountId: account } = await anAccount();
  const [{ key_id: key = "" } = {}] = await keysOf(account);
  const transactWrite = vi.spyOn(access.tables.db, "transactWrite");
  for (const change of [
    () => keysRuns["keys revoke"](operator(), { account, key }),
    () => keysRuns["keys limits"](operator(), { account, key, limits: { day_orders: 9 } }),
  ]) {
    transactWrite.mockRejectedValueOnce(new Error("No answer"));
    await expect(change()).rejects.toThrow("No answer");
  }
  transactWrite.mockRestore();
});

test("a key is listed with its name, its last four characters and who made it, and nothing more of it is stored", async () => {
  const { accountId: account } = await anAccount();
  const person = { issuer: "https://login.example.com/", sub: "ada" };
  const ada = anActionContext(access.tables, { clock, ...anOwnersRequest(), by: { by: "ada@example.com", person } });
  const made = await keysRuns["keys create"](ada, { account, mode: "live", permissions: ["vtu"], name: "Checkout" });
  const rotated = await keysRuns["keys rotate"](operator(), { account, key: made.key_id, overlap_ms: 0 });
  const unnamed = await keysRuns["keys create"](ada, { account, mode: "test", permissions: ["vtu"] });
  expect(made.name).toBe("Checkout");
  const [first, ...listed] = await keysOf(account);
  expect(first?.name).toBe("Live key");
  expect(listed.map(({ name, last_four, created_by }) => [name, last_four, created_by])).toEqual([
    ["Checkout", made.key.slice(-4), "ada@example.com"],
    ["Checkout", rotated.key.slice(-4), "Command line (says: ada)"],
    ["Test key", unnamed.key.slice(-4), "ada@example.com"],
  ]);
  const stored = JSON.stringify([await access.account(account), await readAudit(ada.ledger, account)]);
  for (const { key } of [made, rotated, unnamed]) expect(stored).not.toContain(key.slice(-5));
});

test("an owner gets no key that retrieves identities, neither by creating one nor by rotating the operator's", async () => {
  const { accountId: account } = await anAccount();
  const permissions = ["vtu", "identity:retrieve"] as const;
  const refused = keysRuns["keys create"](owner(), { account, mode: "live", permissions: [...permissions] });
  await expect(refused).rejects.toThrow(NotAllowedError);
  const given = await keysRuns["keys create"](operator(), { account, mode: "live", permissions: [...permissions] });
  const rotation = keysRuns["keys rotate"](owner(), { account, key: given.key_id, overlap_ms: 0 });
  await expect(rotation).rejects.toThrow(NotAllowedError);
  expect(await keysOf(account)).toHaveLength(2);
  expect(await access.isAdmitted(given.key)).toBe(true);
  await keysRuns["keys rotate"](operator(), { account, key: given.key_id, overlap_ms: 0 });
  await keysRuns["keys revoke"](owner(), { account, key: given.key_id });
});

test("another account's key is refused like one that does not exist, and stays as it is", async () => {
  const { accountId: account } = await anAccount();
  const { account_id: other } = await createAccount(access.store, { name: "other", whitelist: ["203.0.113.7"] });
  const foreign = await keysRuns["keys create"](operator(), { account: other, mode: "live", permissions: ["vtu"] });
  for (const key of [foreign.key_id, "key_000000000000000000"]) {
    const refusal = new NotFoundError(`There is no key ${key}`);
    await expect(keysRuns["keys rotate"](owner(), { account, key, overlap_ms: 0 })).rejects.toEqual(refusal);
    await expect(keysRuns["keys revoke"](owner(), { account, key, why: "not mine" })).rejects.toEqual(refusal);
  }
  expect(await access.isAdmitted(foreign.key)).toBe(true);
});

test("of two people who rotate a key at the same time one gets a new key, and the other is refused", async () => {
  const { accountId: account, keyId: key } = await anAccount();
  const rotations = await Promise.allSettled(
    ["first", "second"].map(() => keysRuns["keys rotate"](operator(), { account, key, overlap_ms: 0 })),
  );
  expect(rotations.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  const refused = rotations.find((each) => each.status === "rejected");
  const sentence = `${key} was rotated already and expires at ${isoTime(NOON_MS)}`;
  const message = expect.stringContaining(". See its replacement with keys list");
  expect(refused?.reason).toMatchObject({ sentence, message });
  expect(refused?.reason).toBeInstanceOf(OperatorError);
  expect(await keysOf(account)).toHaveLength(2);
});
