import {
  findByCallerReference,
  findByUpstreamReference,
  readTransaction,
} from "../../shared/ledger/find-transactions.ts";
import { pkOfReference, referenceOf, type Transaction, transactionToView } from "../../shared/ledger/transaction.ts";
import { loadKeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { sleep } from "../../shared/platform/time.ts";
import { inFlightMs } from "../../shared/upstream-events/operator-resolution.ts";
import type { AdminContext } from "./context.ts";
import { duration, naira, table } from "./print.ts";

/** The transaction with this reference: ours, with its account the caller's own, or the upstream's. */
export const requireTransaction = async (
  desk: AdminContext,
  reference: string,
  account?: string | undefined,
): Promise<Transaction> => {
  const pk = pkOfReference(reference);
  const ours = pk && (await readTransaction(desk.ledger, pk));
  if (ours && referenceOf(ours) === reference) return ours;
  const theirs = account === undefined ? undefined : await byCallerReference(desk, account, reference);
  if (theirs !== undefined) return theirs;
  const [named, ...others] = await findByUpstreamReference(desk.ledger, reference);
  const upstreams = named && others.length === 0 ? await readTransaction(desk.ledger, named.pk) : undefined;
  if (upstreams !== undefined && (account === undefined || upstreams.account_id === account)) return upstreams;
  const hint = account === undefined ? ": an app's own reference needs --account" : ` of account ${account}`;
  throw new OperatorError(`There is no transaction ${reference}${hint}`);
};

/** The same for a decision: once its request is certainly over, as it stands then. */
export const requireDecidable = async (desk: AdminContext, reference: string): Promise<Transaction> => {
  const transaction = await requireTransaction(desk, reference);
  const waitMs = transaction.status === "processing" ? inFlightMs(transaction, desk.ledger.clock()) : 0;
  if (waitMs === 0) return transaction;
  process.stderr.write(`The request of ${reference} may still be under way: waiting ${duration(waitMs)} ...\n`);
  await sleep(waitMs);
  return requireTransaction(desk, reference);
};

const byCallerReference = async (
  { ledger, secrets, target }: AdminContext,
  accountId: string,
  reference: string,
): Promise<Transaction | undefined> => {
  const keyedHashes = await loadKeyedHashes(secret(secrets, target.environment.REFERENCE_KEY_SECRET_ID))();
  for (const mode of ["live", "test"] as const) {
    const transaction = await findByCallerReference(ledger, keyedHashes, { accountId, mode }, reference);
    if (transaction !== undefined) return transaction;
  }
  return undefined;
};

export const transactionJson = (transaction: Transaction) => ({
  account_id: transaction.account_id,
  mode: transaction.mode,
  ...transactionToView(transaction),
  upstream_reference: transaction.upstream_reference ?? null,
});

export const transactionsTable = (transactions: readonly Transaction[], nowMs: number): string =>
  table(
    ["reference", "account", "type", "status", "amount", "phone number", "upstream", "age"],
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
