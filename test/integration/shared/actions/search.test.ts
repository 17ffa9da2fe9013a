import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { findAccount } from "../../../../shared/access/account-store.ts";
import { createKey } from "../../../../shared/access/keys.ts";
import type { ActionContext } from "../../../../shared/actions/action-context.ts";
import { SEARCHES_PER_MINUTE } from "../../../../shared/actions/action-limits.ts";
import { searchRuns } from "../../../../shared/actions/search.ts";
import { FOUND_MAX, searchActions } from "../../../../shared/contract/actions/search.ts";
import { reversalName } from "../../../../shared/contract/corrections.ts";
import type { ServiceError } from "../../../../shared/contract/errors.ts";
import type { Role } from "../../../../shared/contract/roles.ts";
import { DAY_MS } from "../../../../shared/contract/values/durations.ts";
import { koboSchema } from "../../../../shared/contract/values/money.ts";
import { findByPhone } from "../../../../shared/ledger/find-transactions.ts";
import { adjustWallet, fundWallet } from "../../../../shared/ledger/ledger-entry.ts";
import { transactionPk } from "../../../../shared/ledger/schema.ts";
import { settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { referenceOf, type Transaction } from "../../../../shared/ledger/transaction.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { maskOldPhones } from "../../../../shared/reconciliation/phone-retention.ts";
import {
  findEvent,
  latestEvents,
  recordEvent,
  storedEventId,
} from "../../../../shared/upstream-events/stored-event.ts";
import { newDelivery, recordProgress } from "../../../../shared/webhooks/delivery.ts";
import { accountEventId } from "../../../../shared/webhooks/webhook-event.ts";
import { anActionContext, anOwnersRequest, type TestContext } from "../../../builders/ledger/action-context.ts";
import { type LedgerAtNoon, openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { keyedHashes } from "../../../builders/ledger/secrets.ts";
import { anEvent } from "../../../builders/upstream/event-message.ts";

const PHONE = "08039990001";

let ledger: LedgerAtNoon;
let mine: string;
let other: string;
let first: Transaction;
let second: Transaction;

const anOrderFor = async (accountId: string, phoneNumber: string, callerReference: string): Promise<Transaction> => {
  const hashes = await keyedHashes();
  const caller = { accountId, mode: "live" as const, callerReference };
  ledger.nowMs += 1_000;
  return ledger.anOpenTransaction(accountId, {
    pk: transactionPk(hashes.transactionId(caller)),
    ...{ caller_reference: callerReference, phone_number: phoneNumber, phone_key: hashes.phoneKey(phoneNumber) },
    upstream_reference: `UP-${randomUUID()}`,
  });
};

const contextOf = (changes: Partial<TestContext>): ActionContext =>
  anActionContext(ledger.tables, { clock: ledger.clock, ...changes });

/** What a person with a role finds; by default each search is another person's. */
const findAs = async (role: Role | null, typed: string, identity: string = randomUUID()) => {
  const { text } = searchActions.search.input.parse({ text: typed });
  const ownedAccounts = async () => {
    const account = await findAccount(contextOf({}).accounts, mine);
    return account === undefined ? [] : [account];
  };
  return searchRuns.search(
    contextOf({
      ...anOwnersRequest({ roles: role === null ? [] : [role], identity, ownedAccounts }),
    }),
    { text },
  );
};
const referencesOf = ({ transactions }: Awaited<ReturnType<typeof findAs>>) =>
  transactions.map(({ reference }) => reference);

beforeAll(async () => {
  ledger = await openLedgerAtNoon();
  mine = await ledger.anAccount(10_000);
  other = await ledger.anAccount(10_000);
  first = await anOrderFor(mine, PHONE, "order-1");
  second = await anOrderFor(other, PHONE, "order-1");
  await anOrderFor(mine, "08039990002", "order-2");
});

describe("a search", () => {
  test.each([PHONE, "+234 803 999 0001", "0803-999-0001", "8039990001"])(
    "for %s finds the orders of all accounts for that number, newest first",
    async (text) => {
      const found = await findAs("operator", text);
      expect(referencesOf(found)).toEqual([referenceOf(second), referenceOf(first)]);
      expect(found.transactions[0]).toMatchObject({ account_id: other, account_name: "test", status: "processing" });
    },
  );

  test("of an owner finds the own orders alone, and no event of the upstream", async () => {
    expect(referencesOf(await findAs(null, PHONE))).toEqual([referenceOf(first)]);
    expect(referencesOf(await findAs(null, referenceOf(second)))).toEqual([]);
    expect((await findAs(null, other)).accounts).toEqual([]);
  });

  test("finds orders by our reference, the upstream's, and the caller's in each account", async () => {
    expect(referencesOf(await findAs("reader", referenceOf(first).toLowerCase()))).toEqual([referenceOf(first)]);
    expect(referencesOf(await findAs("reader", String(second.upstream_reference)))).toEqual([referenceOf(second)]);
    expect(new Set(referencesOf(await findAs("reader", "order-1")))).toEqual(
      new Set([referenceOf(first), referenceOf(second)]),
    );
  });

  test("for digits that may be a phone number finds the reference that they are, if no order was placed for the number", async () => {
    const numbered = await anOrderFor(mine, "08039990003", "8039990004");
    expect(referencesOf(await findAs("operator", "8039990004"))).toEqual([referenceOf(numbered)]);
    await fundWallet(ledger, { accountId: mine, fundingId: "9039990004", amountKobo: koboSchema.parse(50_000) });
    expect((await findAs("operator", "9039990004")).fundings).toMatchObject([{ id: "9039990004" }]);
  });

  test("finds an account by a part of its name and by its id, and a key by the start of its id", async () => {
    const { accounts } = await findAs("operator", "TES");
    expect(new Set(accounts.map(({ account_id }) => account_id))).toEqual(new Set([mine, other]));
    expect((await findAs("operator", mine)).accounts).toMatchObject([{ account_id: mine, name: "test" }]);
    const { keyId } = await createKey(contextOf({}).accounts, mine, { mode: "live" });
    const { keys } = await findAs("operator", keyId.slice(0, -2));
    expect(keys).toMatchObject([{ key_id: keyId, account_id: mine, account_name: "test", status: "active" }]);
    expect((await findAs("support", keyId.slice(0, -2))).keys).toEqual([]);
  });

  test("reads the keys of all accounts for the start of a key's id alone", async () => {
    await createKey(contextOf({}).accounts, mine, { mode: "live" });
    const batchGet = vi.spyOn(ledger.db, "batchGet");
    onTestFinished(() => batchGet.mockRestore());
    const readsKeys = async (text: string): Promise<boolean> => {
      batchGet.mockClear();
      await findAs("operator", text);
      const answers = await Promise.all(batchGet.mock.results.map(({ value }) => value));
      return answers.some(({ Responses }) => Responses[ledger.table].some((item: object) => "keys" in item));
    };
    for (const text of [PHONE, "order-1", mine, "test"]) expect(await readsKeys(text), text).toBe(false);
    for (const text of ["key", "KEY_01"]) expect(await readsKeys(text), text).toBe(true);
  });

  test("finds a funding by the bank's reference, and whether it was reversed, for an owner only an own one", async () => {
    const fund = { accountId: other, fundingId: "NIP123", amountKobo: koboSchema.parse(50_000) };
    await fundWallet(ledger, fund);
    const found = { account_id: other, account_name: "test", id: "NIP123", amount: 500, at: expect.any(String) };
    expect((await findAs("support", "NIP123")).fundings).toEqual([{ ...found, is_reversed: false }]);
    expect((await findAs(null, "NIP123")).fundings).toEqual([]);
    const reversal = { accountId: other, adjustmentId: reversalName("NIP123"), amount_kobo: -50_000, why: "twice" };
    await adjustWallet(ledger, reversal);
    expect((await findAs("finance", "NIP123")).fundings).toEqual([{ ...found, is_reversed: true }]);
  });

  test("finds an event of the upstream by its id", async () => {
    await recordEvent(ledger, await anEvent(), "no_candidate");
    const [event] = await latestEvents(ledger);
    if (event === undefined) throw new Error("No event was stored");
    const { events } = await findAs("operator", storedEventId(event));
    expect(events).toEqual([{ event: storedEventId(event), state: "open", at: event.created_at }]);
    expect((await findAs(null, storedEventId(event))).events).toEqual([]);
    expect((await findAs("finance", storedEventId(event))).events).toEqual([]);
    expect(await findEvent(ledger, storedEventId(event))).toBeDefined();
  });

  test("finds a delivery of a webhook by its id, for those who may list deliveries", async () => {
    const { accounts, ledger: stores } = contextOf({});
    const account = await findAccount(accounts, mine);
    await ledger.db.put({ TableName: ledger.table, Item: { ...account, endpoints_made: 1 } });
    const event = { event: "wallet.low", account_id: mine, occurrence: "1", body: "{}" } as const;
    const webhookId = accountEventId(event);
    const fresh = newDelivery({ ...event, endpoint: "1" }, { accountId: mine, webhookId }, ledger.nowMs);
    await recordProgress(stores, fresh, { state: "removed" });
    const found = [{ webhook_id: webhookId, account_id: mine, state: "removed" }];
    expect((await findAs("support", webhookId)).deliveries).toMatchObject(found);
    expect((await findAs(null, webhookId)).deliveries).toMatchObject(found);
    expect((await findAs("finance", webhookId)).deliveries).toEqual([]);
  });

  test("for an API key is refused, because what is searched for is recorded", () => {
    const { error } = searchActions.search.input.safeParse({ text: `live_${"a".repeat(38)}` });
    expect(error?.issues[0]?.message).toBe("Must be no API key: search for its id, such as key_0123");
  });

  test(`is refused after ${SEARCHES_PER_MINUTE} of one person in a minute, until the next minute`, async () => {
    ledger.nowMs += 60_000 - (ledger.nowMs % 60_000);
    const search = () => findAs("operator", "nothing", "eve@example.com");
    for (let count = 0; count < SEARCHES_PER_MINUTE; count += 1) await search();
    await expect(search()).rejects.toMatchObject({ code: "rate_limited" } satisfies Partial<ServiceError>);
    await findAs("operator", "nothing", "ada@example.com");
    ledger.nowMs += 60_000;
    await search();
  });
});

test("an order whose number is masked is not found by it any more", async () => {
  const accountId = await ledger.anAccount(1_000);
  const order = await anOrderFor(accountId, "08039990009", "order-9");
  expect(referencesOf(await findAs("operator", "08039990009"))).toEqual([referenceOf(order)]);
  ledger.nowMs += 100 * DAY_MS;
  await settleTransaction(ledger, order, { status: "success" }, deadlineIn(20_000));
  await maskOldPhones(ledger, { phones: 90, consents: 2_190 }, deadlineIn(600_000, ledger.clock));
  expect(referencesOf(await findAs("operator", "08039990009"))).toEqual([]);
});

test("an owner finds the own order although 50 newer ones of other accounts are for the same number, of at most 20 pages", async () => {
  const number = "08039990077";
  const own = await anOrderFor(mine, number, "own-77");
  const rich = await ledger.anAccount(100_000);
  for (let count = 0; count < FOUND_MAX; count += 1) await anOrderFor(rich, number, `theirs-${count}`);
  const hashes = await keyedHashes();
  // The newest, masked, but still in the index, which lags.
  ledger.nowMs += 1_000;
  await ledger.anOpenTransaction(mine, { phone_number: "0803*****77", phone_key: hashes.phoneKey(number) });
  expect(referencesOf(await findAs("operator", number))).toHaveLength(FOUND_MAX);
  expect(referencesOf(await findAs(null, number))).toEqual([referenceOf(own)]);
  const query = vi.spyOn(ledger.db, "query");
  expect(await findByPhone(ledger, hashes, number, ({ account_id }) => account_id === mine, 2)).toEqual([]);
  expect(query).toHaveBeenCalledTimes(20);
  expect(await findByPhone(ledger, hashes, number, () => true, 1)).toHaveLength(1);
  expect(query).toHaveBeenCalledTimes(22);
});
