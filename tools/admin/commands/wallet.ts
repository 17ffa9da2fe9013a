import type { Command } from "commander";
import * as z from "zod";
import { requireAccount } from "../../../shared/access/account-store.ts";
import { auditItem } from "../../../shared/actions/action-context.ts";
import { notReconciled, reconcileWallets } from "../../../shared/actions/reconcile-wallets.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import { adjustWallet, type EntryResult, fundWallet, type LedgerEntry } from "../../../shared/ledger/ledger-entry.ts";
import { timeRange } from "../../../shared/ledger/list-transactions.ts";
import { setLowBalanceThreshold } from "../../../shared/ledger/low-balance-threshold.ts";
import { accountIdsOf } from "../../../shared/ledger/query-index.ts";
import { readStatement, statementLines } from "../../../shared/ledger/statement.ts";
import { readWallet } from "../../../shared/ledger/wallet.ts";
import { koboSchema, nairaNumber } from "../../../shared/platform/money.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { addCommand, addGroup, type Report, why, whyRequired } from "../command.ts";
import type { AdminContext } from "../context.ts";
import {
  accountField,
  entryIdField,
  nairaOrNoneField,
  positiveNairaField,
  signedNairaField,
  timeField,
} from "../fields.ts";
import { fields, logProgress, naira, orNull } from "../views/print.ts";
import { statementCsv, statementTable, statementView } from "../views/statement.ts";
import { reconciledJson, reconciledTable } from "../views/wallets.ts";

const idOption = (text: string) => ({ flags: "--id <reference>", text, required: true }) as const;

export const addWallet = (program: Command): void => {
  const group = addGroup(program, "wallet", "Fund, correct and reconcile wallets");
  addCommand(group, {
    usage: "fund <account> <naira>",
    summary: "Credit a bank transfer to a wallet; safe to retry with the same --id",
    example: "fund acc_0123456789abcdef01 50000 --id GTB-20261121-0042",
    options: [idOption("the bank's reference of the transfer"), why],
    input: z.object({ account: accountField, naira: positiveNairaField, id: entryIdField, why: whySchema.optional() }),
    run: fund,
  });
  addCommand(group, {
    usage: "adjust <account> <naira>",
    summary: "Correct a balance with a ledger entry, never below 0; safe to retry with the same --id",
    example: 'adjust acc_0123456789abcdef01 -500 --id case-17 --why "refunded twice"',
    options: [idOption("a unique name of this correction"), whyRequired],
    input: z.object({ account: accountField, naira: signedNairaField, id: entryIdField, why: whySchema }),
    run: adjust,
  });
  addCommand(group, {
    usage: "threshold <account> <naira>",
    summary: "Set the balance below which GET /v1/wallet reports a low balance; 0 removes it",
    example: "threshold acc_0123456789abcdef01 5000",
    options: [why],
    input: z.object({ account: accountField, naira: nairaOrNoneField, why: whySchema.optional() }),
    run: setThreshold,
  });
  addCommand(group, {
    usage: "statement <account>",
    readOnly: true,
    summary: "List the ledger entries of a wallet, oldest first, with the running balance",
    example: "statement acc_0123456789abcdef01 --from 2026-11-01 --to 2026-11-30 --csv > november.csv",
    options: [
      { flags: "--from <time>", text: "a date or a time; default: the first entry" },
      { flags: "--to <time>", text: "a date (that whole day, UTC) or a time; default: now" },
      { flags: "--csv", text: "print CSV" },
    ],
    input: z.object({
      account: accountField,
      from: timeField.optional(),
      to: timeField.optional(),
      csv: z.boolean().default(false),
      json: z.boolean().default(false),
    }),
    run: async (context, { account, csv, json, from, to }) => {
      await requireAccount(context.accounts, account);
      const range = timeRange({ from, to });
      if (range === undefined) throw new OperatorError("--to must not be before --from");
      // Only CSV is printed as it is read: its lines need neither the closing balance nor the columns' widths.
      if (csv && !json) return { json: undefined, text: statementCsv(statementLines(context.ledger, account, range)) };
      const statement = await readStatement(context.ledger, account, range);
      return { json: statementView(account, statement), text: statementTable(statement) };
    },
  });
  addCommand(group, {
    usage: "verify [account]",
    readOnly: true,
    summary: "Reconcile a balance with its ledger entries; exit code 1 if two readings in a row show a difference",
    example: "verify acc_0123456789abcdef01",
    options: [{ flags: "--all", text: "every account, one after the other" }],
    input: z.object({ account: accountField.optional(), all: z.boolean().default(false) }),
    run: async (context, { account, all }) => {
      if (all === (account !== undefined)) throw new OperatorError("Name an account, or add --all");
      return account === undefined ? reconcileAll(context) : reconcileOne(context, account);
    },
  });
};

type EntryInput = {
  readonly account: string;
  readonly naira: number;
  readonly id: string;
  readonly why?: string | undefined;
};

const fund = async (context: AdminContext, { account, naira, id, why }: EntryInput): Promise<Report> => {
  await requireAccount(context.accounts, account);
  const auditFields = { action: "wallet fund", why, details: { id, amount: nairaNumber(naira) } };
  const result = await fundWallet(
    context.ledger,
    { accountId: account, fundingId: id, amountKobo: koboSchema.parse(naira) },
    auditItem(context, account, auditFields),
  );
  return entryReport(context, { account, naira, id }, result);
};

const adjust = async (
  context: AdminContext,
  { account, naira, id, why }: EntryInput & { readonly why: string },
): Promise<Report> => {
  await requireAccount(context.accounts, account);
  const auditFields = { action: "wallet adjust", why, details: { id, amount: nairaNumber(naira) } };
  const result = await adjustWallet(
    context.ledger,
    { accountId: account, adjustmentId: id, amount_kobo: naira, why },
    auditItem(context, account, auditFields),
  );
  return entryReport(context, { account, naira, id }, result);
};

const entryReport = async (
  context: AdminContext,
  { account, naira: kobo, id }: EntryInput,
  result: EntryResult,
): Promise<Report> => {
  const { balance_kobo } = await readWallet(context.ledger, account);
  if (result.kind === "insufficient_balance") {
    throw new OperatorError(
      `The balance of ${account} is ${naira(balance_kobo)} NGN and must not become negative. Fund the wallet first`,
    );
  }
  const isReplay = result.kind === "already_recorded";
  if (isReplay) assertSameEntry(result.entry, account, kobo);
  return {
    json: {
      account_id: account,
      id,
      amount: nairaNumber(kobo),
      repeated: isReplay,
      balance: nairaNumber(balance_kobo),
    },
    text: `${isReplay ? `${id} was recorded before: nothing was changed.\n` : ""}${fields({
      account,
      id,
      amount: naira(kobo),
      balance: naira(balance_kobo),
    })}`,
  };
};

/** Refuses an id that an entry of another account or amount already has. */
const assertSameEntry = (entry: LedgerEntry, account: string, kobo: number): void => {
  const { account_id, entry_id, amount_kobo, created_at } = entry;
  const recorded = `${naira(amount_kobo)} NGN at ${created_at}`;
  if (account_id !== account) {
    throw new OperatorError(
      `${entry_id} was credited to account ${account_id} already, with ${recorded}. ` +
        "If that is the wrong account, move the money with wallet adjust",
    );
  }
  if (amount_kobo === kobo) return;
  throw new OperatorError(
    `${entry_id} was recorded already, with ${recorded}. Correct the amount with wallet adjust and another --id`,
  );
};

type ThresholdInput = {
  readonly account: string;
  readonly naira: number | undefined;
  readonly why?: string | undefined;
};

const setThreshold = async (context: AdminContext, { account, naira: kobo, why }: ThresholdInput): Promise<Report> => {
  await requireAccount(context.accounts, account);
  const threshold = kobo === undefined ? undefined : koboSchema.parse(kobo);
  const lowBalanceThreshold = orNull(kobo, nairaNumber);
  const auditFields = { action: "wallet threshold", why, details: { amount: lowBalanceThreshold ?? 0 } };
  await setLowBalanceThreshold(context.ledger, account, threshold, auditItem(context, account, auditFields));
  return {
    json: { account_id: account, low_balance_threshold: lowBalanceThreshold },
    text: fields({ account, "low below": orNull(kobo, naira) }),
  };
};

const reconcileAll = async ({ ledger }: AdminContext): Promise<Report> => {
  const wallets = await reconcileWallets(ledger, await accountIdsOf(ledger), logProgress);
  const ok = notReconciled(wallets).length === 0;
  return { ok, json: { ok, wallets: reconciledJson(wallets) }, text: reconciledTable(wallets) };
};

const BALANCED = "The balance equals its entries.";
const MISMATCH = 'The balance differs from its entries. See "Wallet mismatch" in docs/runbook.md.';

const reconcileOne = async (context: AdminContext, account: string): Promise<Report> => {
  await requireAccount(context.accounts, account);
  const [wallet] = await reconcileWallets(context.ledger, [account], logProgress);
  if (wallet?.reconciliation === undefined) throw new Error("The wallet changed during every reading. Try again");
  const { balance_kobo, expected_kobo, difference_kobo } = wallet.reconciliation;
  const ok = difference_kobo === 0;
  return {
    ok,
    json: {
      account_id: account,
      ok,
      balance: nairaNumber(balance_kobo),
      expected: nairaNumber(expected_kobo),
      difference: nairaNumber(difference_kobo),
    },
    text: `${fields({
      account,
      balance: naira(balance_kobo),
      expected: naira(expected_kobo),
      difference: naira(difference_kobo),
    })}\n\n${ok ? BALANCED : MISMATCH}`,
  };
};
