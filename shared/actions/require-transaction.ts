import {
  findByCallerReference,
  findByOwnReference,
  findByUpstreamReference,
  readTransaction,
  readTransactions,
} from "../ledger/find-transactions.ts";
import { referenceOf, type Transaction } from "../ledger/transaction.ts";
import { NotFoundError } from "../platform/operator-error.ts";
import { findEvent, type StoredEvent } from "../upstream-events/stored-event.ts";
import type { ActionContext } from "./action-context.ts";

/** Our references of the transactions with these keys, by key. */
export const referencesOf = async (
  { ledger }: ActionContext,
  pks: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const transactions = await readTransactions(ledger, pks);
  return new Map(transactions.map((transaction) => [transaction.pk, referenceOf(transaction)]));
};

/** Finds a transaction by our reference, by the upstream's, or by the caller's own together with its account. */
export const requireTransaction = async (
  context: ActionContext,
  reference: string,
  account?: string | undefined,
): Promise<Transaction> => {
  const transaction =
    (await findByOwnReference(context.ledger, reference)) ?? (await findByOtherReference(context, reference, account));
  if (transaction !== undefined) return transaction;
  if (account !== undefined) throw notOfAccount(reference, account);
  throw new NotFoundError(`There is no transaction ${reference}`, {
    field: "reference",
    command: "By the caller's own reference transactions show, consents show and audit find it with --account ACCOUNT",
  });
};

/**
 * The same among the account's transactions only: another account's does not exist for it. Without an account, which
 * only people with a role may leave out, a transaction of any.
 */
export const requireTransactionOf = async (
  context: ActionContext,
  account: string | undefined,
  reference: string,
): Promise<Transaction> => {
  if (account === undefined) return requireTransaction(context, reference);
  const own = await findByOwnReference(context.ledger, reference);
  const transaction = own?.account_id === account ? own : await findByOtherReference(context, reference, account);
  if (transaction === undefined) throw notOfAccount(reference, account);
  return transaction;
};

export const requireEvent = async ({ ledger }: ActionContext, id: string): Promise<StoredEvent> => {
  const event = await findEvent(ledger, id);
  if (event !== undefined) return event;
  throw new NotFoundError(`There is no event ${id}`, { command: "events list shows the event ids" });
};

const notOfAccount = (reference: string, account: string): NotFoundError =>
  new NotFoundError(`There is no transaction ${reference} of account ${account}`, { field: "reference" });

const findByOtherReference = async (
  context: ActionContext,
  reference: string,
  account: string | undefined,
): Promise<Transaction | undefined> => {
  const byCaller = account === undefined ? undefined : await findByCaller(context, account, reference);
  if (byCaller !== undefined) return byCaller;
  const [first, ...others] = await findByUpstreamReference(context.ledger, reference);
  const byUpstream = first && others.length === 0 ? await readTransaction(context.ledger, first.pk) : undefined;
  return account === undefined || byUpstream?.account_id === account ? byUpstream : undefined;
};

/** The account's transaction with this caller reference, of either mode. */
const findByCaller = async (
  context: ActionContext,
  accountId: string,
  reference: string,
): Promise<Transaction | undefined> => {
  const keyedHashes = await context.keyedHashes();
  for (const mode of ["live", "test"] as const) {
    const transaction = await findByCallerReference(context.ledger, keyedHashes, { accountId, mode }, reference);
    if (transaction !== undefined) return transaction;
  }
  return undefined;
};
