import { ageS, type WaitingOrders } from "../../../shared/actions/waiting-orders.ts";
import { referenceOf, type Transaction, transactionToView } from "../../../shared/ledger/transaction.ts";
import { sum } from "../../../shared/platform/sum.ts";
import { duration, fields, naira, sections, table } from "./print.ts";

export const transactionJson = (transaction: Transaction) => ({
  account_id: transaction.account_id,
  mode: transaction.mode,
  ...transactionToView(transaction),
  upstream_reference: transaction.upstream_reference ?? null,
});

export const transactionsTable = (transactions: readonly Transaction[], nowMs: number): string =>
  table(
    ["reference", "account", "type", "status", "amount", "phone number", "upstream reference", "age"],
    transactions.map((transaction) => [
      referenceOf(transaction),
      transaction.account_id,
      transaction.type,
      transaction.status,
      naira(transaction.amount_kobo),
      transaction.phone_number,
      transaction.upstream_reference,
      duration(nowMs - Date.parse(transaction.created_at)),
    ]),
  );

/** How long it takes to send all waiting orders. */
export const sendingText = (sendingS: number): string => `about ${duration(sendingS * 1_000)} once the limit is free`;

export const waitingText = ({ accounts, count, amountKobo, oldestS, sendingS }: WaitingOrders, nowMs: number): string =>
  sections({
    "Waiting orders": fields({
      number: count,
      amount: naira(amountKobo),
      oldest: oldestS === undefined ? null : duration(oldestS * 1_000),
      "sending takes": sendingS === undefined ? "nothing is sent: purchases are off" : sendingText(sendingS),
    }),
    Accounts: table(
      ["account", "number", "counted", "amount"],
      accounts.map(({ accountId, orders, counted }) => [
        accountId,
        orders.length,
        counted,
        naira(sum(orders.map(({ amount_kobo }) => amount_kobo))),
      ]),
    ),
    Orders: table(
      ["reference", "account", "amount", "age"],
      accounts.flatMap(({ orders }) =>
        orders.map((order) => [
          referenceOf(order),
          order.account_id,
          naira(order.amount_kobo),
          duration(ageS(order, nowMs) * 1_000),
        ]),
      ),
    ),
  });
