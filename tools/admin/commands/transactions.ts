import type { Command } from "commander";
import * as z from "zod";
import { requireAccount } from "../../../shared/access/account-store.ts";
import { modeSchema, transactionStatus } from "../../../shared/contract/transaction.ts";
import { openTransactions, readTransaction } from "../../../shared/ledger/find-transactions.ts";
import { listTransactions } from "../../../shared/ledger/list-transactions.ts";
import { ALL_TIMES } from "../../../shared/ledger/query-index.ts";
import { referenceOf, type Transaction } from "../../../shared/ledger/transaction.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { resolveTransaction } from "../../../shared/upstream-events/operator-resolution.ts";
import { STUCK_MS } from "../checks.ts";
import { addCommand, type Report, whyRequired } from "../command.ts";
import { type AdminContext, actorOf } from "../context.ts";
import { accountField, durationField, whyField } from "../fields.ts";
import { historyOf } from "../history.ts";
import { fields, sections, table } from "../print.ts";
import { requireDecidable, requireTransaction, transactionJson, transactionsTable } from "../transactions.ts";

const listInput = z.object({
  stuck: z.boolean().default(false),
  open: z.boolean().default(false),
  older: durationField.optional(),
  account: accountField.optional(),
  mode: modeSchema.default("live"),
  status: transactionStatus.optional(),
});

export const addTransactions = (program: Command): void => {
  const group = program
    .command("transactions")
    .description("Orders: what is open, how they came about, and their ends");
  addCommand(group, {
    usage: "list",
    readOnly: true,
    summary: "the live ones that are still processing (--stuck or --open), oldest first; or an account's latest",
    example: "list --stuck",
    options: [
      { flags: "--stuck", text: "live and processing for more than 15 minutes, of all accounts" },
      { flags: "--open", text: "live and processing, of all accounts" },
      { flags: "--older <time>", text: "with --stuck or --open: only those older than 30m, 2h, 1d" },
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
    summary: "one transaction and all that happened to it",
    example: "show DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
    options: [{ flags: "--account <account>", text: "whose it is, for an app's own reference" }],
    input: z.object({ reference: z.string(), account: accountField.optional() }),
    run: show,
  });
  addCommand(group, {
    usage: "resolve <reference> <status>",
    summary: "end an open transaction as success, or as failed with its money given back; once",
    example: 'resolve DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ failed --why "not in the upstream\'s list, ticket 88"',
    options: [whyRequired],
    input: z.object({
      reference: z.string(),
      status: z.enum(["success", "failed"], "Must be success or failed"),
      why: whyField,
    }),
    run: async (desk, { reference, status, why }) => {
      const transaction = await requireDecidable(desk, reference);
      await resolveTransaction(desk.ledger, transaction, status, { ...actorOf(desk), why });
      const json = await endedView(desk, transaction);
      return { json, text: fields(json) };
    },
  });
};

/** How a transaction stands after an operator's decision. */
export const endedView = async (desk: AdminContext, before: Transaction) => {
  const transaction = (await readTransaction(desk.ledger, before.pk)) ?? before;
  const { reference, account_id, status, amount } = transactionJson(transaction);
  const refunded = transaction.status === "failed" && transaction.mode === "live" ? amount : 0;
  return { reference, account_id, status, amount, refunded };
};

const list = async (desk: AdminContext, input: z.output<typeof listInput>): Promise<Report> => {
  const transactions = input.stuck || input.open ? await open(desk, input) : await ofAccount(desk, input);
  return {
    json: { transactions: transactions.map(transactionJson) },
    text: transactionsTable(transactions, desk.ledger.clock()),
  };
};

const open = (
  { ledger }: AdminContext,
  { stuck, older = 0 }: z.output<typeof listInput>,
): Promise<readonly Transaction[]> => {
  const olderMs = stuck ? Math.max(STUCK_MS, older) : older;
  return openTransactions(ledger, { from: "0000", to: isoTime(ledger.clock() - olderMs) });
};

const ofAccount = async (
  desk: AdminContext,
  { account, mode, status }: z.output<typeof listInput>,
): Promise<readonly Transaction[]> => {
  if (account === undefined) throw new OperatorError("Either --stuck, --open or --account says which transactions");
  await requireAccount(desk.accounts, account);
  const owner = { accountId: account, mode };
  return (await listTransactions(desk.ledger, owner, { status }, ALL_TIMES, undefined)).transactions;
};

const show = async (
  desk: AdminContext,
  { reference, account }: { readonly reference: string; readonly account?: string | undefined },
): Promise<Report> => {
  const transaction = await requireTransaction(desk, reference, account);
  const history = await historyOf(desk, transaction);
  const json = transactionJson(transaction);
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
