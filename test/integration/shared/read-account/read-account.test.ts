import { BatchGetCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Caller } from "../../../../shared/call/call.ts";
import type { FieldErrors } from "../../../../shared/contract/errors.ts";
import { headers as headerNames } from "../../../../shared/contract/headers.ts";
import { ALL_ENTITLEMENTS } from "../../../../shared/contract/permission.ts";
import { type TransactionQuery, transactionPage } from "../../../../shared/contract/transaction-query.ts";
import { encodeIndexKey } from "../../../../shared/ledger/query-index.ts";
import { transactionList, transactionPk } from "../../../../shared/ledger/schema.ts";
import { referenceOf, type Transaction } from "../../../../shared/ledger/transaction.ts";
import { pagesOf } from "../../../../shared/platform/pages.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { getTransaction, listCallerTransactions } from "../../../../shared/read-account/read-account.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { keyedHashes } from "../../../builders/ledger/secrets.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";
import { cleanups } from "../../../builders/run/cleanups.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { startTestService } from "../../../builders/service/service.ts";

const { db, ledgerTable: table } = await freshTables();
const ledger = { db, table, clock: () => NOON_MS };
const hashes = await keyedHashes();
afterEach(() => {
  vi.restoreAllMocks();
});

let accounts = 0;
const newCaller = (mode: Caller["mode"] = "live"): Caller => {
  accounts += 1;
  return { accountId: `acc_${accounts}`, keyId: "key_1", mode, entitlements: ALL_ENTITLEMENTS };
};

const transactionOf = (caller: Caller, changes: Partial<Transaction> = {}): Transaction =>
  aTransaction({
    pk: transactionPk(hashes.transactionId(caller)),
    list_key: transactionList(caller.accountId, caller.mode),
    account_id: caller.accountId,
    mode: caller.mode,
    status: "success",
    created_at: isoTime(NOON_MS),
    ...changes,
  });

const keep = (transactions: readonly Transaction[], to = ledger) => putItems(to.db, to.table, transactions);

/** This many of a caller's, each a second older than the one before. */
const keepMany = async (caller: Caller, count: number, changes: Partial<Transaction> = {}) => {
  const transactions = Array.from({ length: count }, (_, age) =>
    transactionOf(caller, { created_at: isoTime(NOON_MS - age * 1_000), ...changes }),
  );
  await keep(transactions);
  return transactions;
};

const list = async (caller: Caller, input: TransactionQuery = {}) => {
  const { data } = await listCallerTransactions(ledger)({ input, caller });
  return { references: data.transactions.map(({ reference }) => reference), next: data.next_cursor };
};

/** The references of each page. */
const pagesFor = async (caller: Caller, input: TransactionQuery = {}) => {
  const read = async (cursor: string | undefined) =>
    (await listCallerTransactions(ledger)({ input: { ...input, ...(cursor && { cursor }) }, caller })).data;
  return (await Array.fromAsync(pagesOf(read))).map(({ transactions }) =>
    transactions.map(({ reference }) => reference),
  );
};

const refused = (fields: FieldErrors) => ({ code: "validation_failed", details: { fields } });

describe("GET /transactions", () => {
  test("a list has the account's transactions of the key's mode, newest first, and no others", async () => {
    const caller = newCaller();
    const transactions = await keepMany(caller, 3);
    await keepMany({ ...caller, mode: "test" }, 2);
    await keepMany(newCaller(), 2);
    expect(await list(caller)).toEqual({ references: transactions.map(referenceOf), next: null });
  });

  test("a list shows each transaction as its lookup does", async () => {
    const caller = newCaller();
    const transaction = transactionOf(caller, {
      status: "failed",
      failure: { code: "delivery_failed" },
      caller_reference: "order-7",
    });
    await keep([transaction]);
    const { data } = await listCallerTransactions(ledger)({ input: {}, caller });
    const input = { reference: referenceOf(transaction) };
    const found = await getTransaction(ledger, keyedHashes)({ input, caller });
    expect(data.transactions).toEqual([found.data.transaction]);
    expect(data.transactions).toMatchObject([{ status: "failed", error_code: "delivery_failed", amount: 500 }]);
  });

  test("a list of transactions of the same millisecond loses and repeats none between its pages", async () => {
    const caller = newCaller();
    const transactions = await keepMany(caller, 75, { created_at: isoTime(NOON_MS) });
    const seen = (await pagesFor(caller)).flat();
    expect(seen).toHaveLength(75);
    expect(new Set(seen)).toEqual(new Set(transactions.map(referenceOf)));
  });
});

describe("GET /transactions with filters", () => {
  test("filters by status and type combine", async () => {
    const caller = newCaller();
    const kinds = [
      { status: "success", type: "data" },
      { status: "failed", type: "data" },
      { status: "success", type: "airtime" },
      { status: "processing", type: "nin_verification" },
    ] as const;
    await keep(kinds.map((kind, age) => transactionOf(caller, { ...kind, created_at: isoTime(NOON_MS - age) })));
    const kept = async (input: TransactionQuery) => {
      const { data } = await listCallerTransactions(ledger)({ input, caller });
      return data.transactions.map(({ status, type }) => ({ status, type }));
    };
    expect(await kept({ status: "success" })).toEqual([kinds[0], kinds[2]]);
    expect(await kept({ type: "data" })).toEqual([kinds[0], kinds[1]]);
    expect(await kept({ status: "success", type: "data" })).toEqual([kinds[0]]);
    expect(await kept({ status: "failed", type: "airtime" })).toEqual([]);
  });

  const times = [
    "2026-11-19T23:59:59.999Z",
    "2026-11-20T00:00:00.000Z",
    "2026-11-20T23:59:59.999Z",
    "2026-11-21T00:00:00.000Z",
  ];
  test.for([
    [{ from: "2026-11-20" }, [1, 2, 3]],
    [{ to: "2026-11-20" }, [0, 1, 2]],
    [{ from: "2026-11-20", to: "2026-11-20" }, [1, 2]],
    [{ from: "2026-11-20T00:00:00Z", to: "2026-11-20T23:59:59.999Z" }, [1, 2]],
    [{ from: "2026-11-20T00:00:00.001Z", to: "2026-11-20T23:59:59.998Z" }, []],
    [{ from: "2026-11-20T01:00:00+01:00", to: "2026-11-20T01:00:00+01:00" }, [1]],
    [{ to: "2026-11-20T00:30:00+01:00" }, []],
    [{ from: "2026-11-22" }, []],
    [{ to: "2026-11-18" }, []],
  ] as const)("`from` and `to` are inclusive, and a date is its whole day in UTC: %j", async ([input, expected]) => {
    const caller = newCaller();
    await keep(times.map((createdAt) => transactionOf(caller, { created_at: createdAt })));
    const { data } = await listCallerTransactions(ledger)({ input, caller });
    expect(data.transactions.map(({ created_at }) => times.indexOf(created_at)).toReversed()).toEqual(expected);
  });

  test("a time range holds on every page", async () => {
    const caller = newCaller();
    const transactions = await keepMany(caller, 120);
    const pages = await pagesFor(caller, { from: isoTime(NOON_MS - 89_000), to: isoTime(NOON_MS - 10_000) });
    expect(pages.flat()).toEqual(transactions.slice(10, 90).map(referenceOf));
  });
});

describe("GET /transactions with a wrong value", () => {
  test("a list whose `to` is before `from` is refused", async () => {
    const listed = list(newCaller(), { from: "2026-11-21", to: "2026-11-20" });
    await expect(listed).rejects.toMatchObject(refused({ to: ["Must not be before from"] }));
  });

  const stranger = "transaction#0123456789ABCDEFGHJKMNPQRS";
  test.for([
    ["that is not a cursor", { cursor: "next" }],
    ["that is empty", { cursor: "" }],
    ["before the range", { cursor: encodeIndexKey({ pk: stranger, created_at: "2026-11-19T12:00:00.000Z" }) }],
    ["after the range", { cursor: encodeIndexKey({ pk: stranger, created_at: "2026-11-21T12:00:00.000Z" }) }],
  ] as const)("a cursor %s is refused", async ([, { cursor }]) => {
    const listed = list(newCaller(), { from: "2026-11-20", to: "2026-11-20", cursor });
    await expect(listed).rejects.toMatchObject(refused({ cursor: ["Is no cursor of this list"] }));
  });

  test("a cursor at the first and last moment of the range is accepted", async () => {
    const moment = isoTime(NOON_MS);
    const cursor = encodeIndexKey({ pk: stranger, created_at: moment });
    expect(await list(newCaller(), { from: moment, to: moment, cursor })).toEqual({ references: [], next: null });
  });
});

test("another account's cursor leads to none of that account's transactions", async () => {
  const other = newCaller();
  await keepMany(other, 60);
  const { next } = await list(other);
  const caller = newCaller();
  const own = (await keepMany(caller, 55)).map(referenceOf);
  const { references } = await list(caller, { cursor: next ?? "" });
  expect(references).not.toEqual([]);
  expect(own).toEqual(expect.arrayContaining(references));
});

describe("GET /transactions/{reference}", () => {
  const lookUp = (caller: Caller, reference: string) =>
    getTransaction(ledger, keyedHashes)({ input: { reference }, caller });
  const withCallerReference = (caller: Caller, reference: string, changes: Partial<Transaction> = {}) =>
    transactionOf(caller, {
      pk: transactionPk(hashes.transactionId({ ...caller, callerReference: reference })),
      caller_reference: reference,
      ...changes,
    });

  test("a transaction is found by its reference and by the caller's, read strongly, with its reference in the header", async () => {
    const caller = newCaller();
    const transaction = withCallerReference(caller, "order-1");
    await keep([transaction]);
    const send = vi.spyOn(db, "send");
    for (const reference of ["order-1", referenceOf(transaction)]) {
      const { data, headers } = await lookUp(caller, reference);
      expect(data.transaction).toMatchObject({ reference: referenceOf(transaction), caller_reference: "order-1" });
      expect(headers).toEqual({ [headerNames.transactionReference]: referenceOf(transaction) });
    }
    expect(send).toHaveBeenCalled();
    for (const [{ input }] of send.mock.calls) expect(input).toMatchObject({ ConsistentRead: true });
  });

  test.for([
    ["another account", { accountId: "acc_other" }],
    ["the other mode", { mode: "test" }],
  ] as const)("a transaction of %s is not found, by either reference", async ([, changes]) => {
    const caller = newCaller();
    const transaction = withCallerReference(caller, "order-1");
    await keep([transaction]);
    for (const reference of ["order-1", referenceOf(transaction)]) {
      await expect(lookUp({ ...caller, ...changes }, reference)).rejects.toMatchObject({ code: "not_found" });
    }
  });

  test("a transaction is not found by our reference with another product's prefix", async () => {
    const caller = newCaller();
    const transaction = withCallerReference(caller, "order-1");
    await keep([transaction]);
    const other = referenceOf({ ...transaction, type: "airtime" });
    expect(other).not.toBe(referenceOf(transaction));
    await expect(lookUp(caller, other)).rejects.toMatchObject({ code: "not_found" });
  });

  test("a caller reference that has the form of a reference finds the caller's transaction", async () => {
    const caller = newCaller();
    const theirs = referenceOf(withCallerReference(newCaller(), "order-1"));
    const transaction = withCallerReference(caller, theirs);
    await keep([transaction]);
    expect((await lookUp(caller, theirs)).data.transaction.reference).toBe(referenceOf(transaction));
  });
});

describe("a batch from which DynamoDB leaves out keys", () => {
  /** Answers a batch as if it had left out the last of its keys, the first few times. */
  const leavingOut = (count: number, times: number): { batches: number } => {
    const send = db.send.bind(db);
    const seen = { batches: 0 };
    vi.spyOn(db, "send").mockImplementation(async (command) => {
      if (!(command instanceof BatchGetCommand)) return send(command);
      seen.batches += 1;
      const { Keys = [] } = command.input.RequestItems?.[ledger.table] ?? {};
      if (seen.batches > times) return send(command);
      const given = Keys.slice(0, Math.max(0, Keys.length - count));
      const left = { UnprocessedKeys: { [ledger.table]: { Keys: Keys.slice(given.length) } } };
      if (given.length === 0) return { Responses: {}, ...left };
      const request = { RequestItems: { [ledger.table]: { Keys: given, ConsistentRead: true } } };
      return { ...(await send(new BatchGetCommand(request))), ...left };
    });
    return seen;
  };

  test("keys that a batch leaves out are read again, and the order stays", async () => {
    const caller = newCaller();
    const transactions = await keepMany(caller, 10);
    const seen = leavingOut(4, 2);
    const begunMs = performance.now();
    expect((await list(caller)).references).toEqual(transactions.map(referenceOf));
    expect(seen.batches).toBe(3);
    // It is given time: at least 20 ms each.
    expect(performance.now() - begunMs).toBeGreaterThanOrEqual(38);
  });

  test("keys that are left out of every batch are an error, not a list with gaps", async () => {
    const caller = newCaller();
    await keepMany(caller, 3);
    const seen = leavingOut(1, Number.POSITIVE_INFINITY);
    const begunMs = performance.now();
    await expect(list(caller)).rejects.toThrow("kept leaving out");
    expect(performance.now() - begunMs).toBeGreaterThanOrEqual(2_900);
    expect(seen.batches).toBeGreaterThan(3);
  });
});

test("filters and cursor are taken from the query, and a wrong one is a 422 with its field", async () => {
  const service = await startTestService();
  cleanups.push(service.stop);
  const { accountId, key } = await service.newCaller();
  const caller: Caller = { accountId, keyId: "key_1", mode: "live", entitlements: ALL_ENTITLEMENTS };
  const transactions = Array.from({ length: 51 }, (_, age) =>
    transactionOf(caller, { created_at: isoTime(NOON_MS - age) }),
  );
  await keep([...transactions, transactionOf(caller, { type: "airtime" })], service.ledger);
  const get = (query: string) => service.call("GET", `/transactions?type=data&from=2026-11-21${query}`, { key });

  const first = transactionPage.parse((await get("")).body.data);
  const second = transactionPage.parse((await get(`&cursor=${first.next_cursor}`)).body.data);
  expect(first.transactions).toHaveLength(50);
  expect(second.transactions).toMatchObject([{ reference: referenceOf(transactions[50] ?? transactionOf(caller)) }]);
  expect(second.next_cursor).toBeNull();

  const refused = await get("&to=2026-11-20");
  expect([refused.status, refused.body.errors]).toEqual([422, { to: ["Must not be before from"] }]);
  expect(refused.headers.get("x-error-code")).toBe("validation_failed");
});
