import type { Command } from "commander";
import * as z from "zod";
import { requireAccount } from "../../../shared/access/account-store.ts";
import { requireTransaction } from "../../../shared/actions/lookup.ts";
import { resolvedView } from "../../../shared/actions/resolved-transaction.ts";
import { historyOf } from "../../../shared/actions/transaction-history.ts";
import { readWaitingOrders, waitingOrderJson, waitText } from "../../../shared/actions/waiting-orders.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import { modeSchema, transactionStatus } from "../../../shared/contract/transaction.ts";
import { openTransactions } from "../../../shared/ledger/find-transactions.ts";
import { listTransactions } from "../../../shared/ledger/list-transactions.ts";
import { ALL_TIMES } from "../../../shared/ledger/query-index.ts";
import { referenceOf, STUCK_MS, type Transaction } from "../../../shared/ledger/transaction.ts";
import { nairaNumber } from "../../../shared/platform/money.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { sum } from "../../../shared/platform/sum.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { resolveTransaction } from "../../../shared/upstream-events/operator-resolution.ts";
import { addCommand, addGroup, callerAccount, type Report, whyRequired } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { accountField, durationField } from "../fields.ts";
import { afterFlight } from "../in-flight.ts";
import { fields, sections, table } from "../views/print.ts";
import { transactionJson, transactionsTable, waitingText } from "../views/transactions.ts";

const listInput = z.object({
  stuck: z.boolean().default(false),
  open: z.boolean().default(false),
  waiting: z.boolean().default(false),
  older: durationField.optional(),
  account: accountField.optional(),
  mode: modeSchema.default("live"),
  status: transactionStatus.optional(),
});

export const addTransactions = (program: Command): void => {
  const group = addGroup(program, "transactions", "Find, inspect and resolve transactions");
  addCommand(group, {
    usage: "list",
    readOnly: true,
    summary:
      "List open live transactions (--stuck or --open) or waiting orders (--waiting), oldest first, or the latest of an account (--account)",
    example: "list --stuck",
    options: [
      { flags: "--stuck", text: "open for more than 15 minutes, in all accounts" },
      { flags: "--open", text: "all open ones that are sent, in all accounts" },
      { flags: "--waiting", text: "orders that wait for the upstream's rate limit, in all accounts or --account" },
      { flags: "--older <time>", text: "with --stuck or --open: at least this old, such as 30m, 2h, 1d" },
      { flags: "--account <account>", text: "the latest 50 of one account" },
      { flags: "--mode <mode>", text: "with --account: live or test", fallback: "live" },
      { flags: "--status <status>", text: "with --account: processing, success or failed" },
    ],
    input: listInput,
    run: list,
  });
  addCommand(group, {
    usage: "show <reference>",
    readOnly: true,
    summary: "Show a transaction and its history; takes our reference or the upstream's",
    example: "show DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
    options: [callerAccount],
    input: z.object({ reference: z.string(), account: accountField.optional() }),
    run: show,
  });
  addCommand(group, {
    usage: "resolve <reference> <status>",
    summary: "Settle an open transaction for good, as success or as failed (refunds the wallet)",
    example: 'resolve DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ failed --why "not in the upstream\'s list, ticket 88"',
    options: [whyRequired],
    input: z.object({
      reference: z.string(),
      status: z.enum(["success", "failed"], "Must be success or failed"),
      why: whySchema,
    }),
    run: async (context, { reference, status, why }) => {
      const json = await afterFlight(reference, async () => {
        const transaction = await requireTransaction(context, reference);
        await resolveTransaction(context.ledger, transaction, status, { ...context.actor(), why });
        return resolvedView(context, transaction);
      });
      return { json, text: fields(json) };
    },
  });
};

const list = async (context: AdminContext, input: z.output<typeof listInput>): Promise<Report> => {
  if (input.waiting) return listWaiting(context, input.account);
  const transactions = input.stuck || input.open ? await listOpen(context, input) : await listOfAccount(context, input);
  return {
    json: { transactions: transactions.map(transactionJson) },
    text: transactionsTable(transactions, context.ledger.clock()),
  };
};

const listWaiting = async (context: AdminContext, accountId: string | undefined): Promise<Report> => {
  if (accountId !== undefined) await requireAccount(context.accounts, accountId);
  const waiting = await readWaitingOrders(context, accountId);
  const nowMs = context.ledger.clock();
  return {
    json: {
      number: waiting.count,
      amount: nairaNumber(waiting.amountKobo),
      oldest_s: waiting.oldestS ?? null,
      sending_s: waiting.sendingS ?? null,
      accounts: waiting.accounts.map(({ accountId: account_id, orders, counted }) => ({
        account_id,
        number: orders.length,
        counted,
        amount: nairaNumber(sum(orders.map(({ amount_kobo }) => amount_kobo))),
      })),
      orders: waiting.accounts.flatMap(({ orders }) => orders.map((order) => waitingOrderJson(order, nowMs))),
    },
    text: waitingText(waiting, nowMs),
  };
};

const listOpen = (
  { ledger }: AdminContext,
  { stuck, older = 0 }: z.output<typeof listInput>,
): Promise<readonly Transaction[]> => {
  const olderMs = stuck ? Math.max(STUCK_MS, older) : older;
  return openTransactions(ledger, { from: "0000", to: isoTime(ledger.clock() - olderMs) });
};

const listOfAccount = async (
  context: AdminContext,
  { account, mode, status }: z.output<typeof listInput>,
): Promise<readonly Transaction[]> => {
  if (account === undefined)
    throw new OperatorError("Add --stuck, --open, --waiting or --account to say which transactions to list");
  await requireAccount(context.accounts, account);
  const owner = { accountId: account, mode };
  return (await listTransactions(context.ledger, owner, { status }, ALL_TIMES, undefined)).transactions;
};

const show = async (
  context: AdminContext,
  { reference, account }: { readonly reference: string; readonly account?: string | undefined },
): Promise<Report> => {
  const transaction = await requireTransaction(context, reference, account);
  const history = await historyOf(context, transaction);
  const wait = (await waitText(context, transaction)) ?? null;
  const json = { ...transactionJson(transaction), sent_at: transaction.sent_at ?? null, wait };
  return {
    json: { ...json, history },
    text: sections({
      [referenceOf(transaction)]: fields(json),
      History: table(
        ["at", "what", "details"],
        history.map(({ at, what, details }) => [at, what, details]),
      ),
    }),
  };
};
