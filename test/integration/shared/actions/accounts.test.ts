import { beforeAll, expect, test } from "vitest";
import { AccountError } from "../../../../shared/access/account-store.ts";
import { setAccountStatus } from "../../../../shared/access/accounts.ts";
import { accountsRuns } from "../../../../shared/actions/accounts.ts";
import { accountsActions } from "../../../../shared/contract/actions/accounts.ts";
import { koboFromNaira } from "../../../../shared/contract/money.ts";
import { INITIAL_ENTITLEMENTS } from "../../../../shared/contract/permission.ts";
import { readAudit } from "../../../../shared/ledger/audit.ts";
import { fundWallet } from "../../../../shared/ledger/ledger-entry.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { setEndpoint } from "../../../../shared/webhooks/endpoint.ts";
import { anActionContext } from "../../../builders/action-context.ts";
import { NOON_MS } from "../../../builders/noon.ts";
import { freshTables } from "../../../builders/tables.ts";

let tables: Awaited<ReturnType<typeof freshTables>>;
beforeAll(async () => {
  tables = await freshTables();
});

const context = () => anActionContext(tables);
const create = (name: string) => accountsRuns["accounts create"](context(), { name });

test("accounts are listed with their balances, oldest first", async () => {
  const own = await freshTables();
  for (const [minute, name] of ["first", "second", "third"].entries()) {
    const at = anActionContext(own, { clock: () => NOON_MS + minute * 60_000 });
    const { account_id: accountId } = await accountsRuns["accounts create"](at, { name });
    const amountKobo = koboFromNaira(minute * 100 + 0.29);
    await fundWallet(at.ledger, { accountId, fundingId: `bank-${name}`, amountKobo });
  }
  const { accounts } = await accountsRuns["accounts list"](anActionContext(own), {});
  expect(accounts.map(({ name, balance }) => [name, balance])).toEqual([
    ["first", 0.29],
    ["second", 100.29],
    ["third", 200.29],
  ]);
});

test("an account is shown with its addresses, keys and webhook, and without a hash or a secret", async () => {
  const { account_id: account } = await create("checkout");
  const shown = await accountsRuns["accounts show"](context(), { account });
  expect(shown).toEqual({
    ...{ account_id: account, name: "checkout", status: "active", created_at: isoTime(NOON_MS) },
    ...{ balance: 0, low_balance_threshold: null, ips: [], keys: [], webhook: null },
    ...{ entitlements: INITIAL_ENTITLEMENTS, orders_today: {} },
  });
  await setEndpoint(context().endpoints, context().addressRules, account, "https://app.example/hook");
  const { webhook } = await accountsRuns["accounts show"](context(), { account });
  expect(webhook).toEqual({ url: "https://app.example/hook", status: "on" });
});

test("an account that does not exist is refused by every action on one account", async () => {
  const account = "acc_000000000000000000";
  await expect(accountsRuns["accounts show"](context(), { account })).rejects.toThrow(AccountError);
  await expect(accountsRuns["accounts restrict"](context(), { account })).rejects.toThrow(AccountError);
  await expect(accountsRuns["accounts unrestrict"](context(), { account })).rejects.toThrow(AccountError);
  await expect(accountsRuns["accounts owners"](context(), { account, owners: [] })).rejects.toThrow(AccountError);
});

test("owners are replaced as a whole, and each change is in the audit log", async () => {
  const { account_id: account } = await create("checkout");
  const email = { kind: "email", value: "ada@example.com" } as const;
  const group = { kind: "group", value: "Checkout Team" } as const;
  let nowMs = NOON_MS;
  const later = anActionContext(tables, { clock: () => (nowMs += 1_000) });
  const set = (owners: readonly (typeof email | typeof group)[], why?: string) =>
    accountsRuns["accounts owners"](later, { account, owners: [...owners], why });
  expect(await set([email, group], "ticket 12")).toEqual({ account_id: account, owners: [email, group] });
  expect((await accountsRuns["accounts show"](context(), { account })).owners).toEqual([email, group]);
  await set([email, group]);
  expect(await set([])).toEqual({ account_id: account, owners: [] });
  expect(await accountsRuns["accounts show"](context(), { account })).not.toHaveProperty("owners");
  const audit = await readAudit(context().ledger, account);
  expect(audit.filter(({ action }) => action === "accounts owners")).toMatchObject([
    { by: "ada", why: "ticket 12", details: { owners: "email:ada@example.com group:Checkout Team" } },
    { details: { owners: "" } },
  ]);
});

test("of two operators who change the same owners, the second one does not bring back whom the first one removed", async () => {
  const { account_id: account } = await create("checkout");
  const [ada, eve, bola] = ["ada", "eve", "bola"].map((name) => ({
    kind: "email" as const,
    value: `${name}@example.com`,
  }));
  if (!ada || !eve || !bola) throw new Error("Three owners are needed");
  const set = (owners: (typeof ada)[], before: (typeof ada)[]) =>
    accountsRuns["accounts owners"](context(), { account, owners, before });
  await set([ada, eve], []);
  await set([ada], [ada, eve]);
  await expect(set([ada, eve, bola], [ada, eve])).rejects.toThrow("Another person has changed the owners");
  expect((await accountsRuns["accounts show"](context(), { account })).owners).toEqual([ada]);
  // The answer to the first one was lost, and it is repeated.
  expect(await set([ada], [ada, eve])).toEqual({ account_id: account, owners: [ada] });
});

test("owners survive every other change of their account", async () => {
  const { account_id: account } = await create("checkout");
  const owners = [{ kind: "email", value: "ada@example.com" } as const];
  await accountsRuns["accounts owners"](context(), { account, owners });
  await setAccountStatus(context().accounts, account, "restricted");
  await setEndpoint(context().endpoints, context().addressRules, account, "https://app.example/hook");
  expect((await accountsRuns["accounts show"](context(), { account })).owners).toEqual(owners);
});

test.for([
  [
    "an address in capitals is stored in lower case",
    [{ kind: "email", value: " Ada@Example.COM " }],
    "ada@example.com",
  ],
  ["a group keeps its capitals", [{ kind: "group", value: "Checkout-Team" }], "Checkout-Team"],
] as const)("%s", ([, owners, value]) => {
  const input = accountsActions["accounts owners"].input.parse({ account: "acc_1", owners });
  expect(input.owners.map((owner) => owner.value)).toEqual([value]);
});

test.for([
  ["a text that is no e-mail address", [{ kind: "email", value: "ada" }]],
  ["a group without a name", [{ kind: "group", value: " " }]],
  ["another kind", [{ kind: "sub", value: "1" }]],
  ["21 owners", Array.from({ length: 21 }, (_, n) => ({ kind: "group", value: `group ${n}` }))],
])("owners are refused by the contract: %s", ([, owners]) => {
  expect(accountsActions["accounts owners"].input.safeParse({ account: "acc_1", owners }).success).toBe(false);
});
