import { afterEach, expect, test, vi } from "vitest";
import type { Account } from "../../../../shared/access/account-store.ts";
import { accessRuns } from "../../../../shared/actions/access.ts";
import { accountsRuns } from "../../../../shared/actions/accounts.ts";
import type { ConsoleRequest } from "../../../../shared/actions/action-context.ts";
import { keysRuns } from "../../../../shared/actions/keys.ts";
import { personRuns } from "../../../../shared/actions/person.ts";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { accessForTests } from "../../../builders/ledger/access.ts";
import { anActionContext, anOwnersRequest } from "../../../builders/ledger/action-context.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const access = await accessForTests();
afterEach(() => void vi.restoreAllMocks());

test("a review has each account's owners and usable keys, what a key may still do, and its last use", async () => {
  const context = anActionContext(access.tables, { clock: () => access.nowMs });
  const first = await access.anAccount({ permissions: ["vtu", "identity", "read"] });
  access.nowMs += MINUTE_MS;
  const second = await access.anAccount({ permissions: ["read"] });
  await accountsRuns["accounts restrict"](context, { account: second.accountId });
  const owners = [
    { kind: "email" as const, value: "ada@example.com" },
    { kind: "group" as const, value: "checkout-team" },
  ];
  await accountsRuns["accounts owners"](context, { account: second.accountId, owners });
  const rotated = await keysRuns["keys rotate"](context, { key: first.keyId, overlap_ms: MINUTE_MS });
  await accountsRuns["accounts entitle"](context, { account: first.accountId, entitlements: { vtu: null } });
  access.nowMs += 5 * MINUTE_MS;
  await access.withKey(rotated.key);
  const batchGet = vi.spyOn(access.tables.db, "batchGet");
  const review = await accessRuns["access review"](context, {});
  // A key that has ended is not read, however many an account has had.
  const asked = batchGet.mock.calls.flatMap(
    ([{ RequestItems }]) => RequestItems?.[access.tables.accessTable]?.Keys ?? [],
  );
  expect(asked).toHaveLength(2);
  const rows = review.access.map(({ account_id, kind, holder, may, is_restricted, last_used_at }) => ({
    ...{ account_id, kind, holder, may: may.join(), is_restricted, last_used_at },
  }));
  const used = isoTime(NOON_MS + 6 * MINUTE_MS);
  const ofFirst = { account_id: first.accountId, is_restricted: false };
  const ofSecond = { account_id: second.accountId, is_restricted: true, last_used_at: null };
  expect(rows).toEqual([
    { ...ofFirst, kind: "key", holder: rotated.key_id, may: "vtu,read", last_used_at: used },
    { ...ofSecond, kind: "key", holder: second.keyId, may: "read" },
    { ...ofSecond, kind: "owner", holder: "email:ada@example.com", may: "" },
    { ...ofSecond, kind: "owner", holder: "group:checkout-team", may: "" },
  ]);
  // What is read of one key does not grow with the service: an answer has at most 6 MB.
  const ofKey = (key: string) => accessRuns["access review"](context, { key });
  expect(await ofKey(second.keyId)).toEqual({ people: [], access: [review.access[1]] });
  expect(await ofKey(first.keyId)).toEqual({ people: [], access: [] });
});

test("people are listed with their first and last sign-in, the last one first, then owners who never came", async () => {
  const at = (minute: number, request: Partial<ConsoleRequest>, account?: Account) =>
    anActionContext(access.tables, {
      clock: () => NOON_MS + minute * MINUTE_MS,
      ...anOwnersRequest({ ...request, ownedAccounts: async () => (account === undefined ? [] : [account]) }),
    });
  const { accountId } = await access.anAccount();
  const owners = [
    { kind: "email" as const, value: "bola@example.com" },
    { kind: "email" as const, value: "never@example.com" },
  ];
  await accountsRuns["accounts owners"](at(0, {}), { account: accountId, owners });
  const owned = await access.account(accountId);
  const bola = { by: "bola@example.com", identity: "bola" };
  const cleo = { by: "cleo@example.com", identity: "cleo", roles: ["reader" as const] };
  await personRuns.me(at(0, bola, owned), {});
  await personRuns.me(at(1, cleo), {});
  // One who may do nothing any more stays in the list.
  const dayo = { by: "dayo@example.com", identity: "dayo" };
  await personRuns.me(at(1, { ...dayo, roles: ["reader"] }), {});
  await personRuns.me(at(2, dayo), {});
  // A page that is opened again is the same sign-in; one of a person who may do nothing is none.
  await personRuns.me(at(10, cleo), {});
  await personRuns.me(at(11, { by: "nobody@example.com", identity: "nobody" }), {});
  await personRuns.me(at(60, bola, owned), {});
  // AWS verifies the ARN of a caller, not the name that the caller gives.
  const arn = "arn:aws:iam::123456789012:user/eve";
  const spoofed = { by: "cfo@example.com", actor: { by: "cfo@example.com", caller_arn: arn }, identity: arn };
  await personRuns.me(at(60, { ...spoofed, roles: ["auditor"] }), {});
  const { people } = await accessRuns["access people"](at(61, {}), {});
  expect((await accessRuns["access review"](at(61, {}), {})).people).toEqual(people);
  const accounts = [{ account_id: accountId, name: "demo" }];
  const time = (minute: number) => isoTime(NOON_MS + minute * MINUTE_MS);
  expect(people.filter(({ name }) => !name.startsWith("ada") && !name.startsWith("group"))).toEqual([
    {
      ...{ name: bola.by, roles: [], is_owner: true, accounts },
      ...{ first_signed_in_at: time(0), last_signed_in_at: time(60) },
    },
    {
      ...{ name: dayo.by, roles: [], is_owner: false, accounts: [] },
      ...{ first_signed_in_at: time(1), last_signed_in_at: time(2) },
    },
    {
      ...{ name: cleo.by, roles: ["reader"], is_owner: false, accounts: [] },
      ...{ first_signed_in_at: time(1), last_signed_in_at: time(1) },
    },
    {
      ...{ name: "never@example.com", roles: [], is_owner: true, accounts },
      ...{ first_signed_in_at: null, last_signed_in_at: null },
    },
  ]);
});

test("people whose owner an account no longer has are no owners, though they have not signed in since", async () => {
  const { accountId } = await access.anAccount();
  const at = (request: Partial<ConsoleRequest>) => anActionContext(access.tables, anOwnersRequest(request));
  const owners = [
    { kind: "email" as const, value: "Emeka@example.com" },
    { kind: "group" as const, value: "shop" },
    { kind: "group" as const, value: "kept" },
  ];
  await accountsRuns["accounts owners"](anActionContext(access.tables), { account: accountId, owners });
  const ownedAccounts = async () => [await access.account(accountId)];
  const person = (name: string, ...groups: readonly string[]) => ({
    ...{ by: `${name}@example.com`, identity: name, ownedAccounts },
    owner: { email: `${name}@example.com`, groups: [...groups] },
  });
  for (const each of [person("emeka"), person("femi", "shop"), person("gozi", "shop", "kept")]) {
    await personRuns.me(at(each), {});
  }
  const areOwners = async () => {
    const { people } = await accessRuns["access people"](at({}), {});
    const known = new Map(people.map(({ name, is_owner }) => [name, is_owner]));
    return ["emeka", "femi", "gozi"].map((name) => known.get(`${name}@example.com`));
  };
  expect(await areOwners()).toEqual([true, true, true]);
  await accountsRuns["accounts owners"](anActionContext(access.tables), {
    account: accountId,
    owners: owners.slice(2),
    before: owners,
  });
  expect(await areOwners()).toEqual([false, false, true]);
});
