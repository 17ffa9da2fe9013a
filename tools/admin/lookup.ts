import {
  findByCallerReference,
  findByUpstreamReference,
  readTransaction,
} from "../../shared/ledger/find-transactions.ts";
import { pkOfReference, referenceOf, type Transaction } from "../../shared/ledger/transaction.ts";
import { loadKeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { sleep } from "../../shared/platform/time.ts";
import { inFlightMs } from "../../shared/upstream-events/operator-resolution.ts";
import { findEvent, type StoredEvent } from "../../shared/upstream-events/stored-event.ts";
import type { AdminContext } from "./context.ts";
import { duration } from "./views/print.ts";

/** Finds a transaction by our reference, by the upstream's, or by the caller's own together with its account. */
export const requireTransaction = async (
  context: AdminContext,
  reference: string,
  account?: string | undefined,
): Promise<Transaction> => {
  const pk = pkOfReference(reference);
  const byReference = pk && (await readTransaction(context.ledger, pk));
  if (byReference && referenceOf(byReference) === reference) return byReference;
  const byCaller = account === undefined ? undefined : await findOfAccount(context, account, reference);
  if (byCaller !== undefined) return byCaller;
  const [first, ...others] = await findByUpstreamReference(context.ledger, reference);
  const byUpstream = first && others.length === 0 ? await readTransaction(context.ledger, first.pk) : undefined;
  if (byUpstream !== undefined && (account === undefined || byUpstream.account_id === account)) return byUpstream;
  const hint =
    account === undefined
      ? `. transactions show ${reference} --account ACCOUNT finds it by the caller's own reference`
      : ` of account ${account}`;
  throw new OperatorError(`There is no transaction ${reference}${hint}`);
};

/** Finds a transaction to resolve. If its own request may still settle it, waits for the end of that request first. */
export const requireResolvable = async (context: AdminContext, reference: string): Promise<Transaction> => {
  const transaction = await requireTransaction(context, reference);
  const waitMs = transaction.status === "processing" ? inFlightMs(transaction, context.ledger.clock()) : 0;
  if (waitMs === 0) return transaction;
  process.stderr.write(`The request of ${reference} may still be running: waiting ${duration(waitMs)} ...\n`);
  await sleep(waitMs);
  return requireTransaction(context, reference);
};

export const requireEvent = async ({ ledger }: AdminContext, id: string): Promise<StoredEvent> => {
  const event = await findEvent(ledger, id);
  if (event === undefined) throw new OperatorError(`There is no event ${id}. events list shows the event ids`);
  return event;
};

/** The account's transaction with this caller reference, of either mode. */
const findOfAccount = async (
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
