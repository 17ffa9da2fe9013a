import { expect, test } from "vitest";
import * as z from "#zod";
import { createAccount, setOwners } from "../../../../shared/access/accounts.ts";
import type { Owner } from "../../../../shared/access/owner-item.ts";
import { authorise, ownedAccounts } from "../../../../shared/console/authorisation.ts";
import { NotAllowedError } from "../../../../shared/platform/operator-error.ts";
import { recordCalls, type SdkCall } from "../../../builders/aws/recorded-calls.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { anActionContext } from "../../../builders/ledger/action-context.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

/** Goal: what a visitor costs does not depend on how many accounts there are, and an owner has exactly their accounts. */
const tables = await freshTables();

let minute = 0;
const create = async (...owners: readonly Owner[]): Promise<string> => {
  minute += 1;
  const store = { ...tables, clock: () => NOON_MS + minute * 60_000 };
  const { account_id } = await createAccount(store, { name: "one", whitelist: [] });
  await setOwners(tables, account_id, [...owners]);
  return account_id;
};
const email = (value: string): Owner => ({ kind: "email", value });
const group = (value: string): Owner => ({ kind: "group", value });
const ledger = () => anActionContext(tables).ledger;
const owned = async (address: string | undefined, ...groups: readonly string[]): Promise<readonly string[]> => {
  const person = { groups, ...(address !== undefined && { email: address }) };
  return (await ownedAccounts(ledger(), person)).map(({ account_id }) => account_id);
};

const keyCount = z.object({
  RequestItems: z.optional(z.record(z.string(), z.object({ Keys: z.array(z.unknown()) }))),
});
/** The operations of the calls, each with how many items it reads. */
const readsOf = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
  const calls: SdkCall[] = [];
  await recordCalls({ canned: {}, onCall: (call) => calls.push(call) }, work);
  return calls.map(({ operation, input }) => {
    const keys = Object.values(keyCount.parse(input).RequestItems ?? {}).flatMap(({ Keys }) => Keys);
    return `${operation} ${Math.max(1, keys.length)}`;
  });
};

test("a visitor with no account costs one bounded read beside any number of accounts", async () => {
  for (let count = 0; count < 3; count += 1) await createAccount({ ...tables }, { name: "another", whitelist: [] });
  const visitor = { email: "eve@example.com", groups: ["visitors"] };
  expect(await readsOf(() => ownedAccounts(ledger(), visitor))).toEqual(["BatchGet 2"]);
  const action = { scope: "account", roles: ["operator"] } as const;
  const request = () =>
    authorise(ledger(), { person: visitor, roles: [] }, action, { account: "acc_000000000000000000" });
  expect(await readsOf(() => expect(request()).rejects.toThrow(NotAllowedError))).toEqual(["Get 1", "BatchGet 2"]);
  await create(email("ada@example.com"));
  expect(await readsOf(() => owned("ada@example.com"))).toEqual(["BatchGet 1", "BatchGet 1"]);
});

test("a person owns the accounts of their address and of their groups, oldest first and each once", async () => {
  const first = await create(email("bob@example.com"), group("Team A"));
  const second = await create(group("Team A"));
  const third = await create(email("bob@example.com"));
  expect(await owned("bob@example.com", "Team A", "x".repeat(5_000))).toEqual([first, second, third]);
  expect(await owned("bob@example.com")).toEqual([first, third]);
  expect(await owned(undefined, "Team A")).toEqual([first, second]);
  expect(await owned(undefined, "team a", "bob@example.com")).toEqual([]);
  expect(await owned(undefined)).toEqual([]);
});

test("an owner who is removed owns the account no more, and one who is added owns it at once", async () => {
  const account = await create(email("cyd@example.com"), email("dan@example.com"));
  await setOwners(tables, account, [email("dan@example.com"), group("Team B")]);
  expect(await owned("cyd@example.com")).toEqual([]);
  expect(await owned("dan@example.com")).toEqual([account]);
  expect(await owned(undefined, "Team B")).toEqual([account]);
  await setOwners(tables, account, [email("cyd@example.com")]);
  expect(await owned("cyd@example.com")).toEqual([account]);
});

test("two changes at once that name one owner leave both accounts owned", async () => {
  const accounts = await Promise.all(Array.from({ length: 5 }, () => create()));
  await Promise.all(accounts.map((account) => setOwners(tables, account, [email("fay@example.com")])));
  expect(new Set(await owned("fay@example.com"))).toEqual(new Set(accounts));
});
