import type { Command } from "commander";
import * as z from "#zod";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { PAGE_TRANSACTIONS_MAX } from "../../../shared/contract/limits.ts";
import { modeSchema, transactionStatus } from "../../../shared/contract/transaction.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { pagesOf } from "../../../shared/platform/pages.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { addCommand, type Report } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { durationField } from "../fields.ts";
import { perform } from "../perform.ts";
import { transactionsTable, waitingText } from "../views/transactions.ts";

const listInput = z.object({
  stuck: z._default(z.boolean(), false),
  open: z._default(z.boolean(), false),
  waiting: z._default(z.boolean(), false),
  older: z.optional(durationField),
  account: z.optional(z.string()),
  mode: z.optional(modeSchema),
  status: z.optional(transactionStatus),
});

export const addCommands = (group: Command): void => {
  addCommand(group, {
    usage: "list",
    readOnly: true,
    summary:
      "List open live transactions (--stuck or --open) or queued orders (--waiting), oldest first, or the latest of an account (--account)",
    example: "list --stuck",
    options: [
      { flags: "--stuck", text: "open for more than 15 minutes, in all accounts" },
      { flags: "--open", text: "all open ones that are sent, in all accounts" },
      { flags: "--waiting", text: "queued orders, in all accounts or --account" },
      { flags: "--older <time>", text: "with --stuck or --open: at least this old, such as 30m, 2h, 1d" },
      { flags: "--account <account>", text: "the latest 50 of one account" },
      { flags: "--mode <mode>", text: "with --account: live or test; default: live" },
      { flags: "--status <status>", text: "with --account: processing, success or failed" },
    ],
    input: listInput,
    run: list,
  });
};

const lists = ["stuck", "open", "waiting"] as const;
/** What each list takes; that of an account is the one without a name. */
const takenBy = { stuck: ["older"], open: ["older"], waiting: ["account"], "": ["account", "mode", "status"] } as const;

/** An option that a list does not take would be left out of account, and the list would say something else than asked. */
const requireOneList = (input: z.output<typeof listInput>): void => {
  const [list = "", ...others] = lists.filter((name) => input[name]);
  const taken: readonly string[] = takenBy[list];
  const refused = [...others, ...(["older", "account", "mode", "status"] as const)].find(
    (name) => input[name] !== undefined && !taken.includes(name),
  );
  if (refused === undefined) return;
  const asked = list || "account";
  const options = taken.filter((name) => name !== asked).map((name) => `--${name}`);
  throw new OperatorError(`--${asked} does not go with --${refused}, only with ${options.join(" and ")}`);
};

const list = async (context: AdminContext, input: z.output<typeof listInput>): Promise<Report> => {
  requireOneList(input);
  if (input.waiting) return listWaiting(context, input.account);
  if (input.stuck || input.open) return listed(context, await listOpen(context, input));
  const { transactions, next_cursor } = await listOfAccount(context, input);
  const { text } = listed(context, transactions);
  const truncated = next_cursor !== null && transactions.length < PAGE_TRANSACTIONS_MAX;
  return {
    json: { transactions, truncated },
    text: truncated ? `${text}\n\nOnly the latest transactions were searched.` : text,
  };
};

const listed = ({ ledger }: AdminContext, transactions: Listed): Report => ({
  json: { transactions },
  text: transactionsTable(transactions, ledger.clock()),
});

const listWaiting = async (context: AdminContext, account: string | undefined): Promise<Report> => {
  const json = await perform(context, "transactions waiting", { account });
  return { json, text: waitingText(json) };
};

type Listed = ActionOutput<"transactions list">["transactions"];

/** All of them, in contrast to the console. */
const listOpen = async (context: AdminContext, { stuck, older = 0 }: z.output<typeof listInput>): Promise<Listed> => {
  const pages = await Array.fromAsync(pagesOf((cursor) => perform(context, "transactions open", { cursor })));
  const createdUntil = isoTime(context.ledger.clock() - older);
  return pages
    .flatMap(({ transactions }) => transactions)
    .filter((order) => (order.stuck || !stuck) && order.created_at <= createdUntil);
};

const listOfAccount = async (
  context: AdminContext,
  { account, mode = "live", status }: z.output<typeof listInput>,
): Promise<ActionOutput<"transactions list">> => {
  if (account === undefined)
    throw new OperatorError("Add --stuck, --open, --waiting or --account to say which transactions to list");
  return perform(context, "transactions list", { account, mode, status });
};
