import { globSync, readFileSync } from "node:fs";
import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { beforeAll, describe, expect, test } from "vitest";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { openList, QUEUED, queuedOrders, transactionPk } from "../../../../shared/ledger/schema.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import {
  settlingTransition,
  stateOf,
  type TransactionState,
  transactionPut,
  transactionUpdate,
  transitions,
} from "../../../../shared/ledger/transaction-state.ts";
import { type LedgerAtNoon, openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { newTransactionPk } from "../../../builders/ledger/transaction.ts";

/** Goal: a transaction's state changes by the transitions of the table, and in no other way. */
let ledger: LedgerAtNoon;
beforeAll(async () => {
  ledger = await openLedgerAtNoon();
});

const waitingBy = (place: { readonly number: number } | { readonly refusals: number }): Transaction["queued"] => ({
  order: { kind: "airtime", network: "mtn" },
  table: "ledger",
  ...place,
});
const queued = waitingBy({ number: 1 });
const aside = waitingBy({ refusals: 1 });

/** The list of open orders that has those of this test. */
const open = openList({ pk: transactionPk("00") });

/** What an item in a state has, beside its status. */
const storedIn = {
  sent: { open },
  claimed: { open, claim: "first" },
  queued: { open: queuedOrders("acc_1"), queued: queued },
  set_aside: { open: QUEUED, queued: aside },
  success: { open: undefined, listed_at: undefined, status: "success" },
  failed: { open: undefined, listed_at: undefined, status: "failed" },
} as const satisfies Record<TransactionState, Partial<Transaction>>;
const states: readonly TransactionState[] = ["sent", "queued", "set_aside", "claimed", "success", "failed"];

/** What the writer of a transition sets. */
const setBy: Readonly<Record<string, Partial<Transaction>>> = {
  queue: { queued: queued },
  setAside: { queued: aside },
  claim: { claim: "second" },
};

const aStored = async (state: TransactionState): Promise<Transaction> => {
  const Item = ledger.aTransaction("acc_1", { pk: newTransactionPk("00"), ...storedIn[state] });
  await ledger.db.put({ TableName: ledger.table, Item });
  return Item;
};

const { debit, void: voided, ...changes } = transitions;

describe.each(Object.entries(changes))("the transition %s", (name, transition) => {
  test.each(states)("from the state %s is written only if it is one of its edges", async (state) => {
    const transaction = await aStored(state);
    const { Update } = transactionUpdate(ledger, transaction, transition, setBy[name] ?? {});
    const isEdge = transition.from.some((from) => from === state);
    const result = await ledger.db.update(Update).then(
      () => "written",
      (error: unknown) => (error instanceof ConditionalCheckFailedException ? "refused" : error),
    );
    expect(result).toBe(isEdge ? "written" : "refused");
    const stored = await readTransaction(ledger, transaction.pk);
    if (stored === undefined) throw new Error("It does not exist");
    expect(stateOf(stored)).toBe(isEdge ? transition.to : state);
    const { open, queued } = { queued: undefined, ...storedIn[stateOf(stored)] };
    expect({ open: stored.open, queued: stored.queued }).toEqual({ open, queued });
    expect(stored.listed_at === undefined).toBe(open === undefined);
  });

  test("is not written to another request's transaction, or in another mode", async () => {
    const [state] = transition.from;
    const transaction = await aStored(state);
    for (const other of [{ write_token: "another" }, { mode: "test" as const }]) {
      const { Update } = transactionUpdate(ledger, { ...transaction, ...other }, transition, setBy[name] ?? {});
      await expect(ledger.db.update(Update)).rejects.toThrow(ConditionalCheckFailedException);
    }
  });
});

test.each([
  ["sent", debit],
  ["failed", voided],
] as const)(
  "the first write leads to the state %s, and a second one of either kind is refused",
  async (state, first) => {
    const transaction = ledger.aTransaction("acc_1", storedIn.sent);
    await ledger.db.put(transactionPut(ledger, first, transaction).Put);
    for (const second of [debit, voided]) {
      const { Put } = transactionPut(ledger, second, transaction);
      await expect(ledger.db.put(Put)).rejects.toThrow(ConditionalCheckFailedException);
    }
    const stored = await readTransaction(ledger, transaction.pk);
    expect(stored && [stateOf(stored), stored.open, stored.listed_at]).toEqual([
      ...[state, storedIn[state].open, state === "sent" ? transaction.listed_at : undefined],
    ]);
  },
);

test.each(["processing", "success", "failed"] as const)("a settlement as %s has the edges of its target", (status) => {
  for (const [waits, from] of [
    [false, ["sent", "claimed"]],
    [true, ["queued", "set_aside"]],
  ] as const) {
    const change = settlingTransition(status, waits);
    expect([change.from, change.to]).toEqual([from, status === "processing" ? undefined : status]);
  }
});

test("no other code of the product has an expression that changes a status or ends a wait", () => {
  const writes = /(SET|,)\s*#?status = |REMOVE[^"`]*\bwaiting\b(?!\.)|SET[^"`]*\bwaiting = /;
  const files = globSync(["shared/**/*.ts", "functions/**/*.ts", "tools/**/*.ts"]);
  expect(files).toContain("shared/ledger/transaction-state.ts");
  expect("SET status = :failed").toMatch(writes);
  expect(files.filter((file) => writes.test(readFileSync(file, "utf8")))).toEqual([]);
});
