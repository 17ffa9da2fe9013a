import { expect, test } from "vitest";
import { responseBytes } from "../../../../shared/call/response-size.ts";
import { QUEUED_ORDERS_LISTED_MAX } from "../../../../shared/contract/actions/transactions.ts";
import { isQueuedOrder, type QueuedOrder } from "../../../../shared/ledger/transaction.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { oldestQueuedJson } from "../../../../shared/queued-orders/queued-orders-report.ts";
import { aTransaction, newTransactionPk } from "../../../builders/ledger/transaction.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const aQueuedOrder = (account_id: string, ageS: number): QueuedOrder => {
  const order = aTransaction({
    ...{ pk: newTransactionPk(), account_id, created_at: isoTime(NOON_MS - ageS * 1_000) },
    queued: { order: { kind: "airtime", network: "mtn" }, table: "ledger", number: 1 },
  });
  if (!isQueuedOrder(order)) throw new Error("The order does not wait");
  return order;
};
const anAccount = (accountId: string, agesS: readonly number[]) => ({
  ...{ accountId, counted: agesS.length, isRestricted: false },
  orders: agesS.map((ageS) => aQueuedOrder(accountId, ageS)),
});

test("queued orders are listed oldest first, whatever their accounts", () => {
  const accounts = [anAccount("acc_1", [60, 20]), anAccount("acc_2", [40])];
  expect(oldestQueuedJson(accounts, NOON_MS).map(({ account_id, age_s }) => [account_id, age_s])).toEqual([
    ["acc_1", 60],
    ["acc_2", 40],
    ["acc_1", 20],
  ]);
});

test("of more queued orders than an answer of Lambda has room for, the oldest are listed", () => {
  const ages = Array.from({ length: QUEUED_ORDERS_LISTED_MAX + 1 }, (_, index) => index);
  const [accounts, oldest] = [[anAccount("a".repeat(60), ages)], ages.at(-1)];
  const listed = oldestQueuedJson(accounts, NOON_MS);
  expect(listed).toHaveLength(QUEUED_ORDERS_LISTED_MAX);
  expect([listed[0]?.age_s, listed.at(-1)?.age_s]).toEqual([oldest, 1]);
  expect(responseBytes(JSON.stringify(listed))).toBeLessThan(2_000_000);
});
