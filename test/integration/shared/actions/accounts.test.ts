import { describe, expect, test } from "vitest";
import { requireAccount } from "../../../../shared/access/account-store.ts";
import { setAccountStatus, setWhitelist } from "../../../../shared/access/accounts.ts";
import { findKeys } from "../../../../shared/access/key-store.ts";
import { createKey } from "../../../../shared/access/keys.ts";
import { accountsRuns } from "../../../../shared/actions/accounts.ts";
import { auditSentence } from "../../../../shared/actions/audit-sentence.ts";
import { transactionsRuns } from "../../../../shared/actions/transactions.ts";
import { walletRuns } from "../../../../shared/actions/wallet.ts";
import { webhookRuns } from "../../../../shared/actions/webhook.ts";
import { accountsActions } from "../../../../shared/contract/actions/accounts.ts";
import { INITIAL_ENTITLEMENTS } from "../../../../shared/contract/permission.ts";
import type { Role } from "../../../../shared/contract/roles.ts";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { accountEventName, ENDPOINTS_MAX } from "../../../../shared/contract/webhook-events.ts";
import { readAudit } from "../../../../shared/ledger/audit.ts";
import { readTransactions } from "../../../../shared/ledger/find-transactions.ts";
import { getItem } from "../../../../shared/ledger/get-item.ts";
import { adjustWallet, fundWallet, readFunding } from "../../../../shared/ledger/ledger-entry.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import { subscriptionPk } from "../../../../shared/ledger/schema.ts";
import { NOT_DELIVERED, settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { referenceOf } from "../../../../shared/ledger/transaction.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { enqueueOrder } from "../../../../shared/queued-orders/queue-store.ts";
import { reconcileWallet } from "../../../../shared/reconciliation/reconcile-wallet.ts";
import { addEndpoint, disableEndpoint, setEndpoint } from "../../../../shared/webhooks/endpoint.ts";
import { subscriptionSchema } from "../../../../shared/webhooks/subscription.ts";
import { beforeNext } from "../../../builders/dynamodb/another-process.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { anActionContext, anOwnersRequest } from "../../../builders/ledger/action-context.ts";
import { openOperatorLedger } from "../../../builders/ledger/operator-ledger.ts";
import { aTransaction, newTransactionPk } from "../../../builders/ledger/transaction.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { aTransactionPk } from "../../../builders/upstream/event-message.ts";
import { firstEndpoint } from "../../../builders/webhooks/endpoint.ts";

const tables = await freshTables();

const own = await openOperatorLedger();

const context = () => anActionContext(tables);
const create = (name: string) => accountsRuns["accounts create"](context(), { name });

test("accounts are listed with their balances, oldest first", async () => {
  const others = await freshTables();
  for (const [minute, name] of ["first", "second", "third"].entries()) {
    const at = anActionContext(others, { clock: () => NOON_MS + minute * 60_000 });
    const { account_id: accountId } = await accountsRuns["accounts create"](at, { name });
    const amountKobo = koboFromNaira(minute * 100 + 0.29);
    await fundWallet(at.ledger, { accountId, fundingId: `bank-${name}`, amountKobo });
  }
  const { accounts } = await accountsRuns["accounts list"](anActionContext(others), {});
  expect(accounts.map(({ name, balance }) => [name, balance])).toEqual([
    ["first", 0.29],
    ["second", 100.29],
    ["third", 200.29],
  ]);
});

test("what is used of limits is shown as debits count it, also while their day is ahead of that of another time zone", async () => {
  const { accountId: account } = await own.anAccount();
  const limits = { day_naira: 500 };
  const at = anActionContext(own.tables, { clock: () => NOON_MS, timeZone: "Africa/Lagos" });
  await accountsRuns["accounts limits"](at, { account, limits, why: "test" });
  const amount_kobo = koboFromNaira(300);
  const order = { ...aTransaction({ pk: newTransactionPk(), amount_kobo }), account_id: account };
  const countedIn = (timeZone: string) => ({ limits: { limits: { account: limits }, timeZone } });
  expect(await openTransaction(at.ledger, order, [], deadlineIn(9_000), countedIn("Pacific/Auckland"))).toMatchObject({
    kind: "opened",
  });
  const next = { ...order, pk: newTransactionPk(), write_token: "next" };
  expect(await openTransaction(at.ledger, next, [], deadlineIn(9_000), countedIn("Africa/Lagos"))).toMatchObject({
    kind: "limit_reached",
    reached: { used: 300 },
  });
  expect((await accountsRuns["accounts show"](at, { account })).usage).toMatchObject({ day_naira: 300, day_orders: 1 });
});

test("an account is shown with its addresses, keys and webhook, and without a hash or a secret", async () => {
  const { account_id: account } = await create("checkout");
  const shown = await accountsRuns["accounts show"](context(), { account });
  expect(shown).toEqual({
    ...{ account_id: account, name: "checkout", status: "active", created_at: isoTime(NOON_MS) },
    ...{ balance: 0, low_balance_threshold: null, ips: [], keys: [], webhook: null, webhooks: [] },
    ...{ entitlements: INITIAL_ENTITLEMENTS, orders_today: {} },
  });
  await setEndpoint(context().endpoints, context().addressRules, account, "https://app.example/hook");
  const { endpoints, addressRules } = context();
  await addEndpoint(endpoints, addressRules, account, "https://books.example/hook", { name: "books" });
  await disableEndpoint(endpoints, { accountId: account, endpoint: "2" });
  const { webhook, webhooks } = await accountsRuns["accounts show"](context(), { account });
  expect(webhook).toEqual({ url: "https://app.example/hook", status: "on" });
  expect(webhooks).toMatchObject([
    { endpoint: "1", url: "https://app.example/hook", status: "on" },
    { endpoint: "2", name: "books", url: "https://books.example/hook", status: "off" },
  ]);
});

test("an account's keys and addresses are shown to those who may list them", async () => {
  const { account_id: account } = await create("checkout");
  const shownTo = async (request: ReturnType<typeof anOwnersRequest>) =>
    accountsRuns["accounts show"]({ ...context(), ...request }, { account });
  const asRoles = (...held: readonly Role[]) =>
    shownTo({ ...anOwnersRequest({ roles: held }), capacity: held[0] ?? "person" });
  for (const shown of [await asRoles("finance"), await asRoles("support")]) {
    expect(shown).not.toHaveProperty("keys");
    expect(shown).not.toHaveProperty("ips");
  }
  const whole = [await asRoles("reader"), await asRoles("finance", "reader"), await shownTo(anOwnersRequest())];
  for (const shown of whole) expect(shown).toMatchObject({ keys: [], ips: [] });
});

test("owners are replaced as a whole unless another person has changed them, and each change is in the audit log", async () => {
  const { account_id: account } = await create("checkout");
  const email = { kind: "email", value: "ada@example.com" } as const;
  const group = { kind: "group", value: "Checkout Team" } as const;
  let nowMs = NOON_MS;
  const later = anActionContext(tables, { clock: () => (nowMs += 1_000) });
  const set = (owners: readonly (typeof email | typeof group)[], why?: string) =>
    accountsRuns["accounts owners"](later, { account, owners: [...owners], why });
  expect(await set([email, group], "ticket 12")).toEqual({ account_id: account, owners: [email, group] });
  expect((await accountsRuns["accounts show"](context(), { account })).owners).toEqual([email, group]);
  // The answer was lost, and the same is sent again, by a command and by a page.
  for (const before of [undefined, []]) {
    await accountsRuns["accounts owners"](later, { account, owners: [email, group], before });
  }
  const stale = accountsRuns["accounts owners"](later, { account, owners: [group], before: [email] });
  await expect(stale).rejects.toThrow("Another person has changed the owners");
  expect(await set([])).toEqual({ account_id: account, owners: [] });
  expect(await accountsRuns["accounts show"](context(), { account })).not.toHaveProperty("owners");
  await set([email]);
  await set([group]);
  const audit = await readAudit(context().ledger, account);
  const entries = audit.filter(({ action }) => action === "accounts owners");
  expect(entries.map(({ details }) => details)).toEqual([
    { owners: "email:ada@example.com group:Checkout Team" },
    { owners: "", removed: "email:ada@example.com group:Checkout Team" },
    { owners: "email:ada@example.com" },
    { owners: "group:Checkout Team", removed: "email:ada@example.com" },
  ]);
  expect(entries[0]).toMatchObject({ by: "ada", why: "ticket 12" });
  expect(entries.map((entry) => auditSentence(entry, "checkout")).slice(-2)).toEqual([
    expect.stringMatching(/set the owners of checkout: email:ada@example.com$/),
    expect.stringMatching(/set the owners of checkout: group:Checkout Team; removed: email:ada@example.com$/),
  ]);
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

test("the window for duplicates is set and removed, unless another person has changed it", async () => {
  const { account_id: account } = await create("test");
  const set = (window_s: number, before?: number) =>
    accountsRuns["accounts duplicates"](context(), { account, window_s, before, why: "ticket" });
  expect(await set(60)).toEqual({ account_id: account, duplicate_window_s: 60 });
  await expect(set(0, 30)).rejects.toThrow("Another person has changed");
  expect(await set(0, 60)).toEqual({ account_id: account });
});

describe("closing an account", () => {
  const at = (nowMs: number) => anActionContext(own.tables, { clock: () => nowMs });
  const CLOSED_AT = NOON_MS + 3 * MINUTE_MS;
  const close = (account: string, nowMs = CLOSED_AT) =>
    accountsRuns["accounts close"](at(nowMs), { account, why: "ticket" });
  const wallet = (account: string) => readWallet(own.ledgerAt(), account);
  const payOut = (account: string, amountKobo: number, nowMs = NOON_MS) =>
    adjustWallet(own.ledgerAt(nowMs), {
      ...{ accountId: account, adjustmentId: `payout-${amountKobo}`, amount_kobo: -amountKobo, why: "closed" },
    });
  const restrict = (account: string) => accountsRuns["accounts restrict"](at(NOON_MS), { account, why: "ticket" });
  /** Restricted and empty since noon. */
  const anEmptyAccount = async () => {
    const { accountId } = await own.anAccount();
    await restrict(accountId);
    await payOut(accountId, 1_000_00);
    return accountId;
  };

  test("is refused with all that is missing, and says how to get there", async () => {
    const { accountId: account, transaction } = await own.anOrder();
    const waiting = await own.openFor(account, { amount_kobo: koboFromNaira(200) });
    await enqueueOrder(own.ledgerAt(), waiting, { kind: "airtime", network: "mtn" }, deadlineIn(29_000));
    await expect(close(account, NOON_MS)).rejects.toThrow(
      new RegExp(
        [
          "It is active: restrict it first",
          "Its balance is NGN 300.00: pay it out, and book that with wallet adjust and the id payout-<the bank's reference>",
          "1 of its orders are open: wait for their outcome, or resolve them",
          "1 of its orders are queued: wait until they are refunded, or resolve them",
          "It was restricted, or its balance changed, less than 2 minutes ago",
        ].join(".\n"),
        "s",
      ),
    );
    await restrict(account);
    await settleTransaction(own.ledgerAt(), transaction, { status: "success" }, deadlineIn(29_000));
    await payOut(account, 300_00);
    await expect(close(account, NOON_MS + MINUTE_MS)).rejects.toThrow(/queued.*2 minutes ago: try again after/s);
    const [stored] = await readTransactions(own.ledgerAt(), [waiting]);
    await settleTransaction(own.ledgerAt(), stored ?? waiting, NOT_DELIVERED, deadlineIn(29_000));
    await payOut(account, 200_00);
    expect((await wallet(account)).closed).toBeUndefined();
  });

  test("is refused for a balance of 1 kobo, and for 2 minutes after the restriction, because an order may be on its way", async () => {
    const { accountId: account } = await own.anAccount();
    await payOut(account, 999_99, NOON_MS - 3 * MINUTE_MS);
    await restrict(account);
    await expect(close(account, NOON_MS + MINUTE_MS)).rejects.toThrow(/NGN 0\.01: .* less than 2 minutes ago/s);
  });

  test("takes an account with more keys and subscriptions than one write has place for", async () => {
    const account = await anEmptyAccount();
    await accountsRuns["accounts unrestrict"](at(NOON_MS), { account });
    await createKey(own.storeAt(), account, { mode: "test" });
    const made = await requireAccount(own.storeAt(), account);
    const items = await findKeys(own.tables, [made.keys[0]?.hash ?? ""]);
    const ids = Array.from({ length: 89 }, (_, index) => `${account}-${index}`);
    const others = ids.map((id) => ({ ...made.keys[0], key_id: id, hash: id }));
    await changeItem(own.ledgerAt(), made.pk, { keys: [...made.keys, ...others] });
    const keyItems = ids.map((id) => ({ ...items[0], pk: id, key_id: id }));
    await putItems(own.tables.db, own.tables.accessTable, keyItems);
    for (let added = 1; added <= ENDPOINTS_MAX; added += 1) {
      const url = `https://app.example/${added}`;
      await webhookRuns["webhook add"](at(NOON_MS), { account, url, events: [...accountEventName.options] });
    }
    await restrict(account);
    expect(await close(account)).toMatchObject({ status: "closed" });
    const { keys } = await requireAccount(own.storeAt(), account);
    const stored = await findKeys(
      own.tables,
      keys.map(({ hash }) => hash),
    );
    expect(stored.filter(({ status }) => status === "revoked")).toHaveLength(90);
  });

  test("revokes its keys, ends its webhooks and is recorded, once, and changes no line of the books", async () => {
    const account = await anEmptyAccount();
    await accountsRuns["accounts unrestrict"](at(NOON_MS), { account });
    const { keyId } = await createKey(own.storeAt(), account, { mode: "live" });
    await setEndpoint(at(NOON_MS).endpoints, at(NOON_MS).addressRules, account, "https://app.example/hook");
    await webhookRuns["webhook events"](at(NOON_MS), { account, events: ["wallet.low"] });
    await walletRuns["wallet threshold"](at(NOON_MS), { account, amount_kobo: 100 });
    await restrict(account);
    for (let times = 1; times <= 2; times += 1) expect(await close(account)).toMatchObject({ status: "closed" });
    expect(await accountsRuns["accounts show"](at(CLOSED_AT), { account })).toMatchObject({
      ...{ status: "closed", balance: 0, low_balance_threshold: null, webhook: { status: "off" } },
      keys: [{ key_id: keyId, status: "revoked" }],
    });
    const keys = await findKeys(
      own.tables,
      (await requireAccount(own.storeAt(), account)).keys.map(({ hash }) => hash),
    );
    expect(keys).toMatchObject([{ status: "revoked" }]);
    const pk = subscriptionPk("wallet.low", firstEndpoint(account));
    const subscription = await getItem(own.ledgerAt(), pk, subscriptionSchema);
    expect(subscription?.event).toBe("wallet.low");
    expect(subscription).not.toHaveProperty("open");
    const audit = await readAudit(own.ledgerAt(), account);
    expect(audit.filter(({ action }) => action === "accounts close")).toHaveLength(1);
    expect((await reconcileWallet(own.ledgerAt(CLOSED_AT), account))?.difference_kobo).toBe(0);
  });

  test("has every booking refused and nothing written, also one that was under way; an order stays open for an operator", async () => {
    const { accountId: account, transaction } = await own.anOrder({ pk: await aTransactionPk() });
    await restrict(account);
    await payOut(account, 500_00);
    // As if the lists of open orders lacked it.
    await changeItem(own.ledgerAt(), transaction.pk, { open: undefined });
    await close(account);
    const before = await wallet(account);
    const later = own.ledgerAt(CLOSED_AT);
    const deadline = deadlineIn(29_000);
    const closed = /is closed: nothing is booked until it is reopened/;
    const amountKobo = koboFromNaira(5);
    await expect(fundWallet(later, { accountId: account, fundingId: "late-1", amountKobo })).rejects.toThrow(closed);
    const give = { accountId: account, adjustmentId: "late-2", amount_kobo: 500, why: "late" };
    await expect(adjustWallet(later, give)).rejects.toThrow(closed);
    for (const amount_kobo of [amountKobo, koboFromNaira(0)]) {
      const order = aTransaction({ pk: newTransactionPk(), account_id: account, amount_kobo });
      expect(await openTransaction(later, order, [], deadline)).toEqual({ kind: "restricted" });
    }
    expect(await settleTransaction(later, transaction, NOT_DELIVERED, deadline)).toMatchObject({
      kind: "indeterminate",
    });
    const resolve = { reference: referenceOf(transaction), status: "failed", why: "late" } as const;
    await expect(transactionsRuns["transactions resolve"](at(CLOSED_AT), resolve)).rejects.toThrow(closed);
    expect(await wallet(account)).toEqual(before);
    expect(await readFunding(later, "late-1")).toBeUndefined();
    expect(await readTransactions(later, [transaction])).toMatchObject([{ status: "processing" }]);

    await accountsRuns["accounts reopen"](at(CLOSED_AT), { account, why: "late" });
    await transactionsRuns["transactions resolve"](at(CLOSED_AT), resolve);
    expect(await wallet(account)).toMatchObject({ balance_kobo: 500_00, restricted: true });
  });

  test.each([
    [
      "a funding",
      (account: string) =>
        fundWallet(own.ledgerAt(), { accountId: account, fundingId: account, amountKobo: koboFromNaira(1) }),
    ],
    [
      "a free order, and the end of the restriction",
      async (account: string) => {
        await accountsRuns["accounts unrestrict"](at(NOON_MS), { account });
        await own.openFor(account, { amount_kobo: koboFromNaira(0) });
        await restrict(account);
      },
    ],
  ])("that meets %s after it was checked is refused", async (_, booking) => {
    const account = await anEmptyAccount();
    beforeNext(own.tables.db, "transactWrite", () => booking(account));
    await expect(close(account)).rejects.toThrow(/has just changed|is not closed/);
    expect((await requireAccount(own.storeAt(), account)).status).toBe("restricted");
    expect((await wallet(account)).closed).toBeUndefined();
  });

  test("leaves the account to be read, and to lose its owners, and nothing else of it to be changed", async () => {
    const account = await anEmptyAccount();
    await close(account);
    const context = at(CLOSED_AT);
    const refused = /is closed. Reopen it first/;
    for (const change of [
      () => accountsRuns["accounts unrestrict"](context, { account }),
      () => accountsRuns["accounts restrict"](context, { account }),
      () => accountsRuns["accounts entitle"](context, { account, entitlements: {} }),
      () => accountsRuns["accounts limits"](context, { account, limits: {} }),
      () => createKey(own.storeAt(), account, { mode: "test" }),
      () => setWhitelist(own.storeAt(), account, ["203.0.113.7"]),
      () => setEndpoint(context.endpoints, context.addressRules, account, "https://app.example/hook"),
      () => walletRuns["wallet threshold"](context, { account, amount_kobo: 100 }),
    ]) {
      await expect(change()).rejects.toThrow(refused);
    }
    const owners = [{ kind: "email", value: "ada@example.com" }] as const;
    expect(await accountsRuns["accounts owners"](context, { account, owners: [...owners] })).toMatchObject({ owners });
    expect((await walletRuns["wallet statement"](context, { account })).closing).toBe(0);
    await accountsRuns["accounts reopen"](context, { account, why: "late" });
    await expect(accountsRuns["accounts reopen"](context, { account, why: "late" })).rejects.toThrow("is not closed");
    expect(await accountsRuns["accounts unrestrict"](context, { account })).toMatchObject({ status: "active" });
  });
});
