import type { Command } from "commander";
import * as z from "#zod";
import { notReconciled, reconcileWallets } from "../../../shared/actions/reconcile-wallets.ts";
import { verifyWallet } from "../../../shared/actions/wallet.ts";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { walletActions } from "../../../shared/contract/actions/wallet.ts";
import { openingOf, statementColumns, statementCsv } from "../../../shared/contract/reports/statement-csv.ts";
import { momentField } from "../../../shared/contract/transaction-query.ts";
import { moneyText } from "../../../shared/contract/values/money.ts";
import { accountIdsOf } from "../../../shared/ledger/query-index.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { pagesOf } from "../../../shared/platform/pages.ts";
import { addCommand, type Report } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { END_TIME } from "../fields.ts";
import { perform } from "../perform.ts";
import { fields, logProgress, nairaText, table } from "../views/print.ts";
import { reconciledJson, reconciledTable } from "../views/wallets.ts";

export const addCommands = (group: Command): void => {
  addCommand(group, {
    usage: "statement <account>",
    readOnly: true,
    summary: walletActions["wallet statement"].summary,
    example: "statement acc_0123456789abcdef01 --from 2026-11-01 --to 2026-11-30 --csv > november.csv",
    options: [
      { flags: "--from <time>", text: "a date or a time; default: the first entry" },
      { flags: "--to <time>", text: `${END_TIME}; default: now` },
      { flags: "--csv", text: "print CSV" },
    ],
    input: z.object({
      account: z.string(),
      from: z.optional(momentField),
      to: z.optional(momentField),
      csv: z._default(z.boolean(), false),
      json: z._default(z.boolean(), false),
    }),
    run: async (context, { csv, json, ...period }) => {
      const pages = pagesOf((cursor) => perform(context, "wallet statement", { ...period, cursor }));
      // Only CSV is printed as it is read: its lines do not need the columns' widths.
      if (csv && !json) return { json: undefined, text: statementCsv(pages, period) };
      const statement = wholeStatement(await Array.fromAsync(pages));
      return { json: statement, text: statementTable(statement) };
    },
  });
  addCommand(group, {
    usage: "verify [account]",
    readOnly: true,
    summary: "Reconcile a balance with its ledger entries; exit code 1 if two readings in a row show a difference",
    example: "verify acc_0123456789abcdef01",
    options: [{ flags: "--all", text: "every account, one after the other" }],
    input: z.object({ account: z.optional(z.string()), all: z._default(z.boolean(), false) }),
    run: async (context, { account, all }) => {
      if (all === (account !== undefined)) throw new OperatorError("Name an account, or add --all");
      return account === undefined ? reconcileAll(context) : reconcileOne(context, account);
    },
  });
};

type StatementPage = ActionOutput<"wallet statement">;
type Statement = Omit<StatementPage, "next_cursor">;

const wholeStatement = (pages: readonly StatementPage[]): Statement => {
  const [last, opening] = [pages.at(-1), openingOf(pages)];
  if (last === undefined || opening === undefined) throw new Error("A statement has a last page");
  const { account_id, closing } = last;
  return { account_id, opening, closing, lines: pages.flatMap(({ lines }) => lines) };
};

const cells = (line: Statement["lines"][number]): readonly string[] => [
  ...[line.local_time, line.kind, line.id, line.caller_reference ?? "", line.network ?? "", line.description],
  ...[nairaText(line.effect), nairaText(line.balance)],
];

const statementTable = ({ opening, closing, lines }: Statement): string =>
  `Opening balance ${moneyText(opening)}\n\n${table(
    statementColumns.map((column) => column.replaceAll("_", " ")),
    lines.map(cells),
  )}\n\nClosing balance ${moneyText(closing)}`;

/** Only the service writes checkpoints: its own verification resets one that is wrong. With `--direct` the person does. */
const resetByService = (context: AdminContext): ((account: string) => Promise<void>) | undefined =>
  context.isDirect
    ? undefined
    : async (account) => {
        await perform(context, "wallet verify", { account });
      };

const reconcileAll = async (context: AdminContext): Promise<Report> => {
  const { ledger } = context;
  const wallets = await reconcileWallets(ledger, await accountIdsOf(ledger), logProgress, resetByService(context));
  const ok = notReconciled(wallets).length === 0;
  return { ok, json: { ok, wallets: reconciledJson(wallets) }, text: reconciledTable(wallets) };
};

const BALANCED = "The balance equals its entries.";
const MISMATCH = 'The balance differs from its entries. See "Wallet mismatch" in docs/runbook.md.';

const reconcileOne = async (context: AdminContext, account: string): Promise<Report> => {
  const json = await verifyWallet(context, account, logProgress, resetByService(context));
  const { ok, balance, expected, difference } = json;
  return {
    ok,
    json,
    text: `${fields({
      account,
      balance: nairaText(balance),
      expected: nairaText(expected),
      difference: nairaText(difference),
    })}\n\n${ok ? BALANCED : MISMATCH}`,
  };
};
