import { randomUUID } from "node:crypto";
import type { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { openOrders, openTransactions } from "../../../../shared/ledger/find-transactions.ts";
import type { Ledger } from "../../../../shared/ledger/ledger.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import {
  type IndexKey,
  listKeys,
  queryList,
  queryListInOrder,
  waitingOrderKeys,
} from "../../../../shared/ledger/query-index.ts";
import { openLists, QUEUED, queuedOrders, walletPk } from "../../../../shared/ledger/schema.ts";
import { settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { beforeNext } from "../../../builders/dynamodb/another-process.ts";
import { beforeEachCall } from "../../../builders/dynamodb/before-each-call.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { reverseTies } from "../../../builders/dynamodb/reversed-ties.ts";
import { emulatorClient, freshTables } from "../../../builders/dynamodb/tables.ts";
import { aTransaction, newTransactionPk } from "../../../builders/ledger/transaction.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const ALWAYS = { from: "0000", to: "9999" };
let ledger: Ledger;
let transactions: readonly Transaction[];
beforeAll(async () => {
  const { db, ledgerTable: table } = await freshTables();
  ledger = { db, table, clock: () => NOON_MS };
  // Orders of the sandbox need no wallet; these are listed among the open ones all the same.
  // Two lists have five each, in turn.
  transactions = Array.from({ length: 10 }, (_, ageMs) =>
    aTransaction({
      pk: newTransactionPk(`0${ageMs % 2}`),
      mode: "test",
      write_token: randomUUID(),
      created_at: isoTime(NOON_MS + ageMs),
      sent_at: isoTime(NOON_MS + ageMs + 1),
    }),
  );
  for (const transaction of transactions)
    expect(await openTransaction(ledger, transaction, [], deadlineIn(29_000))).toEqual({ kind: "opened" });
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** The table gives two keys at a time, as it does after every megabyte. */
const givingTwoAtATime = (): { readonly pages: number; readonly whole: number; readonly db: DynamoDBDocument } => {
  const db = emulatorClient();
  const seen = { pages: 0, whole: 0, db };
  beforeEachCall(db, "query", (input) => {
    seen.pages += 1;
    if (input.ProjectionExpression === undefined) seen.whole += 1;
    input.Limit = 2;
  });
  return seen;
};

describe("an index that returns pages", () => {
  test("the open transactions are read from all pages of all their lists, oldest first", async () => {
    const table = givingTwoAtATime();
    expect(await openTransactions({ ...ledger, db: table.db }, ALWAYS)).toEqual(transactions);
    expect(table.pages).toBe(2 * 3 + (openLists.length - 2));
    expect(await openOrders({ ...ledger, db: table.db }, ALWAYS)).toEqual(
      transactions.map(({ pk, account_id, mode, type, status, created_at, sent_at }) => ({
        ...{ pk, account_id, mode, type, status, created_at, sent_at },
      })),
    );
  });

  test("an owner's keys are read from all pages of their index, oldest first", async () => {
    const table = givingTwoAtATime();
    const keys = await listKeys({ ...ledger, db: table.db }, "acc_1#live", ALWAYS);
    expect(keys).toEqual(transactions.map(({ pk, created_at }) => ({ pk, created_at })));
    expect([table.pages, table.whole]).toEqual([6, 0]);
  });

  test("a page that is empty although the index continues is not returned: the next one is", async () => {
    const [first, second] = transactions.map(({ pk, created_at }) => ({ pk, created_at }));
    const db = emulatorClient();
    const query = db.query.bind(db);
    const list_key = "acc_1#live";
    const empty = { Items: [], Count: 0, LastEvaluatedKey: { ...first, list_key } };
    vi.spyOn(db, "query")
      .mockImplementationOnce(async () => empty)
      .mockImplementation(query);
    const page = await queryList({ ...ledger, db }, list_key, ALWAYS, undefined, { oldest: 1 });
    expect(page).toEqual({ keys: [second], next: second });
  });
});

test("a transaction that is settled after its index was read is not listed as open", async () => {
  const [ended, ...others] = transactions;
  if (ended === undefined) throw new Error("There are no transactions");
  const db = emulatorClient();
  beforeNext(db, "batchGet", () => settleTransaction(ledger, ended, { status: "success" }, deadlineIn(20_000)));
  expect(await openTransactions({ ...ledger, db }, ALWAYS)).toEqual(others);
  expect((await openOrders({ ...ledger, db }, ALWAYS)).map(({ pk }) => pk)).toEqual(others.map(({ pk }) => pk));
});

test("a list in one order has the items of one time by their keys, in whatever order the index has them, on pages of any size", async () => {
  const { db, ledgerTable: table } = await freshTables();
  const items = ["b", "d", "a", "c", "f", "e"].map((name, index) => ({
    ...{ pk: `item#${name}`, list_key: "items" },
    created_at: isoTime(NOON_MS + (index < 4 ? 0 : 1)),
  }));
  await putItems(db, table, items);
  const namesOf = async (oldest: number) => {
    const names: string[] = [];
    let start: IndexKey | undefined;
    do {
      const page = await queryListInOrder({ db, table }, "items", ALWAYS, start, oldest);
      names.push(...page.keys.map(({ pk }) => pk.slice("item#".length)));
      start = page.next;
    } while (start !== undefined);
    return names.join("");
  };
  const sizes = [1, 2, 3, 4, 5, 6, 7];
  for (const oldest of sizes) expect(await namesOf(oldest)).toBe("abcdef");
  reverseTies(db);
  for (const oldest of sizes) expect(await namesOf(oldest), `pages of ${oldest}`).toBe("abcdef");
});

test("of the orders that wait, in a queue or set aside, those of a range are listed", async () => {
  const { db, ledgerTable: table } = await freshTables();
  const at = (ms: number) => isoTime(NOON_MS + ms);
  const [queue, times] = [queuedOrders("acc_waiting"), [0, 1, 3, 4]];
  const ordersIn = (open: string, start: string) =>
    times.map((ms) => ({ pk: newTransactionPk(`${start}${ms}`), open, listed_at: at(ms) }));
  const [queued, setAside] = [ordersIn(queue, "Q"), ordersIn(QUEUED, "S")];
  const wallet = { pk: walletPk("acc_waiting"), open: QUEUED, listed_at: at(9) };
  await putItems(db, table, [...queued, ...setAside, wallet]);
  const keys = await waitingOrderKeys({ db, table }, { from: at(1), to: at(3) });
  expect(keys.map(({ pk }) => pk)).toEqual([...setAside.slice(1, 3), ...queued.slice(1, 3)].map(({ pk }) => pk));
});
