import type { Command } from "commander";
import * as z from "zod";
import { accountIds, requireAccount } from "../../../shared/access/account-store.ts";
import { adjustWallet, type EntryResult, fundWallet, type LedgerEntry } from "../../../shared/ledger/ledger-entry.ts";
import { timeRange } from "../../../shared/ledger/list-transactions.ts";
import { setLowBalanceThreshold } from "../../../shared/ledger/low-balance-threshold.ts";
import { readStatement } from "../../../shared/ledger/statement.ts";
import { readWallet } from "../../../shared/ledger/wallet.ts";
import { koboSchema } from "../../../shared/platform/money.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { addCommand, addGroup, type Report, why, whyRequired } from "../command.ts";
import { type AdminContext, auditItem } from "../context.ts";
import {
  accountField,
  entryIdField,
  momentField,
  nairaField,
  nairaOrNoneField,
  signedNairaField,
  whyField,
} from "../fields.ts";
import { fields, logProgress, naira, nairaNumber, orNull } from "../print.ts";
import { notReconciled, reconciledJson, reconciledTable, reconcileWallets } from "../reconcile-wallets.ts";
import { statementCsv, statementTable, statementView } from "../statement-print.ts";

const id = (text: string) => ({ flags: "--id <reference>", text, required: true }) as const;

export const addWallet = (program: Command): void => {
  const group = addGroup(program, "wallet", "An account's prepaid wallet");
  addCommand(group, {
    usage: "fund <account> <naira>",
    summary: "put money in, once for each bank transfer: repeating the command does nothing",
    example: "fund acc_0123456789abcdef01 50000 --id GTB-20261121-0042",
    options: [id("the bank's own reference of the transfer"), why],
    input: z.object({ account: accountField, naira: nairaField, id: entryIdField, why: whyField.optional() }),
    run: fund,
  });
  addCommand(group, {
    usage: "adjust <account> <naira>",
    summary: "correct a balance by an entry of its own, once for each id, and never below zero",
    example: 'adjust acc_0123456789abcdef01 -500 --id case-17 --why "refunded twice"',
    options: [id("a name for this correction"), whyRequired],
    input: z.object({ account: accountField, naira: signedNairaField, id: entryIdField, why: whyField }),
    run: adjust,
  });
  addCommand(group, {
    usage: "threshold <account> <naira>",
    summary: "set the balance that the app sees as low (GET /v1/wallet); 0 takes it away",
    example: "threshold acc_0123456789abcdef01 5000",
    options: [why],
    input: z.object({ account: accountField, naira: nairaOrNoneField, why: whyField.optional() }),
    run: setThreshold,
  });
  addCommand(group, {
    usage: "statement <account>",
    readOnly: true,
    summary: "everything that moved the balance, oldest first",
    example: "statement acc_0123456789abcdef01 --from 2026-11-01 --to 2026-11-30 --csv > november.csv",
    options: [
      { flags: "--from <time>", text: "a date or a time; default: the beginning" },
      { flags: "--to <time>", text: "a date (that whole day, UTC) or a time; default: now" },
      { flags: "--csv", text: "as CSV" },
    ],
    input: z.object({
      account: accountField,
      from: momentField.optional(),
      to: momentField.optional(),
      csv: z.boolean().default(false),
    }),
    run: async (desk, { account, csv, from, to }) => {
      await requireAccount(desk.accounts, account);
      const range = timeRange({ from, to });
      if (range === undefined) throw new OperatorError("--to must not be before --from");
      const statement = await readStatement(desk.ledger, account, range);
      return {
        json: statementView(account, statement),
        text: csv ? statementCsv(statement) : statementTable(statement),
      };
    },
  });
  addCommand(group, {
    usage: "verify [account]",
    readOnly: true,
    summary:
      "prove the balance: fundings and adjustments minus what was bought; exit code 1 where two readings show a difference",
    example: "verify acc_0123456789abcdef01",
    options: [{ flags: "--all", text: "every account's, one after the other" }],
    input: z.object({ account: accountField.optional(), all: z.boolean().default(false) }),
    run: async (desk, { account, all }) => {
      if (all === (account !== undefined)) throw new OperatorError("Name an account, or say --all");
      return account === undefined ? verifyAll(desk) : verify(desk, { account });
    },
  });
};

type Wish = {
  readonly account: string;
  readonly naira: number;
  readonly id: string;
  readonly why?: string | undefined;
};

const fund = async (desk: AdminContext, { account, naira, id, why }: Wish): Promise<Report> => {
  await requireAccount(desk.accounts, account);
  const auditFields = { action: "wallet fund", why, details: { id, amount: nairaNumber(naira) } };
  const booking = await fundWallet(
    desk.ledger,
    { accountId: account, fundingId: id, amountKobo: koboSchema.parse(naira) },
    auditItem(desk, account, auditFields),
  );
  return booked(desk, { account, naira, id }, booking);
};

const adjust = async (
  desk: AdminContext,
  { account, naira, id, why }: Wish & { readonly why: string },
): Promise<Report> => {
  await requireAccount(desk.accounts, account);
  const auditFields = { action: "wallet adjust", why, details: { id, amount: nairaNumber(naira) } };
  const booking = await adjustWallet(
    desk.ledger,
    { accountId: account, adjustmentId: id, amount_kobo: naira, why },
    auditItem(desk, account, auditFields),
  );
  return booked(desk, { account, naira, id }, booking);
};

const booked = async (
  desk: AdminContext,
  { account, naira: kobo, id }: Wish,
  booking: EntryResult,
): Promise<Report> => {
  const { balance_kobo } = await readWallet(desk.ledger, account);
  if (booking.kind === "insufficient_balance") {
    throw new OperatorError(`The balance of ${account} is ${naira(balance_kobo)} NGN, and must not become negative`);
  }
  const isRepeat = booking.kind === "already_recorded";
  if (isRepeat) assertSameEntry(booking.entry, account, kobo);
  return {
    json: {
      account_id: account,
      id,
      amount: nairaNumber(kobo),
      repeated: isRepeat,
      balance: nairaNumber(balance_kobo),
    },
    text: `${isRepeat ? `${id} was booked before, and was not booked again.\n` : ""}${fields({
      account,
      id,
      amount: naira(kobo),
      balance: naira(balance_kobo),
    })}`,
  };
};

/** A repeat with another account or amount is a mistake: the operator is told which entry stands. */
const assertSameEntry = (entry: LedgerEntry, account: string, kobo: number): void => {
  const { account_id, entry_id, amount_kobo, created_at } = entry;
  const booked = `${naira(amount_kobo)} NGN at ${created_at}`;
  if (account_id !== account) {
    throw new OperatorError(
      `${entry_id} was credited to account ${account_id} first, with ${booked}: a bank transfer is credited once`,
    );
  }
  if (amount_kobo === kobo) return;
  throw new OperatorError(
    `${entry_id} was booked with ${booked}, and that entry stands: correct the amount by wallet adjust with another --id`,
  );
};

type Threshold = { readonly account: string; readonly naira: number | undefined; readonly why?: string | undefined };

const setThreshold = async (desk: AdminContext, { account, naira: kobo, why }: Threshold): Promise<Report> => {
  await requireAccount(desk.accounts, account);
  const threshold = kobo === undefined ? undefined : koboSchema.parse(kobo);
  const lowBalanceThreshold = orNull(kobo, nairaNumber);
  const auditFields = { action: "wallet threshold", why, details: { amount: lowBalanceThreshold ?? 0 } };
  await setLowBalanceThreshold(desk.ledger, account, threshold, auditItem(desk, account, auditFields));
  return {
    json: { account_id: account, low_balance_threshold: lowBalanceThreshold },
    text: fields({ account, "low below": orNull(kobo, naira) }),
  };
};

const verifyAll = async ({ ledger, accounts }: AdminContext): Promise<Report> => {
  const ids: string[] = [];
  for await (const accountId of accountIds(accounts)) ids.push(accountId);
  const wallets = await reconcileWallets(ledger, ids, logProgress);
  const ok = notReconciled(wallets).length === 0;
  return { ok, json: { ok, wallets: reconciledJson(wallets) }, text: reconciledTable(wallets) };
};

const verify = async (desk: AdminContext, { account }: { readonly account: string }): Promise<Report> => {
  await requireAccount(desk.accounts, account);
  const [{ proof } = { proof: undefined }] = await reconcileWallets(desk.ledger, [account], logProgress);
  if (proof === undefined) throw new Error("The wallet is too busy to be proved: try again");
  const { balance_kobo, expected_kobo, difference_kobo } = proof;
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
    })}\n\n${ok ? "Proved." : "The balance is not what its entries say: see the runbook, a wallet that differs."}`,
  };
};
