import * as z from "#zod";
import { assertNotClosed, requireAccount } from "../access/account-store.ts";
import type { ActionInput } from "../contract/actions/actions.ts";
import { STATEMENT_LINES_MAX, type walletActions } from "../contract/actions/wallet.ts";
import { adjusts, correctedBy, recreditId, refundName, reversalName, takenAgain } from "../contract/corrections.ts";
import { koboMoneyText, koboSchema, nairaFromKobo } from "../contract/values/money.ts";
import { timeIn } from "../contract/values/time-zone.ts";
import { findByOwnReference } from "../ledger/find-transactions.ts";
import { getItems } from "../ledger/get-item.ts";
import {
  adjustWallet,
  type EntryResult,
  fundWallet,
  type LedgerEntry,
  readAdjustment,
  readFunding,
} from "../ledger/ledger-entry.ts";
import { setLowBalanceThreshold } from "../ledger/low-balance-threshold.ts";
import { accountIdsOf, type TimeRange } from "../ledger/query-index.ts";
import { walletPk } from "../ledger/schema.ts";
import {
  readStatementPage,
  type StatementLine,
  type StatementPosition,
  statementPositionSchema,
} from "../ledger/statement.ts";
import { lowBalanceOf, readWallet, walletSchema } from "../ledger/wallet.ts";
import { NotFoundError, OperatorError } from "../platform/operator-error.ts";
import { orNull } from "../platform/or-null.ts";
import { countQueuedOrders } from "../queued-orders/queued-orders-report.ts";
import { type ActionContext, type AuditFields, auditItem } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";
import { openCursor, sealCursor } from "./cursor.ts";
import { reconcileWallets } from "./reconcile-wallets.ts";
import { requireTimeRange } from "./time-range.ts";

/** Balances below their thresholds, the lowest part of it first. */
export const readLowWallets = async (ledger: ActionContext["ledger"]) => {
  const wallets = await getItems(ledger, (await accountIdsOf(ledger)).map(walletPk), walletSchema);
  const lowWallets = wallets.flatMap((wallet) => {
    const { account_id } = wallet;
    const low = lowBalanceOf(wallet);
    if (low === undefined) return [];
    return [{ account_id, balance: nairaFromKobo(low.balance), low_balance_threshold: nairaFromKobo(low.threshold) }];
  });
  const share = (wallet: (typeof lowWallets)[number]): number => wallet.balance / wallet.low_balance_threshold;
  return lowWallets.toSorted((one, other) => share(one) - share(other));
};

export const walletRuns: ActionRuns<typeof walletActions> = {
  "wallet show": async ({ accounts, ledger }, { account }) => {
    await requireAccount(accounts, account);
    const wallet = await readWallet(ledger, account);
    return {
      account_id: account,
      balance: nairaFromKobo(wallet.balance_kobo),
      low_balance_threshold: orNull(wallet.low_balance_threshold_kobo, nairaFromKobo),
      queued_orders: await countQueuedOrders(ledger, wallet),
      updated_at: wallet.updated_at,
    };
  },
  "wallet low": async ({ ledger }) => ({ wallets: await readLowWallets(ledger) }),
  "wallet threshold": async (context, { account, amount_kobo, before_kobo, why }) => {
    assertNotClosed(await requireAccount(context.accounts, account));
    const threshold = amount_kobo === 0 ? undefined : koboSchema.parse(amount_kobo);
    const auditFields = { action: "wallet threshold", why, details: { amount: nairaFromKobo(amount_kobo) } };
    const audit = auditItem(context, account, auditFields);
    await setLowBalanceThreshold(context.ledger, account, threshold, audit, before_kobo);
    return { account_id: account, low_balance_threshold: orNull(threshold, nairaFromKobo) };
  },
  "wallet fund": async (context, { account, amount_kobo, id, why }) => {
    await assertMayBook(context, { amount_kobo, id }, () => readFunding(context.ledger, id));
    await requireAccount(context.accounts, account);
    const auditFields = { action: "wallet fund", why, details: { id, amount: nairaFromKobo(amount_kobo) } };
    const result = await fundWallet(
      context.ledger,
      { accountId: account, fundingId: id, amountKobo: koboSchema.parse(amount_kobo) },
      auditItem(context, account, auditFields),
    );
    return entryView(context, { account, amount_kobo, id }, result);
  },
  "wallet adjust": async (context, { account, amount_kobo, id, why }) => {
    await assertTakesAsNamed(context, { account, amount_kobo, id });
    const details = { id, amount: nairaFromKobo(amount_kobo) };
    return adjust(context, { account, amount_kobo, id, why }, { action: "wallet adjust", details });
  },
  "wallet reverse": async (context, { account, id: fundingId, why }) => {
    const funding = await requireFunding(context, account, fundingId);
    const { entry_id: id } = funding;
    const amount_kobo = -funding.amount_kobo;
    const details = { id, amount: nairaFromKobo(amount_kobo) };
    const entry = { account, amount_kobo, id: reversalName(id), why };
    return adjust(context, entry, { action: "wallet reverse", details });
  },
  "wallet statement": async (context, { account, cursor, ...period }) => {
    await requireAccount(context.accounts, account);
    const range = requireTimeRange(context, period);
    const start = await statementPosition(context, account, cursor, range);
    const page = await readStatementPage(context.ledger, account, range, start, PAGE_LIMITS);
    return {
      account_id: account,
      opening: nairaFromKobo(page.opening_kobo),
      closing: nairaFromKobo(page.closing_kobo),
      lines: page.lines.map((line) => statementLineView(line, context.timeZone)),
      next_cursor: await sealCursor(context, statementOf(account), page.next),
    };
  },
  "wallet verify": async (context, { account }) => verifyWallet(context, account, () => {}),
};

export const requireFunding = async ({ ledger }: ActionContext, account: string, id: string): Promise<LedgerEntry> => {
  const funding = await readFunding(ledger, id);
  if (funding?.account_id === account) return funding;
  throw new NotFoundError(`There is no funding ${id} of account ${account}`);
};

/** Records an adjustment with its audit entry, once under its id. */
export const adjust = async (
  context: ActionContext,
  { account, amount_kobo, id, why }: NewEntry & { readonly why: string },
  auditFields: AuditFields,
) => {
  await assertMayBook(context, { amount_kobo, id }, () => readAdjustment(context.ledger, account, id));
  await requireAccount(context.accounts, account);
  const result = await adjustWallet(
    context.ledger,
    { accountId: account, adjustmentId: id, amount_kobo, why },
    auditItem(context, account, { ...auditFields, why }),
  );
  return entryView(context, { account, amount_kobo, id }, result);
};

export const statementLineView = (
  { at, kind, id, caller_reference, network, description, effect_kobo, balance_after_kobo }: StatementLine,
  timeZone: string,
) => ({
  at,
  local_time: timeIn(Date.parse(at), timeZone),
  kind,
  id,
  caller_reference,
  network,
  description,
  effect: nairaFromKobo(effect_kobo),
  balance: nairaFromKobo(balance_after_kobo),
});

/** 5,000 items are read in about a second. */
const PAGE_LIMITS = { linesMax: STATEMENT_LINES_MAX, itemsMax: 5_000 };

const statementOf = (account: string): readonly string[] => ["wallet statement", account];

/** A cursor has the balance before its page: a forged one would make a false statement. */
const statementPosition = (context: ActionContext, account: string, cursor: string | undefined, { to }: TimeRange) => {
  const isWithin = ({ entry, transaction, refund }: StatementPosition): boolean =>
    [entry, transaction, refund].every((key) => key === undefined || key.created_at <= to);
  const schema = statementPositionSchema.check(z.refine(isWithin));
  return openCursor(context, statementOf(account), schema, cursor, "statement");
};

/** Reconciles one wallet, which takes some seconds longer if a difference has to be confirmed. */
export const verifyWallet = async (
  { accounts, ledger }: ActionContext,
  account: string,
  logProgress: (message: string) => void,
  resetCheckpoint?: (account: string) => Promise<void>,
) => {
  await requireAccount(accounts, account);
  const [wallet] = await reconcileWallets(ledger, [account], logProgress, resetCheckpoint);
  if (wallet?.reconciliation === undefined) throw new Error("The wallet changed during every reading. Try again");
  const { balance_kobo, expected_kobo, difference_kobo } = wallet.reconciliation;
  return {
    account_id: account,
    ok: difference_kobo === 0,
    balance: nairaFromKobo(balance_kobo),
    expected: nairaFromKobo(expected_kobo),
    difference: nairaFromKobo(difference_kobo),
  };
};

/** A typing error or one person's credentials move no more than this at once. What corrects another record is never divided. */
export const boundRefusal = (
  { operatorActMax }: ActionContext,
  amountKobo: number,
  id: string,
): OperatorError | undefined =>
  Math.abs(amountKobo) <= operatorActMax
    ? undefined
    : new OperatorError(
        `At most ${koboMoneyText(operatorActMax)} at once: raise operatorActMaxNaira of the stage by a reviewed deployment`,
        correctedBy(id) === undefined && takenAgain(id) === undefined
          ? {
              command: "If it is not recorded yet, make several entries instead, each with an --id of its own",
              field: "amount_kobo",
            }
          : { field: "amount_kobo" },
      );

/** The same, unless the entry is recorded: a person who lost the answer, before the bound was lowered, would divide it. */
const assertMayBook = async (
  context: ActionContext,
  { amount_kobo, id }: Pick<NewEntry, "amount_kobo" | "id">,
  recorded: () => Promise<LedgerEntry | undefined>,
): Promise<void> => {
  const refusal = boundRefusal(context, amount_kobo, id);
  if (refusal !== undefined && (await recorded()) === undefined) throw refusal;
};

/**
 * By its name an adjustment takes what was paid out, or the amount of an order again: all of it, of the account that got it
 * back. With a wrong sign it would be given a second time, and the journal would not show it among the adjustments. An order
 * that a restored ledger lacks, or has as cancelled by its caller since, cannot be compared.
 */
export const assertTakesAsNamed = async (
  { ledger }: ActionContext,
  { account, amount_kobo, id }: NewEntry,
): Promise<void> => {
  if (amount_kobo > 0 && adjusts(id) !== "none") {
    throw new OperatorError(`By its name ${id} takes an amount and gives none: it must be below 0`, {
      field: "amount_kobo",
    });
  }
  const reference = takenAgain(id);
  if (reference === undefined) return;
  const transaction = await findByOwnReference(ledger, reference);
  if (transaction === undefined) return;
  const { account_id, mode, status } = transaction;
  if (account_id !== account) throw new OperatorError(`${reference} is an order of ${account_id}`, { field: "id" });
  if (transaction.debit === "cancelled") return;
  const isRefunded =
    mode === "live" &&
    (status === "failed" || (await readAdjustment(ledger, account, refundName(reference))) !== undefined);
  if (!isRefunded)
    throw new OperatorError(`${reference} is ${status} in mode ${mode}: it was not refunded`, { field: "id" });
  if (amount_kobo === -transaction.amount_kobo) return;
  throw new OperatorError(
    `${id} takes the amount of ${reference} again: it is ${koboMoneyText(-transaction.amount_kobo)}, not ${koboMoneyText(amount_kobo)}`,
    { field: "amount_kobo" },
  );
};

type NewEntry = Pick<ActionInput<"wallet fund">, "account" | "amount_kobo" | "id">;

const entryView = async ({ ledger }: ActionContext, { account, amount_kobo, id }: NewEntry, result: EntryResult) => {
  const { balance_kobo } = await readWallet(ledger, account);
  if (result.kind === "insufficient_balance") {
    throw new OperatorError(
      `The balance of ${account} is ${koboMoneyText(balance_kobo)} and must not become negative. Fund the wallet first`,
      { field: "amount_kobo" },
    );
  }
  const isReplay = result.kind === "already_recorded";
  if (isReplay) await assertSameEntry(ledger, result.entry, account, amount_kobo);
  return {
    account_id: account,
    id,
    amount: nairaFromKobo(amount_kobo),
    repeated: isReplay,
    balance: nairaFromKobo(balance_kobo),
  };
};

/** Refuses an id that an entry of another account or amount already has, and that of a reversed funding. */
const assertSameEntry = async (
  ledger: ActionContext["ledger"],
  entry: LedgerEntry,
  account: string,
  amountKobo: number,
): Promise<void> => {
  const reversal = await readReversal(ledger, entry);
  if (entry.account_id === account && entry.amount_kobo === amountKobo && reversal === undefined) return;
  throw usedIdError(entry, account, reversal);
};

/** Refuses an id that an entry already has, also an equal one: for what has not been decided yet. */
export const assertUnusedId = async (
  ledger: ActionContext["ledger"],
  entry: LedgerEntry | undefined,
  account: string,
): Promise<void> => {
  if (entry !== undefined) throw usedIdError(entry, account, await readReversal(ledger, entry));
};

/** The adjustment that reversed a funding; undefined if none did, or it is no funding. */
export const readReversal = async (
  ledger: ActionContext["ledger"],
  { kind, account_id, entry_id }: LedgerEntry,
): Promise<LedgerEntry | undefined> =>
  kind === "funding" ? readAdjustment(ledger, account_id, reversalName(entry_id)) : undefined;

const usedIdError = (
  { kind, account_id, entry_id, amount_kobo, created_at }: LedgerEntry,
  account: string,
  reversal: LedgerEntry | undefined,
): OperatorError => {
  const done = account_id === account ? "recorded already" : `credited to account ${account_id} already`;
  const sentence = `${entry_id} was ${done}, with ${koboMoneyText(amount_kobo)} at ${created_at}`;
  const again = recreditId(entry_id);
  if (reversal !== undefined) {
    return new OperatorError(
      `${sentence}, and reversed at ${reversal.created_at}. Credit it again with the id ${again}`,
      { field: "id" },
    );
  }
  // What corrects another record is booked once, and in full.
  if (correctedBy(entry_id) !== undefined) return new OperatorError(sentence, { field: "id" });
  return new OperatorError(sentence, {
    field: "id",
    command:
      kind === "funding"
        ? `If that is wrong: wallet reverse ${account_id} --id ${entry_id} --why REASON, then credit it with the id ${again}`
        : "Correct the amount with wallet adjust and another --id",
  });
};
