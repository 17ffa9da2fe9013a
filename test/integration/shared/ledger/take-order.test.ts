import { expect, test } from "vitest";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { takeUpdate } from "../../../../shared/ledger/take-order.ts";
import { transactUnlessRefused } from "../../../../shared/ledger/transact.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { aTransaction, newTransactionPk } from "../../../builders/ledger/transaction.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

test("an open order is the person's who took it for 30 minutes, and changes in nothing else", async () => {
  const ledger = await openLedgerAtNoon();
  const { db, table } = ledger;
  const order = aTransaction({ pk: newTransactionPk() });
  await db.put({ TableName: table, Item: order });
  const take = (by: string, minutes: number, of = order) =>
    transactUnlessRefused(ledger, [takeUpdate({ ...ledger, clock: () => NOON_MS + minutes * 60_000 }, of, by)]);
  expect([await take("ada", 0), await take("eve", 29), await take("ada", 29)]).toEqual([true, false, true]);
  expect(await take("eve", 58)).toBe(false);
  expect(await take("eve", 59)).toBe(true);
  const taken = { taken_by: "eve", taken_at: isoTime(NOON_MS + 59 * 60_000) };
  expect(await readTransaction(ledger, order.pk)).toEqual({ ...order, ...taken });
  const ended = aTransaction({ pk: newTransactionPk(), status: "success" });
  await db.put({ TableName: table, Item: ended });
  expect(await take("ada", 0, ended)).toBe(false);
});
